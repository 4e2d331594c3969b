"""``maxcode cluster``: starts the scheduler and the benchmark nodes, by hand or by a queue."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable

import click

from maxcode.cli.terminal import echo
from maxcode.errors import InputError
from maxcode.evaluate.cluster import keys
from maxcode.evaluate.cluster.cores import parsed, shown, usable
from maxcode.evaluate.cluster.dask_nodes import LOOPBACK, NodePlan
from maxcode.evaluate.cluster.dask_nodes import node as be_node
from maxcode.evaluate.cluster.dask_nodes import scheduler as start_scheduler
from maxcode.evaluate.cluster.on_dask import require_dask
from maxcode.evaluate.cluster.site import parsed_address
from maxcode.evaluate.cluster.site import script as script_of


@click.group()
def cluster() -> None:
    """Schedulers and benchmark nodes for `--cluster` (docs/how-to/use-a-cluster.md)."""


@cluster.command(short_help="Run a benchmark node.")
@click.argument("address")
@click.option("--cores", required=True, help="Cores that the node times on; it does not share them, e.g. 2-3.")
@click.option("--build-cores", default="", help="Cores that build at the same time, e.g. 0-1.  [default: none]")
@click.option("--name", default="", help="Name of the node.  [default: HOST:CORES]")
@click.option("--host", default="", help="Address to listen on.  [default: the local address that reaches ADDRESS]")
@click.option("--until-eof", is_flag=True, help="Stop when standard input ends, e.g. because the parent process ended.")
def node(address: str, cores: str, build_cores: str, name: str, host: str, until_eof: bool) -> None:
    """Run a benchmark node of the scheduler at ADDRESS (tcp://HOST:PORT) until interrupted."""
    require_dask()
    where, security = parsed_address(address)
    building = parsed(build_cores) if build_cores else frozenset[int]()
    timing = parsed(cores)
    if missing := (timing | building) - usable():
        raise InputError(f"cores {shown(missing)} are not available here; give some of {shown(usable())}")
    plan = NodePlan(where, timing, building, name, host)
    _until_stopped(lambda stop: be_node(plan, stop, security), until_eof)


@cluster.command(short_help="Run the scheduler.")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on; nodes and drivers "
              "on other machines must be able to reach it.")  # fmt: skip
@click.option(
    "--port",
    default=8786,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 = any free one.",
)
@click.option(
    "--plain", is_flag=True, help="Use no TLS, also between machines: anyone who reaches the port can run programs."
)
def scheduler(host: str, port: int, plain: bool) -> None:
    """Run the scheduler, to which nodes and drivers connect, until interrupted."""
    require_dask()
    security = None if plain or host == LOOPBACK else keys.security(keys.folder(), makes=True)

    async def serve(stop: asyncio.Event) -> None:
        try:
            served = await start_scheduler(host, port, security)
        except (OSError, RuntimeError) as error:
            why = error.__cause__ or error
            raise InputError(f"port {port} of {host} cannot be used: {why}; --port 0 takes a free one") from error
        async with served:
            echo(served.address)
            await stop.wait()

    _until_stopped(serve, False)


@cluster.command(name="keys", short_help="Make the keys of a cluster.")
def keys_() -> None:
    """Make the keys of a cluster and print their folder; every machine of the cluster needs a copy."""
    require_dask()
    keys.make(keys.folder())
    echo(keys.folder())


@cluster.command(short_help="Print the job script of a queue.")
@click.argument("spec", metavar="slurm:SITE.toml|pbs:SITE.toml")
def script(spec: str) -> None:
    """Print the job script of a queue; nothing is started."""
    found = script_of(spec)
    if found is None:
        raise InputError(f"{spec} names no queue; give slurm:SITE.toml or pbs:SITE.toml")
    echo(found)


def _until_stopped(serve: Callable[[asyncio.Event], Awaitable[None]], until_eof: bool) -> None:
    """Serves until SIGINT, SIGTERM or, if asked, the end of standard input."""

    async def run() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        if until_eof:
            loop.add_reader(sys.stdin.fileno(), lambda: None if os.read(sys.stdin.fileno(), 1) else stop.set())
        await serve(stop)

    asyncio.run(run())
