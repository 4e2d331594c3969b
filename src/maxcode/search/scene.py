"""What a method may tell its policy besides the states: the scene of an admitted problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from maxcode.core.files import TEST, opened
from maxcode.core.types import Evaluation, Facts, Machine, Problem
from maxcode.errors import InputError
from maxcode.observe import ShownTest
from maxcode.observe.critique import diagnose
from maxcode.observe.trajectory import TOKENS
from maxcode.search.value_guided import Guide

QUOTED_AT_MOST = 1000  # bytes of a test's input
_SHOWN_AT_MOST = 400  # bytes of the input and of the output of the test that every prompt shows


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """What a method may tell its policy besides the states.

    ``original``   the diagnosis of the original program
    ``baseline``   the evaluation of the original program
    ``inputs``     the quoted inputs of the seen tests, by name of the test
    ``facts``      what was measured before the first proposal
    ``test``       the seen test that every prompt shows
    ``without``    the parts (``observe.PARTS``) that are switched off
    ``shape``      the budget that the run began with, if it is another; the width of the search follows from it
    ``asks_model`` see ``Frame``
    ``guide``      the value model, if there is one; it scores every state
    ``gamma``      the discount of rewards along a path
    ``trajectory_tokens``  the budget of the part "Trajectory"
    ``pays_critic``  whether a critique costs money, so that only those that somebody reads are worth asking for
    """

    machine: Machine
    original: str = ""
    baseline: Evaluation | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    shape: int | None = None
    asks_model: bool = False
    guide: Guide | None = None
    facts: Facts = field(default_factory=Facts)
    test: ShownTest = field(default_factory=ShownTest)
    gamma: float = 1.0
    trajectory_tokens: int = TOKENS
    pays_critic: bool = False


def admitted_scene(
    described: Machine,
    problem: Problem,
    baseline: Evaluation,
    without: frozenset[str] = frozenset(),
    facts: Facts = Facts(),  # noqa: B008
) -> Scene:
    """The scene of an admitted problem with the evaluation ``baseline`` of its original; reads the inputs of the seen
    tests."""
    told = "\n".join(line for line in (facts.growth, *diagnose(problem.program, baseline)) if line)
    inputs = {case.name: _quote(Path(case.stdin)) for case in problem.spec.seen}
    return Scene(described, told, baseline, inputs, without, facts=facts, test=_shown_test(problem))


def _shown_test(problem: Problem) -> ShownTest:
    """The smallest test that may be seen."""
    seen = problem.spec.seen
    if not seen:
        return ShownTest()
    case = min(seen, key=lambda case: Path(case.stdin).stat().st_size)
    expected = _quote(Path(case.expected), _SHOWN_AT_MOST) if case.expected is not None else ""
    return ShownTest(case.name, _quote(Path(case.stdin), _SHOWN_AT_MOST), expected)


def _quote(path: Path, most: int = QUOTED_AT_MOST) -> str:
    """The beginning of a test's file, and the size of the rest."""
    try:
        with opened(path, TEST) as file:
            data = file.read(most)
        more = path.stat().st_size - len(data)
    except OSError as error:
        raise InputError(f"cannot read the test file {path}: {error.strerror}") from error
    text = data.decode(errors="replace")
    return f"{text}\n[... {more} more bytes]" if more > 0 else text
