"""A node on this machine, without an engine: what it answers, when it refuses, when it retires."""

from __future__ import annotations

import math
import subprocess
import sys
import time
import unittest.mock
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from maxcode import Outcome
from maxcode.core.types import Evaluation, Interval, Problem
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.cluster.cores import parsed, physical, shown, split
from maxcode.evaluate.cluster.node import BenchNode
from maxcode.evaluate.cluster.node_evaluators import checked
from maxcode.evaluate.cluster.node_thread import Cancelled, NodeThread
from maxcode.evaluate.cluster.quiet_cores import Calibration, Cores, drifted
from maxcode.evaluate.cluster.wire import (
    Admit,
    AdmitResult,
    AnyResult,
    Build,
    BuildResult,
    Evaluate,
    EvaluateResult,
    Task,
    TaskFailed,
    TaskRefused,
    UnknownProblem,
    encode,
    pack,
    read_result,
    read_task,
    unpack,
)
from maxcode.evaluate.ladder.build import Builder
from tests.support.counting import FAST

pytestmark = pytest.mark.sandbox

STEADY = Interval(0.025, 0.0249, 0.0251)


@contextmanager
def node_of(
    calibration: list[Interval] | None = None, busy: float = 0.0, every: int = 20, stays_s: float = math.inf
) -> Iterator[NodeThread]:
    """A node whose calibrations are given and whose cores others use so much, 0..1, for so long from its first look."""
    times = iter(calibration or [])
    looked: list[float] = []

    async def measure() -> Interval:
        return next(times, STEADY)

    def ticks() -> dict[int, tuple[int, int]]:
        looked.append(time.monotonic())
        since = looked[-1] - looked[0]
        return {0: (int(1000 * busy * min(since, stays_s)), int(1000 * since))}

    def node() -> BenchNode:
        return BenchNode(Cores(frozenset({0}), ticks), Calibration(every=every), measure)

    thread = NodeThread(frozenset({0}), node)
    try:
        yield thread
    finally:
        thread.close()


def asked(thread: NodeThread, task: Task) -> AnyResult:
    return read_result(thread.work(encode(task)))


def test_a_node_admits_evaluates_and_stamps_its_answers(problem: Problem) -> None:
    bundle = pack(problem, 1)
    faster = problem.program.with_text(FAST)
    with node_of() as thread:
        early = asked(thread, Evaluate(key=bundle.key, permitted=None, program=faster))
        taken = asked(thread, Admit(bundle=bundle))
        found = asked(thread, Evaluate(key=bundle.key, permitted=None, program=faster))
    assert isinstance(early, UnknownProblem)
    assert isinstance(taken, AdmitResult)
    assert taken.tests[-1].timed
    assert isinstance(found, EvaluateResult)
    evaluation = found.evaluation
    assert evaluation.outcome is Outcome.CORRECT and evaluation.timing is not None and evaluation.timing.significant
    node = evaluation.node
    assert node is not None and node.cores == (0,) and node.calibration == STEADY and not node.shared
    assert "gcc" in node.compiler


def test_a_node_whose_cores_others_use_refuses_and_shares_only_where_it_is_told_to(problem: Problem) -> None:
    bundle = pack(problem, 1)
    with node_of(busy=0.5) as thread:
        refused = asked(thread, Admit(bundle=bundle))
        shared = asked(thread, Admit(bundle=bundle, shared=True))
    assert isinstance(refused, TaskRefused) and not refused.retires
    assert "others use 50 %" in refused.why and "--shared-cores" in refused.why
    assert isinstance(shared, AdmitResult) and shared.baseline.node is not None and shared.baseline.node.shared


