"""What the prompts of a training show, and which programs it knows already."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.search.archive import Kept
from maxcode.testing import Table
from maxcode.train.advantages import Advantage
from maxcode.train.diversity import BEFORE, ArchiveProgress, Diversity
from maxcode.train.judge import Judge, Rules
from maxcode.train.measuring import Measuring
from maxcode.train.prompts import Compact
from maxcode.train.rewards import Shaped

KERNEL = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2.0; }\n"
PROBLEM = Problem("scale", "program", "c", Program({"k.c": KERNEL}), ProgramSpec())


def numbered(n: float) -> str:
    return KERNEL.replace("2.0", f"{n:.1f}")


def test_fast_kernels_are_shown_more_often_if_they_are_favoured() -> None:
    def shares(favour: float) -> list[float]:
        found = ArchiveProgress([PROBLEM], 2, Diversity(None, shown=1.0, favour=favour))
        kept = [Kept((str(n),), PROBLEM.program.with_text(numbered(n)), n, BEFORE) for n in (9.0, 3.0, 6.0)]
        found.begin({"scale": kept})
        shown = [row.shown.quality for row in map(found.row, range(600)) if row.shown is not None]
        return [shown.count(quality) / 600 for quality in (9.0, 6.0, 3.0)]

    assert shares(1.0) == pytest.approx([1 / 3] * 3, abs=0.06)
    assert shares(3.0) == pytest.approx([(1 / 3) ** (1 / 3), (2 / 3) ** (1 / 3) - (1 / 3) ** (1 / 3), 0.126], abs=0.06)


def test_a_program_is_known_once_it_is_measured_or_the_archive_began_with_it(tmp_path: Path) -> None:
    rules = Rules(Compact(), Shaped(), Advantage("max_at_k", k=2))
    table = Table(rule=lambda text: 2.0 if "*=" in text else None)
    one = Judge(ArchiveProgress([PROBLEM], 1, Diversity(None)), Measuring(table, None, tmp_path), rules, tmp_path)
    program = PROBLEM.program.with_text(numbered(5))
    one.progress.begin({"scale": [Kept((), program, 5.0, BEFORE)]})
    for number, texts in enumerate(([numbered(1), numbered(2), numbered(3), ""], [numbered(n) for n in (6, 7, 8, 9)])):
        one.judge([number] * 4, texts)
        one.finish()
    assert [n for n in range(1, 10) if one.has("scale", "\n" + numbered(n))] == [1, 2, 3, 5, 6, 7, 8, 9]
    one.resume(1)
    assert [n for n in range(1, 10) if one.has("scale", numbered(n))] == [1, 2, 3, 5]
