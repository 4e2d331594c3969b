"""The jobs of the sandbox, their results, and the packets of both between maxcode and the shim.

A job is one packet on a private socket; its standard input and its artefact are file descriptors in the same message.
The answer is one packet too, with the outputs as descriptors.  ``shim.c`` has the same two structs.  Numbers in an
answer come from the shim and are trusted; bytes that a program wrote are not.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import struct
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, final

from maxcode.errors import InputError, MachineError, UnsafeError

# Of a session: with sources; with /usr; that, with its processor time counted by its group; with a copy of it; neither.
Kind = Literal["building", "hosted", "counted", "interpreted", "bare"]
Ending = Literal["exit", "signal", "timeout", "output", "tampered", "answered"]

STDERR_KEPT = 64 * 1024
MOST_WORDS, MOST_COLLECTED, MOST_VARIABLES = 500, 8, 64
TAMPERED = "it wrote to an input, to an output after its call, or outside its output, or did not wait for its turn"
PACKET = 64 * 1024
_SEAL_TRIES, _SEAL_WAIT_S = 100, 0.05
ARTEFACT_PATH = "/proc/self/fd/3"

_REQUEST = struct.Struct("<6I5Q")
_REPLY = struct.Struct("<Ii6Q4I4Q64s")
_SAMPLE = struct.Struct("<II34Q")
_TURN = struct.Struct("<2Q")
_BUILDING, _PROFILE, _HAS_STDIN, _HAS_ARTEFACT, _START_ARTEFACT = 1, 2, 4, 8, 16
_CALLED, _ONE_CORE, _BARE, _STEPPED, _PREPARED, _ON_DEVICE = 32, 64, 128, 256, 512, 1024
_INTERPRETED, _STARTED, _PAIRED, _ONE_PROCESS, _REPOSITORY, _COUNTED = 2048, 4096, 8192, 16384, 32768, 1 << 24
_FILL_BITS = 16
_UNSTARTED = 4
_ENDINGS: tuple[Ending | None, ...] = ("exit", "signal", "timeout", "output", None, "tampered", "answered")
_MFD_EXEC = 0x10  # Linux 6.3; os.MFD_EXEC comes later than Python 3.11
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


@final
@dataclass(frozen=True, slots=True, weakref_slot=True)
class Blob:
    """Bytes in a sealed memory file: no process, this one included, can change them.

    It holds a file descriptor until ``close``, or until nothing refers to it.  All blobs have the same name, so that a
    program cannot learn from it which side of a comparison it is.
    """

    fd: int
    size: int
    _known: str = ""
    _closing: weakref.finalize[..., Blob] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_closing", weakref.finalize(self, os.close, self.fd))

    @classmethod
    def of(cls, source: bytes | Path) -> Self:
        """A blob with these bytes, or those of a file; InputError if the file cannot be read."""
        data = source if isinstance(source, bytes) else _read_file(source)
        return cls(_filled(data), len(data), hashlib.sha256(data).hexdigest())

    @classmethod
    def joined(cls, parts: Sequence[bytes | memoryview | int]) -> Self:
        """A blob with the bytes of all parts, copied once, and hashed when asked; a number is so many zeros."""
        return cls(_filled(*parts), sum(part if isinstance(part, int) else len(part) for part in parts))

    @property
    def sha256(self) -> str:
        """SHA-256 of its bytes, in hexadecimal."""
        return self._known or hashlib.sha256(self.read()).hexdigest()

    @property
    def path(self) -> Path:
        """The path under which this process can open it again."""
        return Path(f"/proc/self/fd/{self.fd}")

    def read(self, most: int | None = None) -> bytes:
        """All its bytes, or at most so many of the first."""
        return _contents(self.fd, self.size if most is None else min(most, self.size))

    def copy(self) -> Self:
        """A new blob with the same bytes: a program can see the age of a file, and who else uses it."""
        return type(self)(_filled(self.read()), self.size, self._known)

    def close(self) -> None:
        """Frees the memory; the blob cannot be used after that."""
        self._closing()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@final
@dataclass(frozen=True, slots=True)
class Job:
    """One run of a program.

    ``argv``: ``{artefact}`` stands for the artefact.  As the first word, the artefact itself is started, with
    ``program`` as its argv[0]; as another word, it becomes a path that an interpreter can open.
    ``stdin``: None is an empty input.
    ``memory_mb``: resident memory of all processes with a control group, else address space of each process.
    ``stack_mb``: address space that each thread reserves; without a control group at most ``memory_mb`` / 16.
    ``output_mb``: bound on stdout, on stderr and on every file.
    ``variables``: of its environment, as NAME=VALUE, beside those that every program has (``shim_start.h``).
    ``collect``: files to return, as absolute paths in the sandbox.
    ``profile``: samples where the time goes.  It slows the run, so never time with it; not in a bare session.
    ``called``: the artefact is a driver around a function, and ``stdin`` is a plan of calls with their inputs
    (``shim_calls.h``).  stdout of the answer is then all written arrays, and its times are those of the calls.
    ``stepped``, with ``called``: ``stdin`` is the plan alone.  Each round gets its inputs and its own time limits from
    ``Session.calls``; the limits of the job are for its preparation.
    ``one_core``: all its threads share one core, and it cannot change that.
    ``shadow``: it may reserve any amount of address space, as a sanitizer does; it needs a control group.
    ``prepared``, with ``stepped``: a round has two parts, and only the second is timed (``shim_calls.h``).
    ``started``, with ``stepped``: it begins when the shim says so, and the first answer tells the time that it takes to
    get ready from there (``shim_calls.h``).
    ``paired``: it may make a pair of connected sockets, as Java does before it reads a file; in a build, or with a
    runtime.
    ``one_process``: it may start threads and no processes; in a build's session without ``paired``.
    ``repository``: it is a command of a repository, in a build's session: it may talk over pairs of sockets.
    ``on_device``: it may use a GPU; its session must show the files of the device.
    ``fill``: 0, or the byte (1 to 254) that the stack and what malloc gives hold before the program writes there; in a
    bare session.  It slows the run.
    """

    argv: tuple[str, ...]
    artefact: Blob | None = None
    stdin: Blob | None = None
    cpu_s: float = 10.0
    wall_s: float = 32.0
    memory_mb: int = 1024
    output_mb: int = 64
    processes: int = 32
    stack_mb: int = 256
    collect: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    profile: bool = False
    called: bool = False
    stepped: bool = False
    one_core: bool = False
    shadow: bool = False
    prepared: bool = False
    started: bool = False
    on_device: bool = False
    paired: bool = False
    one_process: bool = False
    repository: bool = False
    fill: int = 0

    @property
    def blobs(self) -> tuple[Blob, ...]:
        """Its standard input and its artefact, if it has them, in the order of the packet."""
        return tuple(blob for blob in (self.stdin, self.artefact) if blob is not None)


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a profile.

    ``module``: "" for the program itself, else the file of the library.
    ``address``: an address in the ELF file, as addr2line takes it.
    ``callers``: such addresses of the program's calls on the stack, innermost first; each is a return address, just
    after its call.
    ``cpu_ns``: what it counts: how long the thread ran since its sample before; 1 of each where the kernel hides that.
    """

    module: str
    address: int
    callers: tuple[int, ...]
    cpu_ns: int


