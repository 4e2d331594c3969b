"""The parts about earlier steps: the best of the path and of the run, critiques, and what not to repeat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, takewhile

from maxcode.core.history import Reached
from maxcode.core.types import Section, State, StateId
from maxcode.observe.feedback import result_line
from maxcode.observe.part import Part, change_line, harmless, notes
from maxcode.observe.repository import is_large, shown_program

_CHANGES = 3  # of a path, in the line of another branch


def best(program_shown: bool = False, trajectory_shown: bool = False) -> Part:
    """ "Best": the fastest program of the path, whose speed-up is the paper's u; None at a root.

    ``program_shown``: "Program" is part of the observation too, so the same program is not shown twice.
    ``trajectory_shown``: so are the notes of its step.
    """

    def part(state: State, reached: Reached) -> Section | None:
        if state.step is None:
            return None
        peak = state.peak
        if peak.step is None:
            return Section("Best", "Nothing on this path is faster than the original yet.")
        if program_shown and (peak == state or peak.program == state.program):
            return Section("Best", 'The program under "Program" is the fastest of this path.')
        if program_shown and trajectory_shown and _is_program_without_last(state, peak):
            told = f'that under "Program" without the change of step {state.depth}, which "Trajectory" shows'
            result = harmless(result_line(peak.step.evaluation))
            return Section("Best", f"The fastest program of this path is that of step {peak.depth}: {told}.\n{result}")
        lines = [f"The fastest program of this path is that of step {peak.depth}."]
        return Section("Best", "\n".join([*lines, *_leader(peak, with_notes=not trajectory_shown)]))

    return part


def _is_program_without_last(state: State, peak: State) -> bool:
    """Whether the best program of a path, of a large repository, is that from which the last step began."""
    has_program = state.step is not None and state.step.action.program is not None
    return has_program and peak == state.parent and is_large(state.problem)


def run_best(best_shown: bool = False) -> Part:
    """ "Best of the run": the incumbent, if it is on another path and faster than the best of this one.

    ``best_shown``: "Best" is part of the observation too, so a program of this path is not shown again.
    """

    def part(state: State, reached: Reached) -> Section | None:
        leader = reached.best
        if leader is None or leader.step is None or leader == state:
            return None
        if best_shown and (leader == state.peak or leader.reward <= state.peak.reward):
            return None
        return Section("Best of the run", "\n".join(["The fastest program of all paths:", *_leader(leader)]))

    return part


def critiques(original: str = "", limit: int = 1) -> Part:
    """ "Critique": the diagnosis of this state's program, and of the states before it up to ``limit`` in all, oldest
    first.  The paper's state has one critique.

    ``original`` is the diagnosis of the original program, shown at the root.  That is ours: the paper's initial state
    has no critique, so a first proposal would have no diagnosis.
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
        return Section("Critique", harmless("\n\n".join(reversed(told)))) if told else None

    return part


def failures(limit: int = 12, run: bool = True) -> Part:
    """ "Failures": what not to repeat, ``limit`` at most: the latest proposals from this very program that did not
    improve it, and, with ``run``, the latest of the whole run that failed or are slower than the original."""

    def part(state: State, reached: Reached) -> Section | None:
        tried = [child for child in reversed(reached.children(state)[-limit:]) if child.reward <= state.reward]
        known = {child.id for child in tried}
        newest = _newest(reached, limit) if run else []
        known |= _path(state, newest)  # the steps of this path are told elsewhere
        failed = (node for node in newest if node.reward < 1.0 and node.id not in known)
        told = list(dict.fromkeys(_failure(node) for node in islice(chain(tried, failed), limit)))
        return Section("Failures", "\n\n".join(told)) if told else None

    return part


def branches(limit: int = 12) -> Part:
    """ "Other branches": one line for each correct program of other paths that is faster than the original."""

    def part(state: State, reached: Reached) -> Section | None:
        told = branch_lines(state, reached, limit)
        return Section("Other branches", "\n".join(told)) if told else None

    return part


def branch_lines(state: State, reached: Reached, limit: int = 12) -> tuple[str, ...]:
    """The speed-up of each program that was measured on other paths and beats the original, with the changes that led
    to it, the fastest first; ``limit`` of the latest at most.  Steps from ``state`` itself are left to "Failures"."""
    newest = _newest(reached, limit)
    known = _path(state, newest)
    better = (node for node in newest if node.step is not None and node.reward > 1.0)
    others = [node for node in better if node.id not in known and node.parent != state][:limit]
    ranked = sorted(others, key=lambda node: -node.reward)
    return tuple(dict.fromkeys(f"{node.reward:.2f}x: {_changes_to(node)}" for node in ranked))


def _changes_to(state: State) -> str:
    """The changes from the original to ``state`` on one line, the latest ones if there are many; a step that changed
    nothing is left out."""
    steps = [node for node in state.ancestry if node.parent is not None and node.program != node.parent.program]
    told = [change_line(node) for node in reversed(steps[:_CHANGES])]
    told = [*(line.removesuffix(".") for line in told[:-1]), *told[-1:]]
    return ", then ".join((["..."] if len(steps) > _CHANGES else []) + told) or change_line(state)


def _newest(reached: Reached, limit: int) -> list[State]:
    """The latest states, of which ``limit`` are told: the cost does not grow with the run."""
    return list(islice(reached.newest(), 20 * limit))


def _path(state: State, newest: Sequence[State]) -> set[StateId]:
    """The ids of the latest states that are on the path to ``state``; ids grow along a path."""
    return {node.id for node in takewhile(lambda node: bool(newest) and node.id >= newest[-1].id, state.ancestry)}


def _leader(state: State, with_notes: bool = True) -> list[str]:
    assert state.step is not None
    told = notes(state) if with_notes else ""
    shown = shown_program(state.problem, state.program)
    return [line for line in (told, harmless(result_line(state.step.evaluation)), shown) if line]


def _failure(state: State) -> str:
    """The step without its critique.  A program that is faster than the original, but not than its parent, is shown
    with the ratio to its parent, so that nobody reads it as a success."""
    assert state.step is not None
    result = harmless(result_line(state.step.evaluation))
    if state.reward >= 1.0 and state.parent is not None:
        result = f"=> correct, {state.reward / state.parent.reward:.2f}x the speed of the program it came from"
    return "\n".join(line for line in (f"Step {state.depth}:", notes(state), result) if line)
