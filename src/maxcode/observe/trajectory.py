"""The part "Trajectory": every step from the root to this state, oldest first, within a budget of tokens.

The paper (section 2.4) shows all ancestors with their programs, feedback and critiques.  Here a step shows its program
as a unified diff to the program before it; a rewrite as the whole program, or, if another section shows that, by the
name of the section.  Of a large repository "Program" shows all changes to the original; there only the newest step
has a diff, and not if it is that one.  Prompts are finite, so the oldest steps are shortened first: from the whole
step to one line of the change with its result, then to the result alone.  On very long paths the oldest steps are left
out.  The section says which steps are shortened, and that tokens are an estimate (bytes / 4).  Only as many steps are
read as the budget can hold, so the cost of a prompt is bounded on a path of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Literal, final

from maxcode.core.history import Reached
from maxcode.core.types import Program, Section, State, StateId
from maxcode.observe.feedback import brief_result, feedback_lines, result_line
from maxcode.observe.part import Part, changed, harmless, is_rewrite, listing, notes, tokens
from maxcode.observe.repository import is_large

Critiques = Literal["all", "earlier", "none"]

TOKENS = 16_000  # the usual budget
LEAST_TOKENS = 200
_HEAD = 90  # tokens reserved for the lines that say what was shortened
_BRIEFS, _NUMBERS = 0.4, 0.15  # shares of the budget for shortened steps, if not all of them fit
_CODE = 0.5  # the largest share of the budget for one diff
_LEAST = 6  # tokens of the shortest form of a step
_NOTE, _RESULT = 160, 240  # characters
_KEPT = 20_000  # texts in the cache
_PART_OF_PROGRAM = "part of Program"
_MAY_BE_DONE = "Advice after it, which later steps may have followed already: "


def trajectory(budget: int = TOKENS, critiques: Critiques = "all", shown: frozenset[str] = frozenset()) -> Part:
    """ "Trajectory": the steps that lead to this state in about ``budget`` tokens; None at a root.

    The newest step is always shown in full.  ``critiques``: the steps whose critiques are shown; "earlier" leaves the
    newest one to the part "Critique".  ``shown``: other parts of the observation.  The result of the newest step is
    left to "feedback", and the programs of rewrites to "program" and "best".
    """
    most = int(4 * _CODE * budget)  # characters
    remembered = _Remembered(_KEPT, most)
    feedback_shown = "feedback" in shown

    def part(state: State, reached: Reached) -> Section | None:
        if state.step is None:
            return None
        places = _places(state, shown)
        is_patch = "program" in shown and is_large(state.problem)

        def form(kind: Form, node: State) -> _Text:
            is_part = is_patch and places.get(node.id) != "Program"
            place = _PART_OF_PROGRAM if is_part else places.get(node.id, "")
            if kind == "full" and place:
                return _Text(_full(node, most, critiques != "none", place=place))
            return remembered.form(critiques != "none", kind, node)

        newest = _Text(
            _full(state, most, critiques == "all", not feedback_shown, places.get(state.id, ""), is_newest=True)
        )
        told = _within(state, newest, budget, form)
        texts = [one.text for one in reversed(told.texts)]
        if feedback_shown:
            texts.append(f'The result of step {state.depth} is under "Feedback".')
        return Section("Trajectory", "\n\n".join([*_head(told, state, budget), *texts]))

    return part


@final
class _Text:
    """One form of a step, and its number of tokens with the blank line after it."""

    __slots__ = ("cost", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.cost = tokens(text) + 1


@final
@dataclass(frozen=True, slots=True)
class _Told:
    """Newest first: the ``texts`` of the steps that are shown, of which ``full`` in full and ``brief`` in brief."""

    texts: list[_Text]
    full: int
    brief: int


Form = Literal["full", "brief", "number"]


@final
class _Remembered:
    """A cache of the texts of earlier steps, because every prompt below them shows them again.  States of different
    runs can have the same id, so the key is the object."""

    def __init__(self, most: int, code: int) -> None:
        """``most``: texts to keep; ``code``: characters of a diff."""
        self._most = most
        self._code = code
        self._kept: dict[tuple[StateId, Form], tuple[State, _Text]] = {}

    def form(self, critique: bool, form: Form, node: State) -> _Text:
        """The text of ``node`` in one of the forms."""
        found = self._kept.get((node.id, form))
        if found is not None and found[0] is node:
            return found[1]
        if len(self._kept) >= self._most:
            self._kept.clear()
        if form == "full":
            text = _Text(_full(node, self._code, critique))
        else:
            text = _Text(_brief(node) if form == "brief" else _number(node))
        self._kept[(node.id, form)] = (node, text)
        return text


def _within(state: State, newest: _Text, budget: int, form: Callable[[Form, State], _Text]) -> _Told:
    nodes = list(islice((node for node in state.ancestry if node.step is not None), max(1, budget // _LEAST)))
    full = _fitting(chain([newest], (form("full", node) for node in nodes[1:])), budget)
    if len(full) == state.depth:
        return _Told(full, len(full), 0)
    room = budget - _HEAD
    briefs = _fitting((form("brief", node) for node in nodes), room)
    if len(briefs) < state.depth or _cost(briefs[1:]) > _left(full[:1], room):
        return _graded(nodes, full, briefs, room, form)
    saved = accumulate(long.cost - short.cost for long, short in zip(full, briefs, strict=False))
    count = max((k for k, grown in enumerate(saved, 1) if grown + _cost(briefs) <= room), default=1)
    return _Told(full[:count] + briefs[count:], count, len(briefs) - count)


def _graded(
    nodes: Sequence[State], full: list[_Text], briefs: list[_Text], room: int, form: Callable[[Form, State], _Text]
) -> _Told:
    """A path whose brief texts do not fit: every form gets its share of the budget."""
    texts = _fitting(full, int(room * (1 - _BRIEFS)))
    count, left = len(texts), _left(texts, room)
    texts += _fitting(briefs[count:], left - int(room * _NUMBERS), least=0)
    brief = len(texts) - count
    texts += _fitting((form("number", node) for node in nodes[len(texts) :]), left - _cost(texts[count:]), least=0)
    return _Told(texts, count, brief)


def _left(full: list[_Text], room: int) -> int:
    """The tokens left for the shortened steps; at least their share of the budget, even if the newest step alone
    exceeds it."""
    return max(room - _cost(full), int(room * _BRIEFS))


def _fitting(texts: Iterable[_Text], room: int, least: int = 1) -> list[_Text]:
    """The first of the texts, as many as fit into ``room`` tokens, at least ``least``."""
    found: list[_Text] = []
    for one in texts:
        room -= one.cost
        if room < 0 and len(found) >= least:
            break
        found.append(one)
    return found


def _cost(texts: Sequence[_Text]) -> int:
    return sum(one.cost for one in texts)


# ------------------------------------------------------------------------------------------------- the ways to tell it


def _places(state: State, shown: frozenset[str]) -> dict[StateId, str]:
    """The steps of a path whose programs other sections show, with the titles of these."""
    places = {state.peak.id: "Best"} if "best" in shown else {}
    owner = next((node for node in state.ancestry if node.step is None or node.step.action.program is not None), state)
    return {**places, owner.id: "Program"} if "program" in shown else places


def _full(node: State, code: int, critique: bool, result: bool = True, place: str = "", is_newest: bool = False) -> str:
    """The step with its notes, its change in about ``code`` characters at most, and, where asked, its result and
    critique.  ``place``: the section that shows its program, or ``_PART_OF_PROGRAM``."""
    assert node.step is not None
    assert node.parent is not None
    lines = [f"Step {node.depth}:", notes(node)]
    if node.step.action.program is not None:
        lines += _change(node, node.step.action.program, code, place)
    if result:
        lines.append(harmless("\n".join(feedback_lines(node.step, node.parent.made_by))))
    if critique and node.step.critique:
        may_be_done = node.problem.traits.is_patch and not is_newest
        lines.append(f"{_MAY_BE_DONE if may_be_done else ''}{harmless(node.step.critique)}")
    return "\n".join(line for line in lines if line)


def _change(node: State, program: Program, code: int, place: str) -> list[str]:
    assert node.parent is not None
    before = node.parent.program
    is_first = before == node.problem.program
    name = "the original" if is_first else "the program before it"
    if place == _PART_OF_PROGRAM:
        return ['Its change, as far as it is still there, is part of that under "Program".']
    if place and is_first and is_large(node.problem):
        return [f'its change to {name}: see "{place}".']
    if is_rewrite(before, program):
        if place:
            return [f'It rewrites {name}: see "{place}".']
        if len(shown := listing(program, node.problem.language)) <= code:
            return [f"It rewrites {name}:", shown]
    return [f"its change to {name}:", changed(before, program, code)]


def _brief(node: State) -> str:
    """The first note, or the first line, and the result.  The note does not begin the line, so that a policy that reads
    notes with results does not charge the whole result to one of several."""
    assert node.step is not None
    lines = [line for line in notes(node).splitlines() if line.strip()]
    note = next((line for line in lines if line.startswith("- ")), lines[0] if lines else "")
    told = _cut(note, _NOTE) + (" [...]" if len(lines) > 1 else "")
    return f"Step {node.depth}: {told}".rstrip() + f"\n{harmless(_cut(result_line(node.step.evaluation), _RESULT))}"


def _number(node: State) -> str:
    assert node.step is not None
    return f"=> {brief_result(node.step.evaluation)} (step {node.depth})"


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} [...]"


# -------------------------------------------------------------------------------------------- what it says of itself


def _head(told: _Told, state: State, budget: int) -> Iterator[str]:
    """What was shortened, and how; empty if nothing was."""
    if told.full == state.depth:
        return
    last = state.depth - told.full  # the newest step that is not shown in full
    said = [f"{_steps(last - told.brief + 1, last)} briefly"] if told.brief else []
    last -= told.brief
    left_out = state.depth - len(told.texts)
    if last > left_out:
        said.append(f"{_steps(left_out + 1, last)} by the result alone")
    if left_out:
        said.append(f"{_steps(1, left_out)} not at all")
    yield f"(To stay near {budget} tokens, estimated as bytes / 4, these are shortened: {'; '.join(said)}.)"


def _steps(first: int, last: int) -> str:
    return f"steps {first} to {last}" if last > first else f"step {last}"