def test_what_a_node_measured_while_others_used_its_cores_is_forgotten(problem: Problem) -> None:
    bundle = pack(problem, 1)
    task = Evaluate(key=bundle.key, permitted=None, program=problem.program.with_text(FAST))
    busy = [0.0]

    def ticks() -> dict[int, tuple[int, int]]:
        return {0: (int(1000 * busy[0] * (time.monotonic() - start)), int(1000 * (time.monotonic() - start)))}

    async def measure() -> Interval:
        return STEADY

    start = time.monotonic()
    node = BenchNode(Cores(frozenset({0}), ticks), Calibration(), measure)
    with closing(NodeThread(frozenset({0}), lambda: node)) as thread:
        assert isinstance(asked(thread, Admit(bundle=bundle)), AdmitResult)
        session = node._evaluators.problems[bundle.key]
        known = session.remembered()
        evaluate = session.harness.evaluate

        async def disturbed(*words: Any) -> Evaluation:
            found = await evaluate(*words)
            busy[0] = 0.5
            return found

        with unittest.mock.patch.object(type(session.harness), "evaluate", lambda _, *words: disturbed(*words)):
            refused = asked(thread, task)
        assert isinstance(refused, TaskRefused) and "while it measured" in refused.why
        assert session.remembered() == known


def test_a_node_whose_cores_somebody_has_just_left_looks_again_and_measures(problem: Problem) -> None:
    with node_of(busy=1.0, stays_s=0.12) as thread:
        taken = asked(thread, Admit(bundle=pack(problem, 1)))
    assert isinstance(taken, AdmitResult)
    assert taken.baseline.node is not None and not taken.baseline.node.shared and taken.baseline.node.busy[0] <= 10


def test_the_look_at_the_cores_sees_another_process_on_them() -> None:
    core = frozenset({max(parsed(Path("/sys/devices/system/cpu/online").read_text().strip()))})
    spin = f"import os; os.sched_setaffinity(0, {set(core)}); print(flush=True)\nwhile True: pass"

    async def look() -> float:
        cores = Cores(core)
        cores.leave()
        await anyio.sleep(0.5)
        return (await cores.look()).busy

    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        busy = anyio.run(look)
        other.kill()
    assert busy > 90


def test_a_node_that_drifts_twice_in_a_row_retires_with_the_figures(problem: Problem) -> None:
    bundle = pack(problem, 1)
    slow = Interval(0.035, 0.034, 0.036)
    with node_of([STEADY, slow, STEADY, slow, slow], every=1) as thread:
        assert isinstance(asked(thread, Admit(bundle=bundle)), AdmitResult)
        task = Evaluate(key=bundle.key, permitted=None, program=problem.program.with_text("no C"))
        once = asked(thread, task)
        twice = asked(thread, task)
        later = asked(thread, task)
    assert isinstance(once, EvaluateResult) and once.evaluation.outcome is Outcome.UNBUILT
    assert isinstance(twice, TaskRefused) and twice.retires and "35.0 ms" in twice.why and "+40%" in twice.why
    assert isinstance(later, TaskRefused) and later.retires


@pytest.mark.parametrize(
    ("now", "drifts"),
    [
        (Interval(0.0250, 0.0240, 0.0260), False),
        (Interval(0.0290, 0.0270, 0.0310), False),  # more than a tenth, but not for sure
        (Interval(0.0290, 0.0280, 0.0300), True),
        (Interval(0.0200, 0.0190, 0.0210), True),
    ],
)
def test_drift_is_what_the_whole_interval_says(now: Interval, drifts: bool) -> None:
    assert drifted(STEADY, now, 0.1) is drifts


def test_a_build_from_elsewhere_is_taken_only_whole_and_from_the_same_toolchain(problem: Problem) -> None:
    with node_of() as thread:
        sent = asked(thread, Build(problem=problem, program=problem.program))
        broken = asked(thread, Build(problem=problem, program=problem.program.with_text("no C")))
    assert isinstance(sent, BuildResult) and sent.artefact is not None
    artefact = sent.artefact
    taken = checked(artefact, artefact.toolchain)
    assert taken is not None and taken.artefact is not None and taken.artefact.read() == artefact.data
    assert taken.machine_code is not None and taken.machine_code.digest
    assert checked(replace(artefact, data=artefact.data[:-1] + b"x"), artefact.toolchain) is None
    assert checked(artefact, "another compiler") is None
    assert isinstance(broken, BuildResult) and broken.unbuilt is not None and broken.unbuilt.outcome is Outcome.UNBUILT