@final
@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended and what it used.  Times and counts include everything that it started.

    ``ending``: ``timeout``: over a limit on CPU or wall time; ``output``: it wrote too much; ``tampered``: see
    ``TAMPERED``; ``answered``: it is ready for the next round of its calls.
    ``code``: exit status or signal number; if ``answered``, a bit for each array that shares memory with an input.
    ``waits``, ``preemptions``: voluntary and involuntary context switches.
    ``left_over``: processes that it left running; ``spawned``: processes and threads that it started.
    ``stderr``: its first 64 KB.
    ``unsampled``: why a profile is empty.
    ``out_of_memory``: whether the control group killed a process.
    ``prepared_s``: of the untimed part of a round: wall seconds of the first one where it is prepared, or CPU seconds
    of what comes after its calls (AFTERWARDS of ``shim_calls.h``).
    ``ready_s``: CPU seconds of a called program up to its first call; not part of ``cpu_s``.
    ``known_s``: all CPU seconds in the session that the shim knows of, its own included.
    """

    ending: Ending
    code: int
    cpu_s: float
    system_s: float
    wall_s: float
    max_rss_kb: int
    waits: int
    preemptions: int
    left_over: int
    spawned: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    unsampled: str = ""
    out_of_memory: bool = False
    prepared_s: float = 0.0
    ready_s: float = 0.0
    known_s: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it ended with exit status 0."""
        return self.ending == "exit" and self.code == 0


