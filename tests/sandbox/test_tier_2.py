"""Tier 2 of the sandbox: one process per run, builds on the host itself, and how a tier is chosen."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from maxcode.cli import cli
from maxcode.code.languages import language
from maxcode.core.types import Action, Case, Outcome, Problem, Program, ProgramSpec
from maxcode.errors import InputError, UnsafeError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.landlock import Landlock, sweep
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from maxcode.sandbox.selftest import require_safe
from maxcode.sandbox.tiers import SANDBOX_UID
from tests.support.counting import FAST, SLOW
from tests.support.sandboxed import RUN, Attack, failures, let_others_in, weakened
from tests.support.selection import some

pytestmark = [pytest.mark.tiers("2"), pytest.mark.sandbox]
GEMM = Path(__file__).parents[2] / "examples" / "gemm"
SCRIPT = """
import anyio, json
from maxcode.errors import UnsafeError
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.selftest import self_test

async def main():
    try:
        sandbox = await Sandbox.open()
    except UnsafeError as error:
        return {"refused": str(error)}
    found = await self_test(sandbox)
    failed = [f"{one.attack}: {one.detail}" for one in found if not one.held]
    return {"tier": sandbox.tier.name, "attacks": len(found), "failed": failed}

print(json.dumps(anyio.run(main)))
"""


def inside(cache: Path, *bwrap: str, fds: tuple[int, ...] = ()) -> dict[str, object]:
    """What the self-test says in a user namespace that allows no further one."""
    outer = ("bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", *bwrap)
    environment = {**os.environ, "MAXCODE_CACHE": str(cache), "MAXCODE_SANDBOX": ""}
    done = subprocess.run(
        [*outer, sys.executable, "-c", SCRIPT], env=environment, pass_fds=fds, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def build(sandbox: Sandbox, *argv: str, **limits: float) -> Ran:
    async def run() -> Ran:
        async with sandbox.session([], Mounts({"a": "text"})) as session:
            return await session.run(replace(RUN, argv=argv, **limits))  # type: ignore[arg-type]

    return anyio.run(run)


# ----------------------------------------------------------------------------------------------------------- programs


def test_a_program_cannot_fork_and_is_told_so(attack: Attack) -> None:
    (daemon,) = attack("daemon")
    assert (daemon.ending, daemon.left_over) == ("exit", 0)
    (bomb,) = attack("forks", cpu_s=0.1)
    assert (bomb.ending, bomb.left_over) == ("timeout", 0)
    (hidden,) = attack("hidden", ("o",), wall_s=0.2)
    assert hidden.ending == "timeout"


def test_a_program_that_starts_another_in_its_place_fails(sandbox: Sandbox) -> None:
    async def run() -> Ran:
        with Blob.of(b"") as nothing:
            async with sandbox.session([nothing]) as session:
                return await session.run(replace(RUN, argv=("sh", "-c", "exec echo here"), stdin=nothing))

    ran = anyio.run(run)
    assert (ran.ending, ran.stdout) == ("exit", b"")
    assert b"not permitted" in ran.stderr
    assert ran.code != 0


def test_root_becomes_the_sandboxs_own_user(sandbox: Sandbox) -> None:
    async def run() -> Ran:
        async with sandbox.session([]) as session:
            return await session.run(replace(RUN, argv=("id", "-u")))

    own = SANDBOX_UID if os.geteuid() == 0 else os.geteuid()
    assert anyio.run(run).stdout == f"{own}\n".encode()
    assert build(sandbox, "id", "-u").stdout == f"{own}\n".encode()


def test_without_a_control_group_one_limit_holds_for_all_memory(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    async def run(artefact: Blob) -> Ran:
        async with replace(sandbox, hierarchy=None).session([artefact]) as session:
            return await session.run(replace(RUN, artefact=artefact))

    ran = anyio.run(run, program("memory"))
    assert (ran.ending, ran.code) == ("exit", 3)
    assert ran.max_rss_kb < 400 << 10


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the sandbox's own user outside of it."""
    user = SANDBOX_UID if os.geteuid() == 0 else os.geteuid()
    with subprocess.Popen(["sleep", "600"], user=user) as process:
        yield process
        process.kill()


def test_a_build_can_signal_nobody_but_its_own(sandbox: Sandbox, bystander: subprocess.Popen[bytes]) -> None:
    ran = build(sandbox, "sh", "-c", f"kill -9 {bystander.pid}; kill -9 -1; kill -9 $PPID; echo on")
    assert b"on\n" in ran.stdout
    assert bystander.poll() is None


