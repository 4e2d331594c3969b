"""The parts of an observation, and ``compose``.

    observe = compose(statement(), program(), best(), trajectory(), critiques(), failures(), machine())

Each part is a function of (state, reached) that gives one titled section or nothing, so each can be switched off by
leaving it out: the paper's ablation.  The paper's four-part feedback is finished here, because two of its parts are
contrasts between a step and the one before it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from maxcode.reached import Reached
from maxcode.roles import Observe
from maxcode.source import fenced, prose
from maxcode.techniques import describe
from maxcode.types import (
    Checker,
    Evaluation,
    FunctionSpec,
    Machine,
    Outcome,
    Problem,
    Section,
    State,
    Step,
    Timing,
)

Part = Callable[[State, Reached], Section | None]


def compose(*parts: Part) -> Observe:
    """One observation of the parts that have something to say, in the order given."""

    def observe(state: State, reached: Reached) -> tuple[Section, ...]:
        sections = (part(state, reached) for part in parts)
        return tuple(section for section in sections if section is not None)

    return observe


# -------------------------------------------------------------------------------------------------------- the parts


def statement() -> Part:
    """ "Problem": the task, its language, flags, checker and what is permitted."""

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Problem", "\n".join(_statement_lines(state.problem)))

    return part


def program() -> Part:
    """ "Program": the program to improve, the one at this state."""

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Program", _fenced(state))

    return part


def feedback() -> Part:
    """ "Feedback": the four-part feedback of the last step, raw; nothing at a root."""

    def part(state: State, reached: Reached) -> Section | None:
        if state.step is None:
            return None
        previous = state.parent.step if state.parent is not None else None
        return Section("Feedback", "\n".join(feedback_lines(state.step, previous)))

    return part


def best() -> Part:
    """ "Best": the best program of the path, the paper's u in person; nothing while that is the original."""

    def part(state: State, reached: Reached) -> Section | None:
        return _leader("Best", state.peak)

    return part


def run_best() -> Part:
    """ "Best of the run": the confirmed leader of all paths, which need not be an ancestor."""

    def part(state: State, reached: Reached) -> Section | None:
        return _leader("Best of the run", reached.best) if reached.best is not None else None

    return part


def trajectory(limit: int = 8) -> Part:
    """ "Trajectory": the steps that led here, oldest first, each with its notes, result and critique.

    Only the last ``limit`` steps are told in full; earlier ones are shortened to their results, and it says so.
    """

    def part(state: State, reached: Reached) -> Section | None:
        told: list[str] = []
        for node in state.ancestry:
            if node.step is None or len(told) == limit:
                break
            told.append(_step_text(node))
        if not told:
            return None
        if state.depth > limit:
            told.append(f"({state.depth - limit} earlier steps are left out; the best of the path is under 'Best')")
        return Section("Trajectory", "\n\n".join(reversed(told)))

    return part


def critiques(original: str = "", limit: int = 4) -> Part:
    """ "Critique": the diagnosis of this state's program and of the ``limit`` states before it.

    ``original`` is the diagnosis of the original program, shown at the root: ours, since the paper's initial
    state has none and a first proposal would otherwise be blind.
    """

    def part(state: State, reached: Reached) -> Section | None:
        told: list[str] = []
        for node in state.ancestry:
            if len(told) == limit:
                break
            if node.step is None and original:
                told.append(f"Original program: {original}")
            elif node.step is not None and node.step.critique:
                told.append(f"Step {node.depth}: {node.step.critique}")
        return Section("Critique", "\n\n".join(reversed(told))) if told else None

    return part


def failures(limit: int = 12) -> Part:
    """ "Failures": the latest proposals of the whole run that failed or made things slower: what not to repeat."""

    def part(state: State, reached: Reached) -> Section | None:
        found: list[str] = []
        for node in islice(reached.newest(), 20 * limit):  # keeps the cost of a prompt flat as the run grows
            if len(found) < limit and node.step is not None and node.step.reward < 1.0:
                found.append(_step_text(node, critique=False))
        return Section("Failures", "\n\n".join(found)) if found else None

    return part


def machine(described: Machine) -> Part:
    """ "Machine": where the candidate will be built and timed."""
    compilers = ", ".join(described.compilers.values())
    text = f"{described.cpu}, {described.cores} cores, {described.kernel}; {compilers}"

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Machine", text)

    return part


# ------------------------------------------------------------------------------------------------- their sentences


def feedback_lines(step: Step, previous: Step | None) -> list[str]:
    """The paper's four parts: correct or not; contrast of correctness; numbers; contrast of performance."""
    now = step.evaluation
    before = previous.evaluation if previous is not None else None
    lines = [result_line(now)]
    lines += _correctness_contrast(now, before)
    if now.timing is not None and previous is not None and previous.reward > 0:
        lines.append(f"{now.timing.speedup.value / previous.reward:.2f}x the speed of the previous step")
    lines += _performance_contrast(now, before)
    return lines


