"""Schedules: text that makes the same program as the steps that it names, and errors that say what is possible."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.code.techniques import used
from maxcode.errors import InputError
from maxcode.policy.rules.kernels.outline import outline
from maxcode.policy.rules.kernels.schedule import Taken, applied, mark, needs, offers, read, walk, written
from maxcode.policy.rules.kernels.steps import ALL, Permitted, offered
from tests.support.selection import some

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = [
    path
    for folder in sorted(EXAMPLES.iterdir())
    for path in (*folder.glob(f"{folder.name}.c"), *folder.glob("slow.c"), *folder.glob("slow.cpp"))
]
ANY = Permitted(threads=True)
ROUNDS = 6
GEMM = (EXAMPLES / "gemm" / "gemm.c").read_text(encoding="utf-8")
LABELS = [edit.label for _, edits in offered(Unit("c", GEMM), Permitted()) for edit in edits]


def language(path: Path) -> str:
    return "cpp" if path.suffix == ".cpp" else "c"


def walked(text: str, of: str, draw: int, allowed: Permitted = ANY) -> list[Taken]:
    return list(walk(text, of, random.Random(draw), 5, allowed))


def schedule(taken: Iterable[Taken]) -> str:
    return written(one.label for one in taken)


@pytest.mark.parametrize("path", some(SOURCES, 6), ids=lambda path: path.parent.name)
def test_a_random_schedule_read_back_makes_the_same_program_byte_for_byte(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for draw in range(ROUNDS):
        taken = walked(text, language(path), draw)
        for count in range(1, len(taken) + 1):
            assert applied(text, language(path), schedule(taken[:count]), ANY) == taken[count - 1].program


def test_the_numeric_examples_have_schedules() -> None:
    lengths = {path.parent.name: len(walked(path.read_text(encoding="utf-8"), language(path), 1)) for path in SOURCES}
    numeric = {"correlation", "gemm", "heat", "stencil", "threemm", "trsm"}
    assert {name for name, length in lengths.items() if length >= 2} >= numeric


def test_every_edit_that_is_offered_is_a_legal_line_and_no_two_have_the_same() -> None:
    assert len(set(LABELS)) == len(LABELS) > 100
    assert list(offers("c", GEMM, Permitted(), GEMM)) == LABELS
    edits = {edit.label: edit for _, found in offered(Unit("c", GEMM), Permitted()) for edit in found}
    for label in LABELS[::9]:
        (line,) = read(written([label]))
        assert line.label == label
        assert (line.step, line.subject) == (edits[label].rule, edits[label].site)
        assert line.parameters == tuple(f"{name}={value}" for name, value in edits[label].params)
        assert applied(GEMM, "c", label, Permitted()) != GEMM


def test_layout_means_nothing() -> None:
    plain = applied(GEMM, "c", "accumulate(j in gemm)\ntile(p in gemm, size=64)\n", Permitted())
    loose = "\n  accumulate ( j in  gemm )\n\n\ttile(p in gemm ,size = 64)"
    assert applied(GEMM, "c", loose, Permitted()) == plain != GEMM
    assert applied(GEMM, "c", "", Permitted()) == GEMM


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tile", r"line 1 of the schedule is 'tile'; write step\(subject, name=value, \.\.\.\), such as tile\("),
        ("\ntile(j in gemm, 64)", "line 2 of the schedule is 'tile.j in gemm, 64.'; write"),
        ("tyle(j in gemm, size=64)", "there is no step 'tyle'; did you mean 'tile'.; possible here: product, "),
        ("order(i in gemm, loops=i_p_j)", "the step 'order' is not possible here; possible here: product, interchange"),
        ("tile(q in gemm, size=64)", "'tile' is not possible for 'q in gemm'; possible for: j in gemm$"),
        ("tile(j in gemm, size=65)", r"'size=65' is not possible after 'tile\(j in gemm'; possible: size=8, size=16"),
        ("tile(j in gemm)", r"a parameter is missing after 'tile\(j in gemm'; possible: size=8, size=16"),
        ("accumulate(j in gemm, size=8)", "'size=8' is not possible after .*; nothing more belongs there"),
        ("product(i in gemm, template=direct, MR=7)", "'MR=7' .* template=direct'; possible: MR=2, MR=4, MR=6"),
        ("accumulate(j in gemm)\naccumulate(j in gemm)", "line 2 of the schedule is 'accumulate.j in gemm.': the step"),
    ],
)
def test_a_line_that_is_not_legal_is_refused_with_what_is_possible(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        applied(GEMM, "c", text, Permitted())


def test_steps_whose_techniques_are_not_permitted_are_not_legal() -> None:
    with pytest.raises(InputError, match="the step 'tile' is not permitted; possible here: "):
        applied(GEMM, "c", "tile(j in gemm, size=64)", Permitted(frozenset({"simd"})))
    packed = "product(i in gemm, template=packed, MR=2, NV=1, VL=2)"
    with pytest.raises(InputError, match="'template=packed' is not possible"):
        applied(GEMM, "c", packed, Permitted(frozenset({"simd", "tiling", "unrolling"})))
    assert needs(packed) == {"simd", "tiling", "unrolling", "packing"}


def test_a_program_without_a_step_has_no_schedule() -> None:
    with pytest.raises(InputError, match="no step is possible here; leave out this line"):
        applied("int x;\n", "c", "restrict(f)", Permitted())
    assert walked("int x;\n", "c", 1) == []


@pytest.mark.parametrize(
    "permitted", [frozenset(), frozenset({"restrict", "simd"}), frozenset({"tiling", "unrolling"})]
)
def test_random_schedules_keep_to_what_is_permitted(permitted: frozenset[str]) -> None:
    allowed = Permitted(permitted)
    for draw in range(ROUNDS):
        for one in (taken := walked(GEMM, "c", draw, allowed)):
            assert used("c", one.program) <= permitted
        assert needs(schedule(taken)) <= permitted
        assert applied(GEMM, "c", schedule(taken), allowed) == (taken[-1].program if taken else GEMM)


def needless(text: str, taken: list[Taken], allowed: Permitted) -> list[str]:
    """The lines of a schedule that make a program which it has had, or which one line makes of an earlier one."""
    found, passed, before = [], {mark(text)}, text
    for number, one in enumerate(taken):
        if mark(one.program) in passed:
            found.append(schedule(taken[: number + 1]))
        passed.update(offers("c", before, allowed, text).values())
        before = one.program
    return found


def test_random_schedules_have_no_needless_line() -> None:
    """Tiles and their sizes alone: a tile of another size is one line, and so is the order of loops."""
    allowed, begin = Permitted(frozenset({"tiling"})), "tile(j in gemm, size=16)\n"
    begun = Taken("", applied(GEMM, "c", begin, allowed))
    lines = 0
    for draw in range(2 * ROUNDS):
        taken = walked(GEMM, "c", draw, allowed)
        lines += len(taken)
        assert needless(GEMM, taken, allowed) == []
        further = list(walk(GEMM, "c", random.Random(draw), 2, allowed, begin))
        assert needless(GEMM, [begun, *further], allowed) == [], "nor one that is so because of the lines before"
    assert lines > 3 * ROUNDS


def test_the_same_draw_gives_the_same_schedule() -> None:
    assert walked(GEMM, "c", 7) == walked(GEMM, "c", 7)
    assert len({schedule(walked(GEMM, "c", draw)) for draw in range(10)}) > 7
    assert {read(schedule(walked(GEMM, "c", draw)))[0].step for draw in range(10)} <= {step.rule.name for step in ALL}


def test_an_outline_names_functions_loops_and_elements_as_schedules_do() -> None:
    text = (EXAMPLES / "stencil" / "stencil.c").read_text(encoding="utf-8")
    assert outline(Unit("c", text))[:5] == ["stencil", ".x", "..y", "...z", "....at = z n y x"]
    twice = applied(GEMM, "c", "accumulate(j in gemm)", Permitted())
    assert outline(Unit("c", twice)) == [
        "gemm", ".i", "..j", "...C[i j] =", "..j#2", "...p", "....C[i j] += A[i p] B[p j]"
    ]  # fmt: skip