def test_what_a_build_leaves_behind_is_killed_and_charged(sandbox: Sandbox) -> None:
    mark = f"maxcode-test-{os.getpid()}"
    spin = f"setsid sh -c ': {mark}; while :; do :; done'"
    ran = build(sandbox, "sh", "-c", f"({spin} & {spin} &); sleep 0.5")
    assert ran.ok
    assert ran.left_over >= 2
    assert ran.cpu_s > 0.005
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in read(path)]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_folder_of_a_build_goes_with_its_session_however_it_was_left(sandbox: Sandbox) -> None:
    wild = "cd ../t; mkdir -p a/b/c; touch a/b/f; ln -s / link; chmod 000 a/b; i=0; "
    wild += "while [ $i -lt 300 ]; do mkdir d; cd d; i=$((i+1)); done"
    before = folders()
    assert build(sandbox, "sh", "-c", wild, cpu_s=10).ok
    assert folders() == before


def test_the_folder_of_a_maxcode_that_was_killed_is_swept_at_the_next_start(sandbox: Sandbox) -> None:
    script = "import anyio, os, signal\nfrom maxcode.sandbox.sandbox import Mounts, Sandbox\nasync def main():\n"
    script += (
        "    async with (await Sandbox.open()).session([], Mounts({})):\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "MAXCODE_SANDBOX": "2"}
    with subprocess.Popen([sys.executable, "-c", f"{script}anyio.run(main)"], env=environment) as killed:
        assert killed.wait() == -9
    left = [path for top in ("/dev/shm", "/tmp") for path in Path(top).glob(f"maxcode-{killed.pid}-*")]
    assert len(left) == 1
    sweep()
    assert not left[0].exists()


def folders() -> set[Path]:
    return {path for top in ("/dev/shm", "/tmp") for path in Path(top).glob(f"maxcode-{os.getpid()}-*")}


def test_a_compiler_names_nothing_of_the_host(sandbox: Sandbox) -> None:
    source = "#include <stdio.h>\nint main(void) { puts(__FILE__); int unused; return x; }\n"

    async def run() -> tuple[Ran, Ran]:
        async with sandbox.session([], Mounts({"a.c": source, "b.c": source.replace("x", "0")})) as session:
            flags = ("-g", "-Wall", "-o", "/tmp/out")
            return (
                await session.run(Job(("gcc", "/src/a.c", *flags), wall_s=60)),
                await session.run(Job(("gcc", "/src/b.c", *flags), wall_s=60, collect=("/tmp/out",))),
            )

    bad, good = anyio.run(run)
    assert bad.stderr.startswith(b"/src/a.c: In function")
    assert b"/src/b.c" in good.files["/tmp/out"]
    for text in (bad.stderr, good.stderr, good.files["/tmp/out"]):
        assert b"maxcode-" not in text
        assert b"/dev/shm" not in text


# ------------------------------------------------------------------------------------------------------------ evaluated


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, Builder(sandbox, sandbox.cache))


def counting(folder: Path) -> Problem:
    cases = []
    for name, n in (("small", 10), ("big", 160_000_000)):
        (folder / f"{name}.in").write_text(f"{n}\n")
        (folder / f"{name}.out").write_text(f"{n * (n - 1) // 2}\n")
        cases.append(Case(name, str(folder / f"{name}.in"), str(folder / f"{name}.out")))
    spec = ProgramSpec(flags=language("c").default_flags, seen=(cases[0],), held_out=(cases[1],))
    return Problem("count", "program", "c", Program({"count.c": SLOW}), spec)


@pytest.mark.slow
def test_an_honest_program_is_built_verified_and_found_faster(evaluator: ProgramEvaluator, tmp_path: Path) -> None:
    admitted: Admitted = anyio.run(evaluator.admit, counting(tmp_path))
    assert admitted.baseline.profile[0].function == "main"
    found = anyio.run(evaluator.evaluate, admitted.problem, Action(Program({"count.c": FAST})))
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None
    assert found.timing.speedup.low > 1
    assert "tier 2" in evaluator.sandbox


def test_an_original_that_forks_is_refused_with_the_reason(evaluator: ProgramEvaluator, tmp_path: Path) -> None:
    text = SLOW.replace("#include <stdio.h>", "#include <stdio.h>\n#include <unistd.h>")
    forking = text.replace("long n, sum = 0;", "long n, sum = 0; if (fork() < 0) return 1;")
    assert forking.count("fork()") == forking.count("unistd") == 1
    problem = counting(tmp_path)
    with pytest.raises(InputError, match="in tier 2 of the sandbox"):
        anyio.run(evaluator.admit, replace(problem, program=Program({"count.c": forking})))


def test_a_function_is_called_and_timed(evaluator: ProgramEvaluator) -> None:
    problem = load(GEMM).problem
    assert problem.spec.function is not None
    function = replace(problem.spec.function, calls=20, timed=((96, 96, 96),), checked=((1, 1, 1), (7, 17, 5)))
    admitted = anyio.run(evaluator.admit, replace(problem, spec=replace(problem.spec, function=function)))
    assert admitted.baseline.outcome is Outcome.CORRECT
    found = anyio.run(evaluator.evaluate, admitted.problem, Action(admitted.problem.program))
    assert found.outcome is Outcome.CORRECT


# ------------------------------------------------------------------------------------------------------------- choosing


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o755)
    let_others_in(tmp_path)
    return folder


