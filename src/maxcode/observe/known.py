"""The parts "Measured" and "Setting": what is known before the first proposal; the same in every prompt of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.stats import COUNT_MARGIN, RaceRule
from maxcode.core.types import Facts, Machine, Problem, Section, State, TimedInput
from maxcode.observe.about import about_machine
from maxcode.observe.feedback import beside_goal, milliseconds
from maxcode.observe.part import Part, harmless

T = TypeVar("T", int, float)
_NOTHING = {"python": "the interpreter with a program that does nothing"}
_NEAR = 1.5  # times the floor: from here on little is left to gain
_SCORED = {"cpu": "the CPU time", "wall": "the wall-clock time", "instructions": "the count of instructions"}
_SUMMED = {"program": "inputs", "function": "sizes, all calls of a pass"}
_ALONE = {"program": "this input", "function": "all calls of a pass", "repo": "the benchmark"}


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
        lines = ["; ".join(about_machine(described, problem, facts)), *_short_lines(problem, facts)]
        return Section("Setting", harmless("\n".join(lines)))

    return part


def _short_lines(problem: Problem, facts: Facts) -> Iterator[str]:
    if problem.traits.has_tests:
        if facts.timed:
            sizes, times = [one.bytes for one in facts.timed], [one.seconds for one in facts.timed]
            many = f"{len(sizes)} inputs" if len(sizes) > 1 else "one input"
            yield (
                f"timed on {many} of {_span(sizes, '{:,}'.format)} bytes (content not shown), where the original takes "
                f"{_span(times, milliseconds)} of CPU time each{beside_goal(problem)}"
            )
        yield from _floor(problem, facts)
        yield from _format(problem, facts)
    elif facts.timed:
        yield from _TIMED[problem.kind](problem, facts)
    yield from score(problem, facts)
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
    lines += [*score(problem, facts), *_floor(problem, facts)]
    if facts.calls:
        lines.append(facts.calls)
    return [*lines, *_threads(facts), *_format(problem, facts)]


def score(problem: Problem, facts: Facts) -> Iterator[str]:
    """How the timed inputs make one number, and which gain is none."""
    if not facts.timed:
        return
    count = len(facts.timed)
    over = (
        f"each summed over these {count} {_SUMMED.get(problem.kind, 'measurements')}"
        if count > 1
        else f"on {_ALONE.get(problem.kind, 'the same calls')}"
    )
    raced = f"{facts.raced}" if facts.raced > 1 else "the slowest"
    some = f"; candidates race on {raced} of them, a winner is confirmed on all" if 0 < facts.raced < count else ""
    yield f"score: {_SCORED[problem.goal]} of the original divided by yours, {over}{some}; {_least(problem)} is no gain"


def _least(problem: Problem) -> str:
    margin = COUNT_MARGIN if problem.goal == "instructions" else RaceRule().margin
    return f"less than {100 * margin:g} %"


def _roughly(number: float) -> str:
    """The number to two digits: the speed-ups beside it come from other timings."""
    return f"{float(f'{number:.2g}'):g}"


def _floor(problem: Problem, facts: Facts) -> Iterator[str]:
    if facts.start_s and problem.goal == "cpu":
        who = _NOTHING.get(problem.language, "a process that does nothing")
        floor, count = facts.floor_s(), len(facts.timed)
        most = f", so about {_roughly(sum(one.seconds for one in facts.timed) / floor)}x at most" if floor else ""
        raced = f", {milliseconds(facts.floor_s(facts.raced))} on those raced on" if 0 < facts.raced < count else ""
        yield (
            f"{who} takes {milliseconds(facts.start_s)} of CPU time here, reading a megabyte "
            f"{milliseconds(facts.byte_s * 1e6)}: the floor is {milliseconds(floor)} on all timed inputs{raced}{most}"
        )


def _format(problem: Problem, facts: Facts) -> Iterator[str]:
    """The format of the inputs, and what they are; what was only seen is no limit."""
    if facts.format:
        yield "format of the inputs, inferred from them:"
        yield from (f"  {line}" for line in facts.format)
    if facts.ranges:
        yield (
            f"in the timed inputs {facts.ranges}. These are no limits: the program must be right, and within its "
            "limits of time, for every input that the problem allows"
        )
    if facts.ascii and problem.language == "python":
        yield "all given inputs are ASCII; this is no limit either"


def _threads(facts: Facts) -> list[str]:
    if facts.threads <= 1:
        return []
    return [f"threads: {facts.threads} at most are worth it, one for each core"]


def is_near_floor(facts: Facts, seconds: float, count: int | None = None) -> bool:
    """Whether a program that takes ``seconds`` on the first ``count`` timed inputs costs about as much as processes
    that only read them."""
    return 0 < seconds <= _NEAR * facts.floor_s(count)


def _before(problem: Problem) -> str:
    return f"{beside_goal(problem)} before the search; a race times both anew"


def _of_runs(problem: Problem, facts: Facts) -> Iterator[str]:
    yield f"timed inputs (content not shown), with the original's CPU time{_before(problem)}:"
    for one in facts.timed:
        size = f"{one.bytes:,} bytes" if one.bytes else "size not known"
        yield f"- {size}: {milliseconds(one.seconds)}{f'; {one.what}' if one.what else ''}"


def _of_calls(problem: Problem, facts: Facts) -> Iterator[str]:
    yield f"timed sizes, with the original's CPU time{_before(problem)}:"
    whole = sum(one.seconds for one in facts.timed)
    for one in facts.timed:
        calls = f"{one.calls} call{'s' * (one.calls != 1)} in a pass"
        share = f", {one.seconds / whole:.0%} of the original's time" if len(facts.timed) > 1 else ""
        held = f", {one.bytes:,} bytes of arrays a call" if one.bytes else ""
        yield f"- {one.what}: {_short(one.seconds / one.calls)} a call, {calls}{share}{held}{_rate(one)}"
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
    if facts.libraries:
        yield f"it runs with {facts.libraries}"
    if facts.far_gbs and facts.moved:
        yield (
            f"the inputs and outputs of a call are {facts.moved:,} bytes; from memory, at the {facts.far_gbs:.1f} GB/s "
            f"that one core was measured to read, they take {_short(facts.moved / facts.far_gbs / 1e9)}, and less as "
            "far as a cache holds them"
        )


def _of_python(problem: Problem, facts: Facts) -> Iterator[str]:
    for one in facts.timed:
        yield f"a call of the original takes {_short(one.seconds)}{beside_goal(problem)}"


def _of_repositories(problem: Problem, facts: Facts) -> Iterator[str]:
    for one in facts.timed:
        yield f"the benchmark takes {_short(one.seconds)} in base, timed{_before(problem)}; compare ratios alone"


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