def result_line(evaluation: Evaluation) -> str:
    """One line that says what came of a step: ``=> correct, speedup 1.45x [1.40, 1.50]`` or ``=> unbuilt: why``."""
    if evaluation.timing is not None:
        sure = "" if evaluation.timing.significant else " (not significant)"
        return f"=> correct, speedup {evaluation.timing.speedup}{sure}{_rate(evaluation.timing)}"
    if evaluation.outcome is Outcome.CORRECT:
        return f"=> correct, not timed: {'; '.join(evaluation.warnings) or 'no reason given'}"
    reasons = "; ".join(evaluation.feedback.reasons) or "no reason given"
    return f"=> {evaluation.outcome.value}: {reasons}"


def _rate(timing: Timing) -> str:
    if timing.gflops is None:
        return ""
    return f", {timing.gflops.value:.1f} GFLOPS, {timing.gflops.value / timing.roofline:.0%} of the roofline"


def _correctness_contrast(now: Evaluation, before: Evaluation | None) -> list[str]:
    failing = {case.name: case for case in now.feedback.cases if case.outcome is not Outcome.CORRECT}
    lines = [f"test {name}: {case.outcome.value}. {case.detail}" for name, case in failing.items() if case.seen]
    hidden = sum(1 for case in failing.values() if not case.seen)
    if hidden:
        lines.append(f"{hidden} held-out test(s) failed")
    if before is not None:
        failed_before = {case.name for case in before.feedback.cases if case.outcome is not Outcome.CORRECT}
        seen = {case.name for case in now.feedback.cases if case.seen}
        if broken := sorted((failing.keys() - failed_before) & seen):
            lines.append(f"newly failing: {', '.join(broken)}")
        if mended := sorted((failed_before - failing.keys()) & seen):
            lines.append(f"mended: {', '.join(mended)}")
    if now.feedback.diagnostics:
        lines.append(now.feedback.diagnostics)
    return lines


def _performance_contrast(now: Evaluation, before: Evaluation | None) -> list[str]:
    if before is None:
        return []
    seen = {case.name for case in now.feedback.cases if case.seen}
    changed = {
        name: (before.measures[name], seconds)
        for name, seconds in now.measures.items()
        if name in seen and before.measures.get(name, 0) > 0
    }
    largest = sorted(changed.items(), key=lambda item: -max(item[1]))[:3]
    return [f"test {name}: {old * 1e3:.1f} ms before, {new * 1e3:.1f} ms now" for name, (old, new) in largest]


def _statement_lines(problem: Problem) -> list[str]:
    spec = problem.spec
    lines = [problem.statement or "Make this program faster. It must give the same output for every input."]
    lines += [f"language: {problem.language}", f"flags: {' '.join(spec.flags)}"]
    lines += [f"checker: {_checker(spec.checker)}"] if spec.function is None else _function_lines(spec.function)
    lines.append(f"goal: least {'CPU' if problem.goal == 'cpu' else 'wall-clock'} time")
    if problem.permitted is not None:
        lines.append(
            "permitted techniques, all others are refused:" if problem.permitted else "no technique is permitted"
        )
        lines += [f"- {describe(name)}" for name in sorted(problem.permitted)]
    return lines


def _function_lines(spec: FunctionSpec) -> list[str]:
    names = [one.name for one in spec.scalars]
    sizes = "; ".join(
        ", ".join(f"{name} = {value}" for name, value in zip(names, size, strict=True)) for size in spec.timed
    )
    return [
        f"implement the function {spec.name} of {spec.header_name}:",
        spec.header.strip(),
        f"timed at {sizes}; it must be right at every size",
        f"checker: relative Frobenius error of every written array at most {spec.tolerance:g}",
        "libraries such as a BLAS are forbidden",
    ]


def _checker(checker: Checker) -> str:
    if checker.kind == "float":
        return f"float (tolerance {checker.abs_tol:g} absolute, {checker.rel_tol:g} relative)"
    return checker.kind


def _fenced(state: State) -> str:
    program = state.program
    return "\n".join(fenced(text, state.problem.language) for text in program.files.values())


def _leader(title: str, state: State) -> Section | None:
    if state.step is None:
        return None
    told = f"{prose(state.step.action.completion)}\n{result_line(state.step.evaluation)}"
    return Section(title, f"{told}\n{_fenced(state)}")


def _step_text(state: State, critique: bool = True) -> str:
    assert state.step is not None
    lines = [f"Step {state.depth}:", prose(state.step.action.completion), result_line(state.step.evaluation)]
    if critique and state.step.critique:
        lines.append(state.step.critique)
    return "\n".join(line for line in lines if line)
