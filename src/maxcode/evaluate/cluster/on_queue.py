"""Benchmark nodes that a queue starts: Slurm and PBS, through dask-jobqueue.                     [extra: dask]

A site file (TOML) describes a job.  Every job is one slot with the cores that the queue gives it.  The scheduler runs
in the driver and listens where the site file says; its jobs connect to it over TLS.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

from maxcode.core.files import read_toml
from maxcode.core.toml_tables import converted
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.cluster import keys
from maxcode.evaluate.cluster.dask_nodes import LOOPBACK, SETTINGS
from maxcode.evaluate.cluster.node_thread import BUILD_CORES, FIRST
from maxcode.evaluate.cluster.on_dask import BENCH, BUILD, CONNECT_S, DaskEngine

Queue = Literal["slurm", "pbs"]
_GRACE_S, _LONG_S = 120, 900
_LOOK_S = 5.0


@final
@dataclass(frozen=True, slots=True)
class Site:
    """A job of a site.

    ``cores``: all cores of a job; ``build_cores``: those of them that build and do not time.
    ``memory`` ("8GB"), ``walltime`` ("02:00:00"): in the queue's notation.
    ``jobs``: number of jobs.
    ``interface`` (eth0, ib0) or ``host``: address of this machine that jobs can reach; ``port`` 0: any port.
    ``directives``: further lines of the job script's header; ``prologue``: commands before the worker starts.
    ``scratch``: a local folder on the nodes.
    ``tls``: if False, anybody on that network can join.
    ``patience_s``: seconds to wait for a first job, or for the next one.
    """

    cores: int
    memory: str
    walltime: str
    jobs: int = 1
    build_cores: int = 0
    interface: str = ""
    host: str = ""
    port: int = 0
    worker_ports: str = ""
    queue: str = ""
    account: str = ""
    directives: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    python: str = ""
    scratch: str = "/tmp"
    logs: str = ""
    tls: bool = True
    patience_s: float = 3600.0


def read_site(path: Path) -> Site:
    """The site that a file describes.

    InputError for an unknown key (it names the nearest spelling) and for a value of the wrong type.
    """
    table = read_toml(path, "the site file")
    try:
        site = converted(table, Site, str(path))
    except InputError as error:
        raise InputError(f"{str(error).removesuffix('.')}; see docs/how-to/use-a-cluster.md") from error
    if not (site.interface or site.host):
        raise InputError(
            f"{path}: jobs must reach this machine, and it listens only on a given address: set `interface` "
            "(such as ib0) or `host` (an address of this machine)"
        )
    if not 0 <= site.build_cores < site.cores:
        raise InputError(f"{path}: build_cores = {site.build_cores} of cores = {site.cores} leaves no core to time on")
    return site


def job_script(queue: Queue, site: Site) -> str:
    """The job script of the site; starts nothing and makes no keys."""
    security = keys.named(keys.folder()) if site.tls else None
    protocol = "tls" if site.tls else "tcp"
    job = _kind(queue).job_cls(
        f"{protocol}://{site.host or site.interface}:{site.port or 'PORT'}",
        name="NAME",
        security=security,
        protocol=f"{protocol}://",
        **_job(site),
    )
    found: str = job.job_script()
    return found


async def on_queue(queue: Queue, site: Site) -> DaskEngine:
    """An engine whose jobs were submitted to the queue; they start when the queue starts them."""
    import dask

    security = keys.security(keys.folder(), makes=True) if site.tls else None
    try:
        with dask.config.set(SETTINGS):
            cluster = await _cluster(queue, site, security)
        kept = _Kept(cluster, site.jobs)
    except (OSError, RuntimeError, ValueError) as error:
        raise MachineError(f"cannot start jobs with {queue}: {error}; show the job script with --dry-run") from error
    return await DaskEngine.connect(cluster.scheduler_address, security, started=(kept,))


@final
class _Kept:
    """Keeps the number of jobs of a cluster: a job that goes is replaced, some 20 s later.

    Dask itself notices that a worker is gone but starts no other.  A job that never came waits in the queue.
    """

    def __init__(self, cluster: Any, jobs: int) -> None:
        self._cluster, self._jobs = cluster, jobs
        self._keeping = asyncio.ensure_future(self._keep())

    async def _keep(self) -> None:
        while True:
            self._cluster.scale(jobs=self._jobs)
            await asyncio.sleep(_LOOK_S)

    async def close(self) -> None:
        """End the jobs."""
        self._keeping.cancel()
        await self._cluster.close()


def _kind(queue: Queue) -> Any:
    from dask_jobqueue import PBSCluster, SLURMCluster

    kinds: Mapping[Queue, Any] = {"slurm": SLURMCluster, "pbs": PBSCluster}
    return kinds[queue]


def _cluster(queue: Queue, site: Site, security: Any) -> Any:
    listens = {"interface": site.interface} if site.interface else {"host": site.host}
    return _kind(queue)(
        asynchronous=True,
        security=security,
        scheduler_options={**listens, "port": site.port, "dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
        **_job(site),
    )


def _job(site: Site) -> dict[str, Any]:
    """A job as options of dask-jobqueue."""
    return {
        "queue": site.queue or None,
        "account": site.account or None,
        "cores": site.cores,
        "memory": site.memory,
        "processes": 1,
        "walltime": site.walltime,
        "job_name": "maxcode-node",
        "job_extra_directives": list(site.directives),
        "job_script_prologue": [*_environment(site), *site.prologue],
        "python": site.python or None,
        "local_directory": site.scratch,
        "log_directory": site.logs or None,
        "death_timeout": int(CONNECT_S),
        "worker_extra_args": _words(site),
        "interface": site.interface or None,
    }


def _environment(site: Site) -> list[str]:
    """Environment variables of a job's worker: settings of maxcode and of Dask."""
    found = {
        "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
        "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "false",
        **({BUILD_CORES: f"{FIRST}{site.build_cores}"} if site.build_cores else {}),
        **{name: os.environ[name] for name in ("MAXCODE_SANDBOX", "MAXCODE_CACHE") if name in os.environ},
    }
    return [f"export {name}={shlex.quote(value)}" for name, value in found.items()]


def _words(site: Site) -> list[str]:
    """Arguments of ``dask worker`` in addition to those from the job."""
    resources = f"{BENCH}=1,{BUILD}={site.build_cores}" if site.build_cores else f"{BENCH}=1"
    words = ["--resources", resources, "--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"]
    words += ["--worker-port", site.worker_ports] if site.worker_ports else []
    if (seconds := _seconds(site.walltime)) > _LONG_S:
        words += ["--lifetime", f"{seconds - _GRACE_S}s"]  # a job that ends by itself is not a lost node
    return words


def _seconds(walltime: str) -> int:
    """Seconds of HH:MM:SS or D-HH:MM:SS; 0 for another form, which only the queue can read."""
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", walltime)
    if match is None:
        return 0
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((24 * days + hours) * 60 + minutes) * 60 + seconds