def pack(job: Job, kind: Kind, library: str = "") -> bytes:
    """The packet that requests ``job`` in a session of this kind; its blobs are sent in the same message.

    ``library``: the path of the library of ``fill.c`` in the session, for a job with ``fill``.
    """
    if job.fill and not (0 < job.fill < 255 and library):
        raise ValueError(f"memory can be filled with 1 to 254 in a bare session, not with {job.fill} in a {kind} one")
    if "{artefact}" in job.argv and job.artefact is None:
        raise ValueError(f"the job has no artefact, but its argv needs one: {job.argv}")
    words = [_word(job, number, word) for number, word in enumerate(job.argv)]
    filled = [library] if job.fill else []
    text = b"".join(os.fsencode(word) + b"\0" for word in (*words, *job.collect, *filled, *job.variables))
    most = ((words, MOST_WORDS), (text, PACKET), (job.collect, MOST_COLLECTED), (job.variables, MOST_VARIABLES))
    if not words or any(len(given) > bound for given, bound in most):
        raise InputError(
            f"a command of {len(words)} words, {len(job.variables)} variables and {len(text)} bytes cannot be run; "
            "make it shorter"
        )
    counts = (len(words), len(job.collect), len(job.variables), job.processes, 0)
    sizes = (job.memory_mb << 20, job.stack_mb << 20, job.output_mb << 20)
    return _REQUEST.pack(_flags(job, kind), *counts, round(job.cpu_s * 1e6), round(job.wall_s * 1e6), *sizes) + text


def turn(cpu_s: float, wall_s: float) -> bytes:
    """The packet that requests a round; its inputs are sent in the same message."""
    return _TURN.pack(round(cpu_s * 1e6), round(wall_s * 1e6))


def _word(job: Job, number: int, word: str) -> str:
    if word != "{artefact}":
        return word
    return "program" if number == 0 else ARTEFACT_PATH


def _flags(job: Job, kind: Kind) -> int:
    return (
        _BUILDING * (kind == "building")
        | _BARE * (kind == "bare")
        | _INTERPRETED * (kind == "interpreted")
        | _PROFILE * job.profile
        | _HAS_STDIN * (job.stdin is not None)
        | _HAS_ARTEFACT * (job.artefact is not None)
        | _START_ARTEFACT * (job.argv[:1] == ("{artefact}",))
        | _CALLED * job.called
        | _ONE_CORE * job.one_core
        | _STEPPED * job.stepped
        | _PREPARED * job.prepared
        | _ON_DEVICE * job.on_device
        | _STARTED * job.started
        | _PAIRED * job.paired
        | _ONE_PROCESS * job.one_process
        | _REPOSITORY * job.repository
        | _COUNTED * (kind == "counted")
        | job.fill << _FILL_BITS
    )


def unpack(job: Job, packet: bytes, fds: Sequence[int]) -> Ran:
    """The answer to ``job``; closes the descriptors.

    MachineError if the program could not be started, or if the packet is not an answer.
    """
    try:
        return _unpack(job, packet, fds)
    except (struct.error, LookupError, ValueError) as error:
        raise MachineError(f"the shim's answer to {job.argv[0]} cannot be read: {error}") from error
    finally:
        for fd in fds:
            os.close(fd)