@pytest.mark.parametrize("user", [(), ("--uid", "65534", "--gid", "65534")])
def test_where_user_namespaces_are_forbidden_tier_2_is_taken_and_holds(cache: Path, user: tuple[str, ...]) -> None:
    found = inside(cache, *user)
    assert (found["tier"], found["failed"]) == ("2", [])
    assert isinstance(found["attacks"], int)
    assert found["attacks"] >= 18


def test_where_neither_tier_works_both_reasons_are_given_with_the_cure(cache: Path) -> None:
    filters = os.memfd_create("filter")
    program = ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 95), (0x06, 0, 0, 0x7FFF0000))
    os.write(filters, b"".join(struct.pack("<HBBI", *line) for line in program))  # landlock_create_ruleset: EOPNOTSUPP
    os.lseek(filters, 0, os.SEEK_SET)
    try:
        refused = str(inside(cache, "--seccomp", str(filters), fds=(filters,))["refused"])
    finally:
        os.close(filters)
    assert "tier 1: " in refused
    assert "user namespaces" in refused
    assert "tier 2: the kernel offers no Landlock (EOPNOTSUPP)" in refused
    assert "lsm=" in refused


def test_a_tier_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", "3")
    with pytest.raises(InputError, match="give 1 or 2"):
        anyio.run(Sandbox.open)


def test_an_older_kernels_landlock_holds_too(sandbox: Sandbox, tmp_path: Path) -> None:
    """ABI 1: no truncation, no network, no scope of signals; what is missing the filter refuses."""
    known = "alone.abi = (int)syscall(LANDLOCK_CREATE, NULL, 0, 1);"
    shim = weakened(tmp_path, "shim_landlock.h", known, "alone.abi = 1;")
    old = replace(sandbox, shim=shim, tier=Landlock(1, sandbox.tier.uid))
    assert failures(old) == {}


@pytest.mark.parametrize(
    ("strong", "weak", "attack", "detail"),
    some(
        [
            ('"/proc/self", "/proc/cpuinfo"', '"/proc/self", "/etc"', "read the host's files", "/etc/passwd worked"),
            (
                "return !syscall(SYS_seccomp, SECCOMP",
                "return 1 || !syscall(SYS_seccomp, SECCOMP",
                "be more than one",
                "exec worked",
            ),
            (
                "put(out, equal, SYS_execveat, 0, 6);",
                "put(out, equal, SYS_execveat, 6, 6);",
                "be more than one",
                "exec",
            ),
            ("{SYS_clone, ONE, IF_LACKS", "{SYS_clone, OLD, IF_LACKS", "start any number of processes", "8' processes"),
            ("!bare && i <", "i <", "read or move a counter", "/proc/self/maps worked"),
            (
                "{SYS_clock_gettime, ONE, IF_SHIMS, 0}",
                "{SYS_clock_gettime, OLD, IF_SHIMS, 0}",
                "read or move a counter",
                "reading the shim's clock worked",
            ),
        ],
        3,
    ),
)
def test_a_weaker_tier_2_is_found_out(
    strong: str, weak: str, attack: str, detail: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    shim = weakened(tmp_path, "shim_landlock.h", strong, weak)
    found = failures(replace(sandbox, shim=shim))
    (said,) = (words for name, words in found.items() if name.startswith(attack) and "build" not in name)
    assert detail in said
    with pytest.raises(UnsafeError, match="the other tier"):
        anyio.run(require_safe, replace(sandbox, shim=shim, cache=tmp_path))


# -------------------------------------------------------------------------------------------------------- no sandbox


def test_no_sandbox_is_warned_of_and_named_in_every_result(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", "none")
    unsafe = anyio.run(Sandbox.open)
    assert "WITHOUT A SANDBOX" in capfd.readouterr().err
    assert unsafe.describe().startswith("none: UNSAFE")
    anyio.run(require_safe, unsafe)
    ran = build(unsafe, "sh", "-c", "echo $((6 * 7)); sleep 600 &")
    assert ran.stdout == b"42\n"
    assert ran.left_over == 1


def test_a_bench_without_a_sandbox_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", "")
    ended = CliRunner().invoke(cli, ["bench", str(GEMM), "--unsafe-no-sandbox"])
    assert isinstance(ended.exception, InputError)
    assert "leave --unsafe-no-sandbox out" in str(ended.exception)
    assert os.environ["MAXCODE_SANDBOX"] == ""
    both = CliRunner().invoke(cli, ["doctor", "--sandbox", "2", "--unsafe-no-sandbox"])
    assert "exclude each other" in both.output
    assert both.exit_code == 2


def test_a_doctor_names_the_tier_that_was_demanded(program: Callable[[str], Blob]) -> None:
    ended = CliRunner().invoke(cli, ["doctor", "--sandbox", "2", "--json"])
    told = json.loads(ended.stdout)
    assert told["machine"]["sandbox"].startswith("Landlock ABI")
    assert told["trouble"] == []
