"""Control groups: where they can be made, what is written to them, and that nobody stays in one that is removed.

Version 2 is exercised on a directory tree laid out like it, which shows what is chosen and written and not what the
kernel makes of it; and on every hierarchy of this machine in which a group can be made, of whatever version.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from maxcode.sandbox import cgroup
from maxcode.sandbox.cgroup import Group, Hierarchy, find_hierarchy, survey

SCOPE = "user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope"


def tree(folder: Path, delegated: str, mounted: str = "/") -> Path:
    """A /proc/self of a process in ``SCOPE``, whose parent hands ``delegated`` controllers down; returns it."""
    root = folder / "cgroup"
    own = root / SCOPE.removeprefix(mounted.lstrip("/")).lstrip("/")
    own.mkdir(parents=True)
    for path in (own, *own.parents):
        if path.is_relative_to(root):
            (path / "cgroup.procs").write_text("")
            (path / "cgroup.controllers").write_text("cpu memory pids\n")
            (path / "cgroup.subtree_control").write_text("cpu memory pids\n" if path != own else "")
    (own.parent / "cgroup.subtree_control").write_text(f"{delegated}\n")
    proc = folder / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text(f"0::/{SCOPE}\n")
    (proc / "mountinfo").write_text(
        f"24 1 0:22 / /proc rw - proc proc rw\n31 1 0:26 {mounted} {root} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    )
    return proc


@pytest.mark.parametrize("mounted", ["/", "/user.slice/user-1000.slice"])
def test_in_a_delegated_scope_groups_are_made_beside_it_with_both_limits(tmp_path: Path, mounted: str) -> None:
    proc = tree(tmp_path, "cpu memory pids", mounted)
    found = find_hierarchy(proc)
    assert found is not None
    (parent,) = found.parents
    assert (found.version, parent.name) == (2, "app.slice")
    group = found.group()
    group.limit(memory=300 << 20, processes=7)
    (made,) = group.folders
    assert (made / "memory.max").read_text() == str(300 << 20)
    assert (made / "pids.max").read_text() == "7"
    assert not (made / "memory.swap.max").exists()  # it is written only where the kernel has it
    (made / "memory.swap.max").write_text("max")
    group.limit(memory=400 << 20, processes=9)
    assert (made / "memory.swap.max").read_text() == "0"
    assert group.joins == (f"{made}/cgroup.procs",)
    (made / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n")
    assert group.kills() == 2
    told = survey(proc)
    assert (told.version, told.parents, told.handed_down, told.trouble) == (2, (str(parent),), ("memory", "pids"), "")


def test_a_scope_that_is_not_delegated_has_no_groups_and_is_told_how_to_get_them(tmp_path: Path) -> None:
    proc = tree(tmp_path, "cpu")
    assert find_hierarchy(proc) is None
    told = survey(proc)
    assert (told.version, told.parents, told.handed_down) == (2, (), ("cpu",))
    assert "app.slice delegates cpu, but memory and pids are needed too; " in str(told)
    assert "delegate a group: `systemd-run --user" in str(told)
    assert ("`echo +memory +pids > " in str(told)) == (os.geteuid() == 0)  # root needs no more than that


def test_where_nothing_is_mounted_memory_is_limited_for_each_process(tmp_path: Path) -> None:
    proc = tree(tmp_path, "cpu memory pids")
    (proc / "mountinfo").write_text("24 1 0:22 / /proc rw - proc proc rw\n")
    assert find_hierarchy(proc) is None
    assert "no control group file system is mounted" in str(survey(proc))


def hierarchies() -> Iterator[Hierarchy]:
    """Those of this machine in which a group can be made; of version 1 that of the processes' number."""
    mine, mounts = cgroup._memberships(Path("/proc/self")), cgroup._mounts(Path("/proc/self"))
    for kind, point, root, options in mounts:
        own = mine.get("" if kind == "cgroup2" else "pids")
        if own is not None and (kind == "cgroup2" or "pids" in options):
            found = Hierarchy(2 if kind == "cgroup2" else 1, (cgroup._below(point, root, own),))
            try:
                group = found.group()
            except OSError:
                continue
            group.folders[0].rmdir()
            yield found


def test_who_is_in_a_group_is_killed_when_it_is_removed_and_the_group_is_gone() -> None:
    """For real, wherever groups can be made; where they cannot, that is what the survey says."""
    found = list(hierarchies())
    assert found or survey().trouble
    for hierarchy in found:
        group = hierarchy.group()
        member = subprocess.Popen(["sleep", "1000"])
        Path(group.joins[0]).write_text(str(member.pid))
        assert group.folders[0].name in Path("/proc", str(member.pid), "cgroup").read_text()
        hierarchy.sweep()  # of processes that are gone; this one is not
        assert group.folders[0].exists()
        with anyio.from_thread.start_blocking_portal() as portal:
            ended = portal.start_task_soon(group.remove)
            assert member.wait(20) == -signal.SIGKILL
            ended.result(20)
        assert not group.folders[0].exists()


def test_groups_of_processes_that_are_gone_are_swept() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    for hierarchy in hierarchies():
        left = Group(hierarchy.version, (hierarchy.parents[0] / f"maxcode-{gone.pid}-0",))
        left.folders[0].mkdir()
        hierarchy.sweep()
        assert not left.folders[0].exists()


def test_a_group_counts_the_processor_time_of_its_members_where_it_can(tmp_path: Path) -> None:
    here = find_hierarchy()
    if here is not None and (here.version == 2 or here.counting is not None):
        group = here.group(counts=True)
        one = subprocess.Popen(["sh", "-c", "read go; exec python3 -c 'sum(range(3_000_000))'"], stdin=subprocess.PIPE)
        for path in group.joins:
            Path(path).write_text(str(one.pid))
        before = group.used_s()
        one.communicate(b"\n")
        assert before is not None and (group.used_s() or 0.0) > before + 0.01
        anyio.run(group.remove)
        assert not any(folder.exists() for folder in group.all_folders)
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\n")
    assert Group(2, (tmp_path,)).used_s() == 1.5
    assert Group(1, (tmp_path,)).used_s() is None
