"""The forms of ``--cluster``: this machine, a running scheduler, or a queue described by a site file."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from maxcode.errors import InputError
from maxcode.evaluate.cluster import dask_nodes, keys, ray_nodes
from maxcode.evaluate.cluster.cluster import Cluster, Terms
from maxcode.evaluate.cluster.engine import Engine
from maxcode.evaluate.cluster.on_dask import DaskEngine, require_dask
from maxcode.evaluate.cluster.on_queue import job_script, on_queue, read_site
from maxcode.evaluate.cluster.on_ray import RayEngine, require_ray

_LOCAL = re.compile(r"(ray:)?local:(\d{1,4})(?:x(\d{1,4}))?")
_RAY = re.compile(r"ray:(auto|[^:/]+:\d{1,5})")
_ADDRESS = re.compile(r"(?P<kind>tcp|tls|plain)://(?P<host>[^/:\[\]]+|\[[^\]]+\]):(?P<port>\d{1,5})")
USUAL_PATIENCE_S = 60.0
FORMS = (
    "local:SLOTS, local:SLOTSxCORES, tcp://HOST:PORT, tls://HOST:PORT, slurm:SITE.toml, pbs:SITE.toml, ray:auto, "
    "ray:HOST:PORT, ray:local:SLOTS"
)


@final
@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """The value of ``--cluster``, and whether nodes may measure on cores that others use (``shared``)."""

    spec: str
    shared: bool = False

    @property
    def is_here(self) -> bool:
        """True if the nodes are on this machine."""
        return _LOCAL.fullmatch(self.spec) is not None


def opened(asked: ClusterRequest, folder: Path | None, say: Callable[[str], None] = lambda words: None) -> Cluster:
    """The cluster, to be used in a ``with``; ``folder`` is the run folder.  InputError if ``asked`` names none."""
    engine, patience = _engine(asked.spec)
    _require(asked.spec)
    return Cluster(engine, Terms(f"cluster {asked.spec}", asked.shared, patience, folder), say)


def script(spec: str) -> str | None:
    """The job script of a queue; None if ``spec`` names no queue."""
    kind, _, rest = spec.partition(":")
    if kind not in ("slurm", "pbs"):
        return None
    require_dask()
    return job_script("slurm" if kind == "slurm" else "pbs", read_site(Path(rest)))


def _engine(spec: str) -> tuple[Callable[[], Awaitable[Engine]], float]:
    """A function that opens the engine in the cluster's event loop, and the patience in seconds."""
    if (match := _LOCAL.fullmatch(spec)) is not None:
        here = ray_nodes.on_this_machine if match[1] else dask_nodes.on_this_machine
        return partial(here, int(match[2]), int(match[3] or 1)), USUAL_PATIENCE_S
    if (match := _RAY.fullmatch(spec)) is not None:
        return partial(RayEngine.connect, match[1]), USUAL_PATIENCE_S
    kind, _, rest = spec.partition(":")
    if kind in ("slurm", "pbs"):
        site = read_site(Path(rest))
        return partial(on_queue, "slurm" if kind == "slurm" else "pbs", site), site.patience_s
    if (match := _ADDRESS.fullmatch(spec)) is not None:
        return partial(_connected, match["kind"], match["host"], match["port"]), USUAL_PATIENCE_S
    raise InputError(f"--cluster {spec} is not a form of --cluster; give one of {FORMS}")


async def _connected(kind: str, host: str, port: str) -> DaskEngine:
    address, security = secured(kind, host, port)
    return await DaskEngine.connect(address, security)


def secured(kind: str, host: str, port: str) -> tuple[str, Any]:
    """The address in Dask's form, and its keys: off this machine always TLS, except with ``plain``."""
    here = host in ("127.0.0.1", "localhost", "[::1]")
    if kind == "tls" or (kind == "tcp" and not here):
        return f"tls://{host}:{port}", keys.security(keys.folder())
    return f"tcp://{host}:{port}", None


def parsed_address(words: str) -> tuple[str, Any]:
    """``secured`` for an address that a user wrote.  InputError for another form."""
    if (match := _ADDRESS.fullmatch(words)) is None:
        raise InputError(f"'{words}' is not an address of a scheduler; write tcp://HOST:PORT")
    return secured(match["kind"], match["host"], match["port"])


def _require(spec: str) -> None:
    """InputError if the engine's extra is not installed."""
    if spec.startswith("ray:"):
        require_ray()
    else:
        require_dask()
