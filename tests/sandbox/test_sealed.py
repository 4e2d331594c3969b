"""No run can leave a note in which pages of a file are in memory: programs see copies whose pages are always there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import anyio
import pytest

from maxcode.sandbox.jobs import Ran
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sandbox
from maxcode.sandbox.sealed import INTERPRETER, RuntimeCopy
from tests.support.sandboxed import ATTACKS

BITS = "1011001110001011"
PYTHON = """import mmap, resource, sys
with open(sys.argv[1], "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_majflt
if sys.argv[2] == "write":
    [pages[number * 5 * 4096] for number, bit in enumerate(sys.argv[3]) if bit == "1"]
else:
    for number in range(int(sys.argv[3])):
        before, byte = faults(), pages[number * 5 * 4096]
        print(int(faults() == before), end="")
"""


def cold(path: str) -> None:
    """Pushes the pages of a file of the host out of memory, as a machine does that has not read it for long."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_back(sandbox: Sandbox, artefact: Blob, path: str, view: str) -> str:
    """What a second session reads after a first one has written BITS into the pages of ``path``."""
    words = (INTERPRETER, "-I", "{artefact}") if view != "bare" and artefact.size < 4096 else ("{artefact}",)

    async def session(*arguments: str) -> Ran:
        runtime = "python" if view == "interpreted" else ""
        async with sandbox.session([artefact], bare=view == "bare", runtime=runtime) as session:
            return await session.run(Job((*words, path, *arguments), artefact))

    async def both() -> str:
        written, read = await session("write", BITS), await session("read", str(len(BITS)))
        assert (written.ok, read.ok) == (True, True), (written.stderr, read.stderr)
        return read.stdout.decode()

    cold(path)
    return anyio.run(both)


def large_file() -> str:
    """A file of Python's library of which no start reads a page."""
    found = max(Path("/usr/lib").glob("python3.*/pydoc_data/topics.py"), key=lambda one: one.stat().st_size)
    assert found.stat().st_size > 5 * 4096 * len(BITS)
    return str(found)


def test_a_python_program_reads_back_no_bit(sandbox: Sandbox) -> None:
    with Blob.of(PYTHON.encode()) as artefact:
        tries = (read_back(sandbox, artefact, large_file(), "hosted") for _ in range(8))  # others may read the file too
        assert BITS in tries  # the attack is a real one
        assert read_back(sandbox, artefact, large_file(), "interpreted") == "1" * len(BITS)


def test_a_compiled_program_reads_back_no_bit(sandbox: Sandbox) -> None:
    source = (ATTACKS / "page_note.c").read_text()

    async def build() -> Blob:
        async with sandbox.session([], Mounts({"a.c": source})) as session:
            argv = ("gcc", "-O1", "/src/a.c", "-o", "/tmp/out")
            return Blob.of((await session.run(Job(argv, collect=("/tmp/out",)))).files["/tmp/out"])

    with anyio.run(build) as artefact:
        library = next(path for path in sandbox.runtime if "libstdc++" in path)
        assert read_back(sandbox, artefact, library, "bare") == "1" * len(BITS)


def test_a_python_program_sees_its_interpreter_alone(sandbox: Sandbox) -> None:
    text = "import os, ssl, zoneinfo; print(sorted(os.listdir('/usr')), os.path.exists('/usr/bin/env'), end='')"

    async def run() -> Ran:
        with Blob.of(text.encode()) as artefact:
            async with sandbox.session([artefact], runtime="python") as session:
                return await session.run(Job((INTERPRETER, "-I", "{artefact}"), artefact))

    ran = anyio.run(run)
    assert ran.ok, ran.stderr
    assert ran.stdout.decode().endswith("False")
    assert "include" not in ran.stdout.decode()


def test_a_python_program_can_lock_no_file_that_others_see(sandbox: Sandbox) -> None:
    text = "import fcntl, os\nfor lock in (fcntl.flock, fcntl.lockf):\n    try:\n"
    text += "        lock(open(os.__file__), fcntl.LOCK_SH)\n        print('locked')\n"
    text += "    except PermissionError:\n        pass\n"

    async def run() -> Ran:
        with Blob.of(text.encode()) as artefact:
            async with sandbox.session([artefact], runtime="python") as session:
                return await session.run(Job((INTERPRETER, "-I", "{artefact}"), artefact))

    ran = anyio.run(run)
    assert (ran.ok, ran.stdout) == (True, b""), ran.stderr


def test_no_program_can_take_all_timers_of_its_user(sandbox: Sandbox) -> None:
    source = "#include <signal.h>\n#include <stdio.h>\n#include <time.h>\nint main(void) {\n    int made = 0;\n"
    source += "    for (timer_t timer; made < 200000 && !timer_create(CLOCK_MONOTONIC, 0, &timer);) made++;\n"
    source += '    printf("%d", made);\n}\n'

    async def run() -> bytes:
        async with sandbox.session([], Mounts({"a.c": source})) as session:
            built = await session.run(Job(("gcc", "/src/a.c", "-o", "/tmp/out"), collect=("/tmp/out",)))
        with Blob.of(built.files["/tmp/out"]) as artefact:
            async with sandbox.session([artefact], bare=True) as session:
                return (await session.run(Job(("{artefact}",), artefact))).stdout

    assert 1000 <= int(anyio.run(run)) <= 1024


def test_there_is_one_copy_that_no_other_user_can_write(sandbox: Sandbox) -> None:
    async def folders() -> tuple[Path | None, Path | None]:
        return await sandbox.copies["python"].folder(), await RuntimeCopy("python").folder()

    first, second = anyio.run(folders)
    assert first == second
    assert first is not None
    writable = [path for path in first.rglob("*") if path.lstat().st_mode & 0o022]
    assert writable == []


def test_without_room_for_a_copy_the_host_is_shared_and_every_result_says_so(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    monkeypatch.setattr("maxcode.sandbox.sealed._PLACES", ("/",))
    other = RuntimeCopy("python")
    assert anyio.run(other.folder) is None
    assert "no memory file system" in other.trouble


def test_a_blob_has_the_hash_of_its_bytes_however_it_was_made() -> None:
    whole, joined = Blob.of(b"abc"), Blob.joined([b"a", memoryview(b"bc")])
    with Blob.joined([2, b"a", 100_000, memoryview(b"bc"), 0, 3]) as sparse:
        assert sparse.read() == b"\0\0a" + bytes(100_000) + b"bc\0\0\0" and sparse.size == 100_008
        assert os.fstat(sparse.fd).st_blocks * 512 < sparse.size, "zeros take no memory"
    assert whole.sha256 == joined.sha256 == joined.copy().sha256 == hashlib.sha256(b"abc").hexdigest()


def test_the_beginning_of_a_blob_is_read_alone() -> None:
    with Blob.of(b"12345") as blob:
        assert [blob.read(count) for count in (0, 3, 5, 9)] == [b"", b"123", b"12345", b"12345"]
