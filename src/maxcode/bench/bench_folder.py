"""``bench.toml``: on which terms the cells of a folder were run, so that a repeated command cannot mix two benches,
and which cells there are, so that what is finished can be read without running anything."""

from __future__ import annotations

import fcntl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import tomli_w

from maxcode.bench.bench_runs import BenchRun, cells
from maxcode.bench.rows import finished
from maxcode.bench.runner import BenchState
from maxcode.core.budget import Budget, budget_of
from maxcode.core.files import write_whole
from maxcode.errors import InputError, RecordError
from maxcode.run.record import header_in

HEADER = "bench.toml"
_LOCK = "bench.lock"  # a file of its own: the header is replaced, and a lock on it would go with the old one


@final
@dataclass(frozen=True, slots=True)
class Planned:
    """What a bench is made of: its cells, the budget of each, and the figures that are its own (``figures.SUITES``);
    ``terms`` are equal for all cells, ``digests`` those of its problems, by id; ``unusable``: the problems that its
    suites list and that could not be loaded."""

    cells: tuple[BenchRun, ...]
    budget: Budget
    suites: tuple[str, ...]
    terms: Mapping[str, object] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    unusable: tuple[str, ...] = ()


def claim(
    out: Path,
    terms: Mapping[str, object],
    problems: Mapping[str, str],
    plan: Mapping[str, Sequence[object]] | None = None,
) -> None:
    """Write the terms (equal for every cell) and the problems' digests by id, or compare them with those there.

    ``plan``: the methods, seeds, suites and unusable problems, in order.  Any of them may be added later.  Raises
    RecordError that names what differs, InputError where the folder cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with open(out / _LOCK, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed: nobody's entries come between reading and writing
            header = {**terms, **_joined(out, terms, problems, plan or {})}
            write_whole(out / HEADER, tomli_w.dumps(header).encode())
    except OSError as error:
        raise InputError(f"cannot write to the output folder {out}: {error.strerror}; choose another --out") from error


def _joined(
    out: Path, terms: Mapping[str, object], problems: Mapping[str, str], plan: Mapping[str, Sequence[object]]
) -> dict[str, object]:
    """The problems and the plan with those there; RecordError where the folder holds another bench."""
    known: dict[str, str] = {}
    before: dict[str, list[object]] = {}
    if (out / HEADER).exists():
        old = header_in(out / HEADER)
        known, before = old.pop("problems", {}), old.pop("plan", {})
        _compare(out, old, terms, {name: (known[name], new) for name, new in problems.items() if name in known})
    joined = {key: list(dict.fromkeys([*before.get(key, ()), *more])) for key, more in plan.items()}
    return {"problems": {**known, **problems}, "plan": {**before, **joined}}


def planned(out: Path) -> Planned:
    """What the bench in ``out`` is made of; InputError where there is none."""
    path = out / HEADER
    if not path.exists():
        raise InputError(f"{out} holds no bench: there is no {path}; give the folder that `maxcode bench --out` wrote")
    found = header_in(path)
    plan, digests = found.pop("plan", {}), found.pop("problems", {})
    if not plan.keys() >= {"methods", "seeds"}:
        raise InputError(f"{path} does not say which methods and seeds there are; repeat the command that made it")
    return Planned(
        cells(list(digests), plan["methods"], plan["seeds"]),
        budget_of(str(found["budget"])),
        tuple(plan.get("suites", ("maxcode",))),
        found,
        digests,
        tuple(plan.get("unusable", ())),
    )


def read_bench(out: Path, plan: Planned) -> BenchState:
    """The rows that are finished, at any time; nothing is run."""
    rows = {cell: finished(cell, out / cell.name, plan.budget.candidates) for cell in plan.cells}
    return BenchState(
        tuple(row for row in rows.values() if row is not None),
        left=tuple(cell for cell, row in rows.items() if row is None),
    )


def _compare(
    out: Path, old: Mapping[str, object], new: Mapping[str, object], digests: Mapping[str, tuple[str, str]]
) -> None:
    keys = sorted(old.keys() | new.keys())
    differing = [f"{key} was {old.get(key)!r}, now {new.get(key)!r}" for key in keys if old.get(key) != new.get(key)]
    differing += [f"the problem {name} has changed" for name, (before, now) in digests.items() if before != now]
    if differing:
        raise RecordError(
            f"{out} holds another bench ({'; '.join(differing)}); choose another --out, or repeat the first command"
        )
