"""Benchmark nodes: evaluators whose machine is a cluster.                            [extras: dask, ray]

    driver: search or training ─► ClusterEvaluator ─► Dispatcher ─► Engine ─ ─ ► NodeThread ─► BenchNode: a harness

``wire.py`` is what travels, ``node.py`` the contract of a node, ``engine.py`` that of an engine; ``on_dask.py`` is one.
Search and training do not know of any of it: they are given another evaluator.
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
