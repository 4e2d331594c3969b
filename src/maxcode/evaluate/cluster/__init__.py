"""Benchmark nodes: evaluators that measure on the machines of a cluster.                  [extras: dask, ray]

    driver: search or training ─► ClusterEvaluator ─► Dispatcher ─► Engine ─ ─ ► NodeThread ─► BenchNode: a harness

``wire.py`` defines tasks and results, ``node.py`` the contract of a node, ``engine.py`` the contract of an engine;
``on_dask.py``, ``on_ray.py`` and ``on_queue.py`` implement engines.  Search and training do not depend on this package:
they receive another evaluator.
"""

from __future__ import annotations

from maxcode.evaluate.cluster.cluster import Cluster, ClusterEvaluator, Terms, together
from maxcode.evaluate.cluster.engine import Engine, NodeLost, WorkerAddress
from maxcode.evaluate.cluster.node import BenchNode
from maxcode.evaluate.cluster.site import ClusterRequest, opened
from maxcode.evaluate.cluster.utilisation import Report, SlotUse
from maxcode.evaluate.harness_protocol import MeasureOptions

__all__ = [
    "BenchNode",
    "Cluster",
    "ClusterEvaluator",
    "ClusterRequest",
    "Engine",
    "MeasureOptions",
    "NodeLost",
    "Report",
    "SlotUse",
    "Terms",
    "WorkerAddress",
    "opened",
    "together",
]
