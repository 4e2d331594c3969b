"""A check of named problems one by one: which can be loaded, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from maxcode.errors import InputError
from maxcode.problems.loading import Loaded, load
from maxcode.problems.suite import Source
from maxcode.problems.suites import expanded


@final
@dataclass(frozen=True, slots=True)
class Surveyed:
    """A problem and the result: ``loaded``, or the reason ``why`` it cannot be, and ``where`` it is written."""

    name: str
    source: Source
    loaded: Loaded | None = None
    why: str = ""
    where: str = ""

    def as_table(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"name": self.name, "tags": list(self.source.tags), "loads": self.loaded is not None}
        if self.loaded is None:
            return {**found, "why": self.why, "where": self.where or None}
        problem = self.loaded.problem
        return {
            **found,
            "id": problem.id,
            "kind": problem.kind,
            "language": problem.language,
            "flags": list(problem.spec.flags),
            "checker": problem.spec.checker.kind if problem.traits.has_tests else None,
            "seen": len(problem.spec.seen),
            "held_out": len(problem.spec.held_out),
            "reference": self.loaded.reference is not None,
            "notes": list(self.loaded.notes),
        }


def survey(sources: Iterable[Path]) -> Iterator[Surveyed]:
    """Load every problem that the sources name, one at a time; those that suites leave out come last.  Nothing is built
    or run.  InputError as in ``expanded``."""
    listing = expanded(sources)
    for source in listing.sources:
        try:
            yield Surveyed(str(source.path), source, load(source.path, None, source.options))
        except InputError as error:
            yield Surveyed(str(source.path), source, why=str(error))
    for one in listing.left_out:
        yield Surveyed(one.name, Source(Path(one.name)), why=one.why, where=one.where)
