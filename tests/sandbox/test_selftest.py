"""The sandbox's own attack suite: holds here, and finds what is missing from a weaker sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.errors import UnsafeError
from maxcode.sandbox import selftest
from maxcode.sandbox.sandbox import Sandbox
from tests.support.sandboxed import failures, weakened
from tests.support.selection import some


@pytest.mark.tiers("1", "2")
def test_the_sandbox_of_this_machine_holds(sandbox: Sandbox) -> None:
    found = anyio.run(selftest.self_test, sandbox)
    assert len(found) >= 12
    assert {one.attack: one.detail for one in found if not one.held} == {}


@pytest.mark.tiers("1", "2")
def test_it_holds_without_a_control_group(sandbox: Sandbox) -> None:
    assert failures(replace(sandbox, hierarchy=None)) == {}


def test_a_shim_without_its_filter_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    installed = "if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return false;"
    shim = weakened(tmp_path, "shim_filter.h", installed, "*listener = -1;\n    return true;")
    found = failures(replace(sandbox, shim=shim))
    assert "socket worked" in found["open a socket, AF_VSOCK included"]
    assert "memfd_create worked" in found["leave a note for the next run"]


def test_a_shim_that_allows_what_is_not_listed_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    refused = "case REFUSED: emit_answer(out, SECCOMP_RET_ERRNO | EPERM)"
    shim = weakened(tmp_path, "shim_filter.h", refused, "case REFUSED: emit_answer(out, SECCOMP_RET_ALLOW)")
    found = failures(replace(sandbox, shim=shim))
    assert "pipe worked" in found["read or move a counter of the whole machine"]
    assert "inotify_init1 worked" in found["reach dangerous parts of the kernel"]


@pytest.mark.parametrize(
    ("strong", "weak", "worked"),
    some(
        [
            ("{HOSTED, INTS(SYS_pipe2", "{ALL, INTS(SYS_pipe2", "pipe2 worked"),
            ("{SYS_mmap, COMPILED, NONE_OF", "{SYS_mmap, 0, NONE_OF", "mapping shared memory worked"),
            ("{SYS_clock_gettime, TESTED", "{SYS_clock_gettime, 0", "reading process 1's clock worked"),
            ("if (mode & TESTED) answers[SYS_sysinfo] = TOLD;", "", "sysinfo worked"),
            ("CLONE_PIDFD | CLONE_PARENT", "CLONE_PARENT", "clone with a pidfd worked"),
            ("{BUILDS, INTS(SYS_fchmod,", "{ALL, INTS(SYS_fchmod,", "pidfd_open worked"),
        ],
        3,
    ),
)
def test_each_counter_that_a_compiled_program_could_reach_is_looked_for(
    sandbox: Sandbox, tmp_path: Path, strong: str, weak: str, worked: str
) -> None:
    shim = weakened(tmp_path, "shim_filter.h", strong, weak)
    assert worked in failures(replace(sandbox, shim=shim))["read or move a counter of the whole machine"]


def test_a_shim_that_lets_a_program_ignore_its_children_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    shim = weakened(tmp_path, "shim_filter.h", "{SYS_rt_sigaction, RUNS | SCRIPTS", "{SYS_rt_sigaction, SCRIPTS")
    found = failures(replace(sandbox, shim=shim))
    assert "changing what SIGCHLD does worked" in found["reach dangerous parts of the kernel"]


def test_a_shim_that_can_be_looked_into_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    shim = weakened(tmp_path, "shim.c", "prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);", "")
    assert "/mem worked" in failures(replace(sandbox, shim=shim))["read the host's files"]


def test_a_shim_that_cleans_nothing_up_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    shim = weakened(
        tmp_path,
        "shim.c",
        "    kill_rest();\n    while (wait4(-1, &status, __WALL,",
        "    while (wait4(-1, &status, WNOHANG,",
    )
    assert "leave a process behind" in failures(replace(sandbox, shim=shim))


def test_a_sandbox_that_does_not_hold_is_refused_by_name(sandbox: Sandbox, tmp_path: Path) -> None:
    shim = weakened(tmp_path, "shim.c", "prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);", "")
    weak = replace(sandbox, shim=shim, cache=tmp_path)
    for _ in range(2):
        with pytest.raises(UnsafeError, match="read the host's files"):
            anyio.run(selftest.require_safe, weak)


@pytest.mark.tiers("1", "2")
def test_the_suite_is_run_once_and_remembered(sandbox: Sandbox, tmp_path: Path) -> None:
    fresh = replace(sandbox, cache=tmp_path)
    anyio.run(selftest.require_safe, fresh)
    (passed,) = tmp_path.glob("safe-*")
    passed_at = passed.stat().st_mtime_ns
    anyio.run(selftest.require_safe, fresh)
    assert passed.stat().st_mtime_ns == passed_at


def test_a_pair_that_passes_descriptors_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    rule = "{SYS_sendmsg, PAIRED | TALKS, ONE_OF, 0, WHOLE, WORDS(NOTES)},"
    shim = weakened(tmp_path, "shim_filter.h", rule, "")
    found = failures(replace(sandbox, shim=shim))
    assert "under another number worked" in found["do more over a pair of sockets than talk to its other end"]
