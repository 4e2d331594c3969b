"""The search as a tree: every candidate below the one it was made from, each a link to its panel.

The tree is a flat list, so that a chain of a thousand steps needs no nesting; empty elements, which the style sheet
turns into lines, draw its shape.  An only child is directly below its parent; siblings are one step to the right.  The
script makes it a tree for keyboards and screen readers (roles, levels); without the script it is a list of links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.types import StateId
from maxcode.run.report.headline import anchor, name, standing
from maxcode.run.report.html import Html, element, join
from maxcode.run.report.run_view import RunView, Slot

SHOWN = ("best", "confirmed", "refuted", "not settled")  # marks that fit into a row
COLUMNS = 14  # the last column with indentation
NARROW = 6  # from this column on, columns are drawn closer together


@final
@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of the tree.  ``level`` counts from 1 at the roots; ``lines``: for every column before it, whether a line
    continues there; ``joint``: its connection to the parent."""

    at: StateId
    level: int
    lines: tuple[bool, ...]
    joint: str = ""  # "t" more siblings follow, "e" the last one, "u" directly below; "" a root, or too far right
    bears: bool = False


@final
@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a candidate, one word each: the status of its timing, and whether it is or was the best."""

    leaders: frozenset[StateId]
    best: StateId | None

    def of(self, slot: Slot) -> tuple[str, ...]:
        """The marks; most candidates have none."""
        found = [standing(slot)]
        found += ["best"] if slot.at == self.best else ["was the best for a time"] if slot.at in self.leaders else []
        found += [] if slot.settled or slot.evaluation is None else ["not settled"]
        return tuple(word for word in found if word)


def marks_of(run: RunView) -> Marks:
    """The marks of a run's candidates."""
    best = run.reached.best.id if run.reached.best is not None else None
    return Marks(frozenset(lead.state.id for lead in run.leads), best)


def mark(word: str) -> Html:
    """A mark as markup."""
    return element("span", word, class_=f"mark {word.replace(' ', '-')}")


def tree(run: RunView, marks: Marks) -> Html:
    """All candidates as rows, children after their parents, in the order of batch and slot."""
    slots = {slot.at: slot for slot in run.slots}
    found = list(places(run))
    rows = (_row(place, slots.get(place.at), marks) for place in found)
    deep = " deep" if max(len(place.lines) for place in found) > NARROW else ""
    return element("ul", *rows, class_=f"tree{deep}", aria_label="Search tree")


def places(run: RunView) -> Iterator[TreeRow]:
    """The rows from the top; walks without recursion, since a search may be a chain of any length."""
    children: dict[StateId, list[StateId]] = {}
    for slot in run.slots:
        children.setdefault(slot.parent, []).append(slot.at)
    waiting = [TreeRow(at, 1, (), bears=at in children) for at in reversed(roots_of(run))]
    while waiting:
        place = waiting.pop()
        yield place
        waiting.extend(reversed(list(_below(place, children))))


def roots_of(run: RunView) -> list[StateId]:
    """The parents of candidates that are not candidates themselves, the original first."""
    known = {slot.at for slot in run.slots}
    return sorted({run.reached.root.id} | {slot.parent for slot in run.slots if slot.parent not in known})


def _below(place: TreeRow, children: Mapping[StateId, Sequence[StateId]]) -> Iterator[TreeRow]:
    born = children.get(place.at, ())
    column = len(place.lines) + (place.joint in ("t", "e"))
    before = (*place.lines, place.joint == "t") if place.joint in ("t", "e") else place.lines
    for at in born:
        joint = "u" if len(born) == 1 else "" if column >= COLUMNS else "e" if at == born[-1] else "t"
        yield TreeRow(at, place.level + 1, before, joint, at in children)


def _row(place: TreeRow, slot: Slot | None, marks: Marks) -> Html:
    outcome = "original" if slot is None else slot.outcome.value if slot.outcome is not None else "open"
    told = [element("b", name(place.at))]
    if slot is not None:
        told += [element("span", str(slot.timing.speedup), class_="ratio")] if slot.timing is not None else []
        told += (mark(word) for word in reversed(marks.of(slot)) if word in SHOWN)
        told.append(element("span", outcome, class_=f"outcome {outcome}"))
    best = " best" if slot is not None and slot.at == marks.best else ""
    link = element("a", join(told, " "), href=f"#{anchor(place.at)}", class_=f"row{best}")
    return element("li", _lines(place, outcome), link, data_level=str(place.level))


def _lines(place: TreeRow, outcome: str) -> Html:
    """The lines before a row, and its dot."""
    before = [element("i", class_="v" if goes_on else "o") for goes_on in place.lines]
    joint = [element("i", class_=place.joint)] if place.joint in ("t", "e") else []
    dot = f"dot {outcome}{' u' if place.joint == 'u' else ''}{' d' if place.bears else ''}"
    return join([*before, *joint, element("i", class_=dot)])