def test_a_final_build_never_uses_what_came_from_elsewhere(problem: Problem, builder: Builder) -> None:
    given = problem.program.with_text(FAST + "// given")

    async def builds() -> tuple[str, str, str]:
        other = await builder.build(problem, problem.program)
        builder.give(problem, given, other)
        assert other.artefact is not None
        search, final = await builder.build(problem, given), await builder.build(problem, given, final=True)
        assert search.artefact is not None and final.artefact is not None
        return other.artefact.sha256, search.artefact.sha256, final.artefact.sha256

    other, search, final = anyio.run(builds)
    assert search == other and final != other


def test_an_order_that_nobody_wants_is_cancelled_and_the_node_goes_on(problem: Problem) -> None:
    bundle = pack(problem, 1)
    with node_of() as thread:
        with pytest.raises(Cancelled):
            thread.work(encode(Admit(bundle=bundle)), lambda: False)
        assert isinstance(asked(thread, Admit(bundle=bundle)), AdmitResult)


def test_bad_input_is_an_answer_with_its_words(problem: Problem) -> None:
    with node_of() as thread:
        found = asked(thread, Admit(bundle=pack(replace(problem, program=problem.program.with_text("no C")), 1)))
        other = read_result(thread.work(b'{"task": "dance"}'))
    assert isinstance(found, TaskFailed) and found.kind == "input" and "does not build" in found.message
    assert isinstance(other, TaskFailed) and "same version" in other.message
    assert isinstance(found.error("n"), InputError) and isinstance(other.error("n"), MachineError)


# ---------------------------------------------------------------------------------------------------- what travels


def test_a_problem_travels_with_its_files_and_is_the_same_there(problem: Problem, tmp_path: Path) -> None:
    bundle = pack(problem, 7)
    again = read_task(encode(Admit(bundle=bundle)))
    assert isinstance(again, Admit) and again.bundle == bundle and again.bundle.key == bundle.key
    placed = unpack(again.bundle, tmp_path)
    for here, there in zip(
        (*problem.spec.seen, *problem.spec.held_out), (*placed.spec.seen, *placed.spec.held_out), strict=True
    ):
        assert Path(there.stdin).is_relative_to(tmp_path)
        assert Path(here.stdin).read_bytes() == Path(there.stdin).read_bytes()
    assert str(Path(problem.spec.seen[0].stdin).parent).encode() not in encode(again)


def test_a_parcel_cannot_write_outside_its_folder(problem: Problem, tmp_path: Path) -> None:
    bundle = pack(problem, 7)
    bundle.files["../elsewhere"] = b"x"
    with pytest.raises(InputError, match="elsewhere"):
        unpack(bundle, tmp_path / "inside")
    assert not (tmp_path / "elsewhere").exists()


# ------------------------------------------------------------------------------------------------------------ cores


def test_cores_are_written_as_they_are_read() -> None:
    assert parsed("2-3,8") == {2, 3, 8}
    assert shown(parsed("8,2-3,0")) == "0,2-3,8"
    for words in ("", "a", "1-", "3-2"):
        with pytest.raises(InputError):
            parsed(words)


@pytest.fixture
def threads(tmp_path: Path) -> Path:
    """Four physical cores of two hardware threads: 0 and 4 are one, and so on."""
    for core in range(8):
        folder = tmp_path / f"cpu{core}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{core % 4},{core % 4 + 4}\n")
    return tmp_path


def test_slots_get_physical_cores_before_hardware_threads(threads: Path) -> None:
    everything = frozenset(range(8))
    slots, rest = split(everything, 2, 1, threads)
    assert len(physical(slots[0] | slots[1], threads)) == 4
    assert rest == everything - slots[0] - slots[1]
    with pytest.raises(InputError, match="9 slots of 1 cores need 9 cores"):
        split(everything, 9, 1, threads)
