"""Files that are written whole or not at all, and TOML that says what is wrong with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

import pytest

from maxcode.core.files import FileKind, read_file, read_text, read_toml, replacing, write_whole
from maxcode.errors import InputError

WRITER = """
import sys
from pathlib import Path
from maxcode.core.files import FileKind, read_file, read_text, read_toml, replacing, write_whole
letters, path = sys.argv[1], Path(sys.argv[2])
while True:
    for letter in letters:
        write_whole(path, letter.encode() * 3_000_000)
"""


@pytest.mark.heavy
def test_a_reader_sees_a_whole_file_while_two_processes_write_it_and_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, letters, str(path)]) for letters in ("ab", "cd")]
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        read = [path.read_bytes() for _ in range(50)]
    finally:
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
    assert len(read) == 50
    for content in (*read, path.read_bytes()):
        assert len(content) == 3_000_000 and len(set(content)) == 1


def write_half(path: Path) -> None:
    with replacing(path) as scratch:
        scratch.write_bytes(b"ne")
        raise ValueError("half")


def test_an_error_inside_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "below" / "file"
    write_whole(path, b"old")
    with pytest.raises(ValueError, match="half"):
        write_half(path)
    assert path.read_bytes() == b"old" and os.listdir(path.parent) == ["file"]


def test_where_it_cannot_be_written_the_path_and_a_cure_are_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("a file")
    for path in (tmp_path / "folder", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=rf"cannot write to {path}: .*; choose another --out$"):
            write_whole(path, b"new")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_threads_that_write_the_same_file_do_not_disturb_one_another(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def write(letter: bytes) -> None:
        try:
            for _ in range(50):
                write_whole(tmp_path / "file", letter * 10_000)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, r"cannot read the stages .*a\.toml: No such file or directory"),
        (b'a = "caf\xe9"', r"cannot read the stages .*a\.toml: it is not UTF-8 \(byte 8\); save it as UTF-8"),
        (b"a = = 1", r"cannot read the stages .*a\.toml: it is not valid TOML: .*line 1, column 5.*; correct it"),
        (b"a = " + b"1" * 5000, r"cannot read the stages .*a\.toml: it is not valid TOML: .*; correct it"),
    ],
)
def test_toml_that_cannot_be_read_is_told_with_a_cure(tmp_path: Path, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_toml(tmp_path / "a.toml", "the stages")


def test_a_file_that_this_user_may_not_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "mine").chmod(0)
    tmp_path.chmod(0o755)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from maxcode.core.files import TEST, read_file\n"
        "from maxcode.errors import InputError\n"
        "os.chdir(sys.argv[1])\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: read_file(Path('mine'), TEST)\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "cannot read the test file mine: Permission denied; correct its name, or its rights\n"


def test_a_socket_a_bad_name_and_text_that_is_not_utf_8_are_told(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(InputError, match="it is a socket; name a regular file"):
            read_file(tmp_path / "socket")
    with pytest.raises(InputError, match="its name has a NUL character; correct its name"):
        read_file(tmp_path / "a\0b")
    (tmp_path / "text").write_bytes(b"a\r\n\0\xe9")
    with pytest.raises(InputError, match=r"it is not UTF-8 \(byte 4\)"):
        read_text(tmp_path / "text")
    (tmp_path / "text").write_bytes(b"a\r\n\0")
    assert read_text(tmp_path / "text") == "a\r\n\0"  # a compiler says what is wrong with it
    with pytest.raises(InputError, match="it has 4 bytes, and at most 3 are read; give a smaller file"):
        read_file(tmp_path / "text", FileKind(at_most=3))


def test_a_file_that_grows_is_read_to_its_end_of_then_or_refused_but_never_longer(tmp_path: Path) -> None:
    path, stop = tmp_path / "growing", threading.Event()
    path.write_bytes(b"line\n" * 1_000_000)

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set() and file.tell() < 500_000_000:
                file.write(b"line\n" * 100)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        with pytest.raises(InputError, match="it changed while it was read; wait until it is written"):
            deque((read_file(path) for _ in range(10_000)), maxlen=0)
        assert len(read_file(path, FileKind(grows=True))) % 5 == 0
    finally:
        stop.set()
        writer.join()
