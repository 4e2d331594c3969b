"""A place for a tool that the user trusts less than themselves, such as a coding agent: files in, files out.

The tool gets a folder in memory with copies of some files, the system's programs, and of the network the hosts that are
named, if any.  It sees no other file and no other process.  At its end, or at the time limit, all that it started
ends; of its folder the named files are read, and the rest is gone.  A candidate is *not* run here: the sandbox of
``sandbox.py`` is stricter.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tarfile
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import anyio
from anyio.abc import SocketStream

from maxcode.core.child import ended
from maxcode.errors import InputError, MachineError
from maxcode.sandbox.archives import BROKEN, content, opened
from maxcode.sandbox.cgroup import Group, find_hierarchy
from maxcode.sandbox.namespaces import find_bubblewrap
from maxcode.sandbox.tiers import SANDBOX_UID
from maxcode.sandbox.toolchain import cache_root, own_program

SAID, FAULTS, REPORT = "maxcode-said", "maxcode-faults", "maxcode-usage.json"  # what it prints; what it cost
REPORT_PATH = f"/tmp/{REPORT}"
_RELAY = Path(__file__).with_name("relay.c")
_PORT = 3128
_READ_MOST = 32 << 20  # bytes of all files that come back
_SAID_MOST = 1 << 20
_FAULTS_MOST = 1 << 16  # of bubblewrap's own words
_MADE = "made"  # the first word of the shell inside, once the place is there
_HEAD_MOST = 8192  # bytes of the request to the proxy
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ssl/certs",
          "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ld.so.cache",
          "/etc/localtime")  # fmt: skip
# Parts of /proc that root may write: maxcode may run as root, and its tool then has root's number outside.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi")
# Joins the control group, from outside.
_JOIN = 'limit=$1; shift; for at in $limit; do echo $$ >"$at" || exit 126; done; exec "$@"'
# $1: the files that come back; $2: whether there is a way out.  What the tool writes counts as an answer, no more.
_INSIDE = f"""
files=$1; network=$2; shift 2
tar -xf - -C /work || exit 126
[ -z "$network" ] || /run/relay {_PORT} /run/way-out || exit 126
echo {_MADE} >&2
"$@" </work/TASK.md >/tmp/{SAID} 2>/tmp/{FAULTS}; status=$?
head -c {_SAID_MOST} /tmp/{SAID} >/tmp/part; mv -f /tmp/part /tmp/{SAID}
head -c {_SAID_MOST} /tmp/{FAULTS} >/tmp/part; mv -f /tmp/part /tmp/{FAULTS}
cd /tmp; present={SAID}; for at in {FAULTS} {REPORT}; do [ -f "$at" ] && present="$present $at"; done
printf '%s\\n' "$files" | tar -cf - $present -C /work --verbatim-files-from -T - 2>/dev/null
exit $status
"""


@final
@dataclass(frozen=True, slots=True)
class Permits:
    """What a tool gets.

    ``show``       files and folders of this machine that it may read, at their own paths
    ``hosts``      where it may connect to, by HTTPS: NAME (port 443) or NAME:PORT; none: it has no network
    ``variables``  its environment, besides PATH, HOME and the address of the proxy
    ``memory_mb``  of all its processes and files together; where this machine has no control groups, of its files
    ``processes``  that it may have at once
    """

    show: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ()
    variables: Mapping[str, str] | None = None
    memory_mb: int = 4096
    processes: int = 512


@final
@dataclass(frozen=True, slots=True)
class WorkDone:
    """What a tool left: its exit status, the named files that it did not delete, and SAID, FAULTS and REPORT."""

    status: int
    files: Mapping[str, bytes]


async def work(words: Sequence[str], files: Mapping[str, bytes], back: Sequence[str], permits: Permits) -> WorkDone:
    """Runs a tool in a folder with ``files``, ``TASK.md`` among them, which is also its standard input; returns the
    files named by ``back``.

    UnsafeError without bubblewrap; MachineError if it does not work here; InputError for a file that is not there.
    """
    if not shutil.which("tar"):
        raise InputError("an agent's files are carried by tar; install it")
    for path in permits.show:
        if not path.exists():
            raise InputError(f"{path} is to be shown to the agent, and is not there; correct agent.show")
    tier, hierarchy = await find_bubblewrap(), find_hierarchy()
    group = hierarchy.group() if hierarchy is not None else None
    try:
        if group is not None:
            group.limit(permits.memory_mb << 20, permits.processes)
        async with _way_out(permits.hosts) as folder:
            command = _command(tier.path, folder, permits, group)
            command += ["sh", "-c", _INSIDE, "sh", "\n".join(back), "yes" if permits.hosts else "", *words]
            return await _run(command, _variables(permits), _packed(files))
    finally:
        if group is not None:
            with anyio.CancelScope(shield=True):
                await group.remove()


def _command(bwrap: str, folder: Path | None, permits: Permits, group: Group | None) -> list[str]:
    joined = ["sh", "-c", _JOIN, "sh", " ".join(group.joins if group is not None else ())]
    size = str(permits.memory_mb << 19)  # half of the memory, in bytes
    placed = ["--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/work",
              "--size", size, "--tmpfs", "/home/agent", "--chdir", "/work"]  # fmt: skip
    for path in (*_KERNEL, *SYSTEM):
        placed += ["--ro-bind-try", path, path]
    for one in permits.show:
        placed += ["--ro-bind", str(one.absolute()), str(one.absolute())]
    if folder is not None:
        placed += [
            "--ro-bind",
            str(folder / "relay"),
            "/run/relay",
            "--ro-bind",
            str(folder / "socket"),
            "/run/way-out",
        ]
    user = ["--unshare-user", "--disable-userns", "--uid", str(SANDBOX_UID), "--gid", str(SANDBOX_UID)]
    return [*joined, bwrap, "--unshare-all", "--die-with-parent", "--new-session", *user, *placed, "--"]


def _variables(permits: Permits) -> dict[str, str]:
    """The whole environment, of bubblewrap too: the tool can read that of every process in its place."""
    proxy = f"http://127.0.0.1:{_PORT}"
    by_proxy = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), proxy)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/home/agent",
        "LANG": "C.UTF-8",
        "MAXCODE_USAGE": REPORT_PATH,
        **({**by_proxy, "NODE_USE_ENV_PROXY": "1"} if permits.hosts else {}),
        **(permits.variables or {}),
    }


async def _run(command: Sequence[str], variables: Mapping[str, str], packed: bytes) -> WorkDone:
    found = await ended(command, packed, variables, _READ_MOST, _FAULTS_MOST)
    if not found.out and not found.faults.startswith(_MADE.encode()):
        said = " ".join(found.faults.decode(errors="replace").split())[:400]
        raise MachineError(f"the place for an agent cannot be made on this machine: {said}")
    return WorkDone(found.status, _unpacked(found.out))


def _packed(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(content), 0o644
            archive.addfile(about, io.BytesIO(content))
    return made.getvalue()


def _unpacked(packed: bytes) -> dict[str, bytes]:
    """The regular files of an archive that the tool may have written; what cannot be read is left out."""
    found: dict[str, bytes] = {}
    with contextlib.suppress(*BROKEN), opened(packed) as archive:
        for about in archive:
            if (data := content(archive, about)) is not None:
                found.setdefault(about.name, data)
    return found


@asynccontextmanager
async def _way_out(hosts: Sequence[str]) -> AsyncIterator[Path | None]:
    """A folder with the relay and the socket of a proxy that connects to these hosts alone; None without hosts."""
    if not hosts:
        yield None
        return
    allowed = {host if ":" in host else f"{host}:443" for host in hosts}
    with tempfile.TemporaryDirectory(prefix="maxcode-way-out-") as name:
        folder = Path(name)
        shutil.copy2(await own_program(_RELAY, cache_root()), folder / "relay")
        async with await anyio.create_unix_listener(folder / "socket") as listener, anyio.create_task_group() as group:

            async def served(stream: SocketStream) -> None:
                with contextlib.suppress(
                    anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError, OSError
                ):
                    async with stream:
                        await _connected(stream, allowed)

            group.start_soon(listener.serve, served)
            yield folder
            group.cancel_scope.cancel()


async def _connected(stream: SocketStream, allowed: set[str]) -> None:
    """Serves one CONNECT request of HTTP."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _HEAD_MOST:
        head += await stream.receive(_HEAD_MOST)
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split()
    place = words[1] if len(words) == 3 and words[0] == "CONNECT" else ""
    if place not in allowed:
        await stream.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        return
    host, _, port = place.rpartition(":")
    async with await anyio.connect_tcp(host, int(port)) as other:
        await stream.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        if rest := head.partition(b"\r\n\r\n")[2]:
            await other.send(rest)
        async with anyio.create_task_group() as group:
            group.start_soon(_carry, stream, other)
            group.start_soon(_carry, other, stream)


async def _carry(start: SocketStream, end: SocketStream) -> None:
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        async for part in start:
            await end.send(part)
        await end.send_eof()