def _unpack(job: Job, packet: bytes, fds: Sequence[int]) -> Ran:
    ending, code, user, system, wall, peak, *counts, cpu_ns, wall_ns, ready_ns, known, raw = _REPLY.unpack(packet)
    waits, preemptions, left, spawned, present, samples = counts
    trouble = raw.rstrip(b"\0").decode(errors="replace")
    if ending == _UNSTARTED:
        raise MachineError(f"the sandbox could not start {job.argv[0]}: {trouble}")
    collected = [path for number, path in enumerate(job.collect) if present >> number & 1]
    cap = job.output_mb << 20
    if ending >= len(_ENDINGS) or (how := _ENDINGS[ending]) is None:
        raise ValueError(f"unknown ending {ending}")
    return Ran(
        ending=how,
        code=code,
        cpu_s=cpu_ns / 1e9 if job.called else (user + system) / 1e6,
        system_s=system / 1e6,
        wall_s=wall_ns / 1e9 if job.called else wall / 1e6,
        max_rss_kb=peak,
        waits=waits,
        preemptions=preemptions,
        left_over=left,
        spawned=spawned,
        stdout=_contents(fds[0], cap),
        stderr=_contents(fds[1], STDERR_KEPT),
        files={path: _contents(fd, cap) for path, fd in zip(collected, fds[3:], strict=True)},
        samples=_samples(_contents(fds[2], 1 << 24), samples),
        unsampled=trouble,
        prepared_s=wall / 1e6 if job.stepped and how == "answered" else 0.0,
        ready_s=ready_ns / 1e9,
        known_s=known / 1e6,
    )


def _samples(raw: bytes, count: int) -> tuple[Sample, ...]:
    """Reads ``count`` records and, after them, the names of the modules."""
    names = ["", *raw[count * _SAMPLE.size :].decode(errors="replace").split("\0")[1:]]
    records = list(_SAMPLE.iter_unpack(raw[: count * _SAMPLE.size]))
    told = any(ns for _, _, ns, *_ in records)
    return tuple(Sample(names[at], place, tuple(of[:n]), ns if told else 1) for at, n, ns, place, *of in records)


def _contents(fd: int, cap: int) -> bytes:
    """The first ``cap`` bytes of a regular file, whatever its offset is."""
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        raise MachineError("the shim sent something other than a file")
    wanted, parts, at = min(about.st_size, cap), [], 0
    while at < wanted and (part := os.pread(fd, wanted - at, at)):
        parts.append(part)
        at += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _seal(fd: int) -> None:
    """Seals a memory file against changes.  If the kernel refuses, closes it and raises MachineError.

    A kernel that moves or samples memory holds pages for a moment and refuses during that time, so this tries again.
    """
    for left in reversed(range(_SEAL_TRIES)):
        try:
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or not left:
                os.close(fd)
                raise MachineError(f"cannot seal a memory file: {error.strerror}") from error
            time.sleep(_SEAL_WAIT_S)


def _filled(*parts: bytes | memoryview | int) -> int:
    """A sealed memory file with the bytes of all parts, as in ``Blob.joined``."""
    fd = _memory_file()
    with open(fd, "wb", closefd=False) as file:
        for part in parts:
            file.seek(part, os.SEEK_CUR) if isinstance(part, int) else file.write(part)
        file.truncate()
    _seal(fd)
    return fd


def _memory_file() -> int:
    """An executable memory file.  Kernels before 6.3 do not know the flag, but always make it executable."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        return os.memfd_create("blob", flags | _MFD_EXEC)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return os.memfd_create("blob", flags)
        if error.errno == errno.EACCES:
            raise UnsafeError("programs cannot be run from memory here: `sudo sysctl vm.memfd_noexec=0`") from error
        raise MachineError(f"cannot make a memory file: {error.strerror}") from error
