"""``bench.toml``: the terms and the cells of a bench.

The terms keep a repeated command from mixing two benches.  The cells let finished runs be read without a new run.
"""

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
_LOCK = "bench.lock"  # a separate file: the header is replaced, and a lock on it would be lost


@final
@dataclass(frozen=True, slots=True)
class Planned:
    """The content of a bench.

    ``cells``, ``budget``  the runs, and the budget of each
    ``suites``             whose figures the table shows (``figures.SUITES``)
    ``terms``              the settings of all cells; ``digests``: those of its problems, by id
    ``unusable``           problems that its suites list and that could not be loaded
    ``own``                the candidates of the methods whose preset fixes them
    """

    cells: tuple[BenchRun, ...]
    budget: Budget
    suites: tuple[str, ...]
    terms: Mapping[str, object] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    unusable: tuple[str, ...] = ()
    own: Mapping[str, int] = field(default_factory=dict)

    def candidates(self, method: str) -> int:
        """The candidates that each run of a method may take."""
        return self.own.get(method, self.budget.candidates)


def claim(
    out: Path,
    terms: Mapping[str, object],
    problems: Mapping[str, str],
    plan: Mapping[str, Sequence[object]] | None = None,
) -> None:
    """Writes the terms and the problems' digests by id, or compares them with the existing ones.

    ``plan``: the methods, seeds, suites, unusable problems and own budgets (METHOD=CANDIDATES), in order; later
    commands may add to it.  Raises RecordError, which names the differences, and InputError if the folder cannot be
    written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with open(out / _LOCK, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed: no other process writes between read and write
            header = {**terms, **_joined(out, terms, problems, plan or {})}
            write_whole(out / HEADER, tomli_w.dumps(header).encode())
    except OSError as error:
        raise InputError(f"cannot write to the output folder {out}: {error.strerror}; choose another --out") from error


def _joined(
    out: Path, terms: Mapping[str, object], problems: Mapping[str, str], plan: Mapping[str, Sequence[object]]
) -> dict[str, object]:
    """Adds the problems and the plan to the existing ones; raises RecordError if the folder holds another bench."""
    known: dict[str, str] = {}
    before: dict[str, list[object]] = {}
    if (out / HEADER).exists():
        old = header_in(out / HEADER)
        known, before = old.pop("problems", {}), old.pop("plan", {})
        _compare(out, old, terms, {name: (known[name], new) for name, new in problems.items() if name in known})
    joined = {key: list(dict.fromkeys([*before.get(key, ()), *more])) for key, more in plan.items()}
    return {"problems": {**known, **problems}, "plan": {**before, **joined}}


def planned(out: Path) -> Planned:
    """The content of the bench in ``out``; raises InputError if there is none."""
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
        {method: int(count) for method, _, count in (one.rpartition("=") for one in plan.get("budgets", ()))},
    )


def read_bench(out: Path, plan: Planned) -> BenchState:
    """The finished rows, at any time; runs nothing."""
    rows = {cell: finished(cell, out / cell.name, plan.candidates(cell.method)) for cell in plan.cells}
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
