"""A file of lines is one process's alone, and holds whole lines, whatever became of who wrote it."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from maxcode.core.jsonl import append_line, in_words_of_today, open_lines
from maxcode.errors import InputError, MachineError, RecordError
from maxcode.run.record import EVENTS, Batch, Record, read_events


@pytest.fixture
def little_room() -> Iterator[int]:
    """Files of this process may not grow beyond so many bytes, as on a disk that is nearly full."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield 1000
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("torn", [b"", b"x", b"x" * 200_000])
@pytest.mark.parametrize("whole", [b"", b"one\n", b"one\n" * 50_000])
def test_what_was_left_of_a_line_is_dropped_and_all_before_it_stays(whole: bytes, torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines"
    open_lines(path).close()
    path.write_bytes(whole + torn)
    with open_lines(path) as file:
        append_line(file, b"two", "lines")
    assert path.read_bytes() == whole + b"two\n"


def test_a_file_in_use_is_refused_until_it_is_closed(tmp_path: Path) -> None:
    with open_lines(tmp_path / "lines"), pytest.raises(RecordError, match="in use by another maxcode; wait for it"):
        open_lines(tmp_path / "lines")
    open_lines(tmp_path / "lines").close()
    with pytest.raises(InputError, match="cannot write to the output folder"):
        open_lines(tmp_path / "lines" / "below a file")


def test_a_line_that_does_not_fit_on_the_disk_leaves_nothing_behind(tmp_path: Path, little_room: int) -> None:
    path = tmp_path / "lines"
    with open_lines(path) as file:
        append_line(file, b"a" * (little_room - 100), "lines")
        with pytest.raises(MachineError, match=r"cannot write to lines: .*make room"):
            append_line(file, b"b" * 200, "lines")
        append_line(file, b"c" * 50, "lines")
    assert path.read_bytes() == b"a" * (little_room - 100) + b"\n" + b"c" * 50 + b"\n"


def test_a_record_that_does_not_fit_on_the_disk_says_so_and_can_be_read(tmp_path: Path, little_room: int) -> None:
    with Record(tmp_path) as record:
        record.append(Batch(batch=1, parents=((0, 0),)))
        with pytest.raises(MachineError, match=f"cannot write to {EVENTS}"):
            record.append(Batch(batch=2, parents=((0, 0),) * little_room))
    assert len(list(read_events(tmp_path))) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [("beaten", "dominated"), ("waits", "slower_by_wall"), ("busy", "noisy"), ("unseen", "not_in_cpu_time")],
)
def test_a_verdict_of_version_0_1_is_read_in_the_words_of_today(old: str, new: str) -> None:
    written = json.dumps({"verdict": old, "note": f'"verdict": "{old}"'}).encode()
    assert json.loads(in_words_of_today(written)) == {"verdict": new, "note": f'"verdict": "{old}"'}
