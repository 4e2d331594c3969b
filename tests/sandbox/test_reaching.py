"""Folders that only root can enter are shown to the sandbox all the same."""

from __future__ import annotations

import os
from pathlib import Path

import anyio

from maxcode.sandbox.binds import is_enterable, reached
from maxcode.sandbox.sandbox import Job, Mounts, Ran, Sandbox


def test_a_folder_below_one_that_nobody_else_may_enter_is_shown_read_only(sandbox: Sandbox, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "folder").mkdir(parents=True)
    (closed / "folder" / "words").write_text("to be read\n")
    (closed / "folder").chmod(0o755)
    closed.chmod(0o700)
    assert not is_enterable(closed / "folder")

    async def run(*argv: str) -> Ran:
        async with sandbox.session([], Mounts({"a": ""}, [(closed / "folder", "/opt/shown")])) as session:
            return await session.run(Job(argv))

    assert anyio.run(run, "cat", "/opt/shown/words").stdout == b"to be read\n"
    assert not anyio.run(run, "touch", "/opt/shown/new").ok
    assert [path.name for path in (closed / "folder").iterdir()] == ["words"]
    assert str(closed) not in Path("/proc/self/mountinfo").read_text(), "nobody else sees it there"


def test_a_folder_that_all_may_enter_is_bound_as_it_is(sandbox: Sandbox) -> None:
    uid = sandbox.tier.uid
    assert reached([(Path("/usr/share"), "/opt/x")], sandbox.cache, uid) == ([(Path("/usr/share"), "/opt/x")], ())
    assert os.geteuid() != 0 or is_enterable(Path("/usr"))
