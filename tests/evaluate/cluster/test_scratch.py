"""What a node keeps on its disk goes with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from maxcode.evaluate.cluster.scratch import PREFIX, Scratch

pytestmark = pytest.mark.heavy

NODE = """
import sys, time
from pathlib import Path
from maxcode.evaluate.cluster.scratch import Scratch
print(Scratch(Path(sys.argv[1])).path, flush=True)
time.sleep(60)
"""


def test_a_folder_goes_with_its_node(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    (scratch.path / "a" / "b").mkdir(parents=True)
    scratch.close()
    scratch.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_node_left_is_removed_by_the_next_and_nothing_else_is(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "held").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(outside)
    (tmp_path / f"{PREFIX}begun").mkdir()  # a node that has not got to its lock
    with subprocess.Popen([sys.executable, "-c", NODE, tmp_path], stdout=subprocess.PIPE, text=True) as node:
        assert node.stdout is not None
        left = Path(node.stdout.readline().strip())
        (left / "tests").mkdir()
        alive = Scratch(tmp_path)
        assert left.exists(), "its node lives"
        os.kill(node.pid, signal.SIGKILL)
    Scratch(tmp_path).close()
    assert not left.exists()
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"outside", f"{PREFIX}link", f"{PREFIX}begun", alive.path.name}
    assert (outside / "held").exists()
    alive.close()
