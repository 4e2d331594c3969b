"""The parts "Measured" and "Setting": what is known before the first proposal; the same in every prompt of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.types import Facts, Machine, Problem, Section, State, TimedInput
from maxcode.observe.about import about_machine
from maxcode.observe.feedback import beside_goal, milliseconds
from maxcode.observe.part import Part, harmless

T = TypeVar("T", int, float)
_NOTHING = {"python": "the interpreter with a program that does nothing"}
_NEAR = 1.5  # times the floor: from here on little is left to gain


@final
@dataclass(frozen=True, slots=True)
class ShownTest:
    """A test that the policy may see: its input and the expected output, both possibly cut; empty if there is none."""

    name: str = ""
    stdin: str = ""
    expected: str = ""


def measured(facts: Facts, test: ShownTest = ShownTest()) -> Part:
    """ "Measured": the timed inputs and the original's time on each, the floor of a process, the format of the inputs,
    a test.  None if nothing is known."""

    def part(state: State, reached: Reached) -> Section | None:
        lines = [*fact_lines(state.problem, facts), *_test_lines(test)]
        return Section("Measured", harmless("\n".join(lines))) if lines else None

    return part


def setting(described: Machine, facts: Facts) -> Part:
    """ "Setting": for methods without "Machine" and "Measured" the same in short: the machine in one line, the timed
    sizes with the original's time, how an input begins, and the state of the caches."""

    def part(state: State, reached: Reached) -> Section | None:
        problem = state.problem
        lines = ["; ".join(about_machine(described, problem, facts.native_flags)), *_short_lines(problem, facts)]
        return Section("Setting", harmless("\n".join(lines)))

    return part


def _short_lines(problem: Problem, facts: Facts) -> Iterator[str]:
    if problem.traits.has_tests:
        if facts.timed:
            sizes, times = [one.bytes for one in facts.timed], [one.seconds for one in facts.timed]
            many = f"{len(sizes)} inputs" if len(sizes) > 1 else "one input"
            yield (
                f"measured on {many} of {_span(sizes, '{:,}'.format)} bytes, where the original takes "
                f"{_span(times, milliseconds)} of CPU time each{beside_goal(problem)}"
            )
        if facts.format:
            yield f"the inferred format of the inputs begins with {facts.format[0].strip()}"
        yield f"tests that feedback may name: {len(problem.spec.seen)}; their content is not shown here"
    elif facts.timed:
        yield from _TIMED[problem.kind](problem, facts)
    if facts.calls:
        yield facts.calls
    yield from _threads(facts)


def _span(values: Sequence[T], told: Callable[[T], str]) -> str:
    low, high = told(min(values)), told(max(values))
    return low if low == high else f"{low} to {high}"


def fact_lines(problem: Problem, facts: Facts) -> list[str]:
    """The facts in words."""
    told = _TIMED[problem.kind]
    lines = [*told(problem, facts)] if facts.timed else []
    if facts.start_s and problem.goal == "cpu":
        who = _NOTHING.get(problem.language, "a process that does nothing")
        lines.append(
            f"{who} takes {milliseconds(facts.start_s)} of CPU time here, reading a megabyte "
            f"{milliseconds(facts.byte_s * 1e6)}: {milliseconds(facts.floor_s())} on all timed inputs is the floor"
        )
    if facts.calls:
        lines.append(facts.calls)
    lines += _threads(facts)
    if facts.format:
        lines += ["format of the inputs, inferred from them (ranges are widened to powers of ten):"]
        lines += [f"  {line}" for line in facts.format]
    return lines


def _threads(facts: Facts) -> list[str]:
    if facts.threads <= 1:
        return []
    return [f"threads: {facts.threads} at most are worth it, one for each core"]


def is_near_floor(facts: Facts, seconds: float, count: int | None = None) -> bool:
    """Whether a program that takes ``seconds`` on the first ``count`` timed inputs costs about as much as processes
    that only read them."""
    return 0 < seconds <= _NEAR * facts.floor_s(count)


def _of_runs(problem: Problem, facts: Facts) -> Iterator[str]:
    yield f"timed inputs (their content is not shown), with the original's CPU time{beside_goal(problem)}:"
    for one in facts.timed:
        size = f"{one.bytes:,} bytes" if one.bytes else "size not known"
        yield f"- {size}: {milliseconds(one.seconds)}"


def _of_calls(problem: Problem, facts: Facts) -> Iterator[str]:
    yield f"timed sizes, with the original's CPU time{beside_goal(problem)}:"
    for one in facts.timed:
        yield f"- {one.what}: {_short(one.seconds / one.calls)} a call, {one.calls} calls in a pass{_rate(one)}"
    if facts.peak_gflops:
        yield (
            f"operations of a call are counted as {problem.spec.function_spec.flop}; one core's measured peak is "
            f"{facts.peak_gflops:.1f} GFLOPS, where a multiply-add counts as two"
        )
    if facts.near_gbs:
        far = f", {facts.far_gbs:.1f} from memory" if facts.far_gbs else ""
        yield f"one core moves {facts.near_gbs:.1f} GB/s from the nearest cache{far}, measured"


def _rate(one: TimedInput) -> str:
    return (
        f", {one.flop * one.calls / one.seconds / 1e9:.2f} GFLOPS ({one.flop:,} operations a call)" if one.flop else ""
    )


def _of_modules(problem: Problem, facts: Facts) -> Iterator[str]:
    for one in facts.timed:
        on = f" on {facts.threads} thread{'s' * (facts.threads > 1)}" if facts.threads else ""
        yield f"a call of the reference takes {_short(one.seconds)}{on}; the shapes above are the timed ones"


def _of_python(problem: Problem, facts: Facts) -> Iterator[str]:
    for one in facts.timed:
        yield f"a call of the original takes {_short(one.seconds)}{beside_goal(problem)}"


def _of_repositories(problem: Problem, facts: Facts) -> Iterator[str]:
    for one in facts.timed:
        yield f"the benchmark takes {_short(one.seconds)} in base"


_TIMED = {
    "program": _of_runs,
    "function": _of_calls,
    "module": _of_modules,
    "python": _of_python,
    "repo": _of_repositories,
}


def _short(seconds: float) -> str:
    """Three digits, in microseconds below a millisecond."""
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else milliseconds(seconds)


def _test_lines(test: ShownTest) -> list[str]:
    if not test.stdin:
        return []
    lines = [f"test {test.name}, its input:", fenced(test.stdin)]
    return [*lines, "the output that is expected:", fenced(test.expected)] if test.expected else lines
