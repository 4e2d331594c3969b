"""Inputs that the given ones hardly show: sorted, with few values, and beyond all of them."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program, ProgramSpec, State, Step
from maxcode.errors import InputError
from maxcode.evaluate.inputs.amplify import Amplified, with_larger
from maxcode.evaluate.inputs.enlarge import larger
from maxcode.evaluate.inputs.format_model import Understood, understand
from maxcode.evaluate.inputs.fresh import FAILED, GIVEN_ONLY
from maxcode.evaluate.inputs.invariants import Span
from maxcode.evaluate.inputs.mutate import is_explained
from maxcode.evaluate.inputs.one_unlike import one_unlike
from maxcode.evaluate.inputs.unusual import SIZES_BEYOND, VALUES_BEYOND, fields_of, habit, is_possible, stated, wider
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input, unadmitted
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.run.certificate.doubts import findings_of
from maxcode.sandbox.sandbox import Blob, Sandbox
from tests.evaluate.test_mutate import a_graph, a_list, a_permutation, a_sorted_list_with_queries, cases, given_by
from tests.evaluate.test_unseen import FAST, SIZES, SLOW, problem_of
from tests.support.rules import SHORT


def numbers(text: str) -> list[list[int]]:
    return [[int(word) for word in line.split()] for line in text.splitlines()]


def many(given: Understood, domain: tuple[str, ...] = ()) -> list[list[list[int]]]:
    limits = stated(given, domain)
    drafts = [wider(given, limits, str(number), number) for number in range(60)]
    return [numbers(one.text) for one in drafts if one is not None]


def test_wider_inputs_reach_the_ends_of_their_domain_and_never_leave_it() -> None:
    given = given_by(a_list, 3)
    low, high = (pick(x for text in given.texts for x in numbers(text)[1]) for pick in (min, max))
    found = many(given, ("1..100", "-70..90"))
    values = [x for text in found for x in text[1]]
    assert (min(values), max(values)) == (-70, 90)
    assert -70 < low < high < 90
    assert all(text[0][0] == len(text[1]) <= 100 for text in found)
    assert max(text[0][0] for text in found) > max(text[0][0] for text in map(numbers, given.texts))


def test_sizes_go_down_to_the_end_of_their_domain_and_between_multiples_where_it_is_stated() -> None:
    rng = random.Random(5)
    sizes = (20, 50, 400, 1000)
    given = understand([f"{n}\n{' '.join(str(rng.randrange(10**6)) for _ in range(n))}\n" for n in sizes])
    found = {one[0][0] for one in many(given, ("3..2000", "0..1000000"))}
    assert 3 in found and any(3 < n < 20 for n in found) and any(n > 20 and n % 10 for n in found)
    assert min(found) == 3
    assert not any(n < 20 or (n < 1000 and n % 10) for n in (one[0][0] for one in many(given)))
    edges = given_by(a_graph, 4)
    assert min(one[0][1] for one in many(edges)) >= min(int(text.split()[1]) for text in edges.texts)


def test_what_the_given_inputs_show_of_their_structure_stays() -> None:
    for text in many(given_by(a_graph, 4)):
        (n, m), *edges = text
        assert m == len(edges)
        assert all(1 <= one <= n for edge in edges for one in edge[:2])
    for text in many(given_by(a_sorted_list_with_queries, 4)):
        assert text[1] == sorted(text[1])
    for text in many(given_by(a_permutation, 4)):
        assert sorted(text[1]) == list(range(1, text[0][0] + 1))


def test_values_without_a_domain_are_of_the_signs_that_were_given() -> None:
    rng = random.Random(5)
    given = understand([f"3\n{rng.randint(5, 30)} {rng.randint(5, 30)} {rng.randint(5, 30)}\n" for _ in range(9)])
    found = [x for text in many(given) for x in text[1]]
    assert min(found) >= 5
    assert 30 < max(found) <= 4 * 30


def test_values_stay_within_the_integer_type_that_holds_the_given_ones() -> None:
    rng = random.Random(6)
    far = 1_000_000_000
    given = understand(["3\n{} {} {}\n".format(*(rng.randint(-far, far) for _ in range(3))) for _ in range(9)])
    found = [x for text in many(given) for x in text[1]]
    assert far < max(found) < 1 << 31 and -(1 << 31) <= min(found) < -far


def test_habits_break_no_fact_of_the_given_inputs() -> None:
    given = given_by(a_list, 6)
    drafts = [one for number in range(30) if (one := habit(given, str(number))) is not None]
    assert {how for one in drafts for how in one.how} == {"sorted", "with few values"}
    assert all(is_explained(given, one.text) for one in drafts)
    lists = [numbers(one.text)[1] for one in drafts]
    assert any(len(set(one)) <= 3 < len(one) for one in lists)
    assert any(one == sorted(one) and len(set(one)) > 3 for one in lists)


def test_cases_are_never_sorted_and_their_lists_may_hold_few_values() -> None:
    given = given_by(cases, 6)
    drafts = [one for number in range(30) if (one := habit(given, str(number))) is not None]
    assert {how for one in drafts for how in one.how} == {"with few values"}
    assert all(is_explained(given, one.text) for one in drafts)


def test_one_item_of_a_long_text_is_like_another_where_the_given_ones_show_that() -> None:
    """Though there are short texts; where all are different in each, they stay so."""
    rng = random.Random(3)
    long = [rng.sample(range(10**12), 20_000) for _ in range(2)]
    for short, repeats in (([5, 5, 7], True), ([5, 6, 7], False)):
        lists = [short, rng.sample(range(99), 30), rng.sample(range(99), 9), *long]
        given = understand([f"{len(one)}\n{' '.join(map(str, one))}\n" for one in lists])
        made = [one for seed in range(12) if (one := one_unlike(given, f"{seed}")) is not None]
        lines = [numbers(one.text)[1] for one in made if len(one.text) > 200_000]
        assert len(lines) >= 3
        assert any(len(set(one)) == len(one) - 1 for one in lines) == repeats
        assert repeats or all(len(set(one)) == len(one) for one in lines)
        assert all(is_explained(given, one.text) for one in made)


def test_a_domain_that_does_not_fit_to_the_given_inputs_is_refused() -> None:
    given = given_by(a_list, 7)
    assert len(list(fields_of(given.shapes[0].shape))) == 2
    with pytest.raises(InputError, match="has 1 entries, but the given inputs hold 2 kinds of numbers"):
        stated(given, ("1..100",))
    with pytest.raises(InputError, match=r"entry 2 is '0\.\.5', but the given inputs hold -48"):
        stated(given, ("1..100", "0..5"))
    with pytest.raises(InputError, match="format can be read: the format is read from 3"):
        stated(understand(["1\n"]), ("1..100",))


def weights(rng: random.Random) -> str:
    """A list of decimal numbers, and limits in whole ones."""
    n = rng.randint(5, 30)
    return f"{n}\n" + " ".join(f"{rng.uniform(0.5, 9):.1f}" for _ in range(n)) + f"\n{rng.randint(1, 10**6)}\n"


def test_decimal_numbers_keep_no_other_from_going_beyond_the_given_ones() -> None:
    given = given_by(weights, 4)
    known = given.shapes[0]
    limits = stated(given, ("1..60", "drawn", "any"))
    found = [one for turn in range(12) for way in (limits, {}) if (one := wider(given, way, f"{turn}", turn))]
    assert {one.how[0] for one in found} == {SIZES_BEYOND, VALUES_BEYOND}
    shown = known.facts["range", (1, 1), 0]
    assert isinstance(shown, Span)
    for text in (one.text for one in found):
        assert all(shown.low <= float(word) <= shown.high for word in text.splitlines()[1].split())
    base = min(given.texts, key=len)
    assert larger(given, base, 2, "seed", partial(is_possible, given, limits)) is not None
    with pytest.raises(InputError, match=r"entry 2 is '\[0, 10\)', but .* decimal numbers from 0\.\d+ to .*\"any\""):
        stated(given, ("1..60", "[0, 10)", "any"))


def test_a_domain_that_does_not_fit_is_told_at_the_admission(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    problem = problem_of(tmp_path, SIZES)
    wrong = replace(problem, spec=replace(problem.spec, domain=("1..4", "any")))
    with pytest.raises(InputError, match=r"entry 1 is '1\.\.4', but the given inputs hold"):
        anyio.run(ProgramEvaluator(sandbox, builder).admit, wrong)
    unused = replace(wrong, spec=replace(wrong.spec, made=0))
    assert anyio.run(ProgramEvaluator(sandbox, builder).admit, unused).timed


def test_larger_inputs_that_end_sooner_when_they_are_run_again_are_told_as_such() -> None:
    problem = Problem("short", "program", "c", Program({"a.c": ""}), ProgramSpec())
    short = unadmitted(problem, ("not measurable: the test takes 1 ms",))
    quick = Input("larger-1", Blob.of(b"1"), b"1", "made", 0.018)
    found = with_larger(short, Amplified((quick,), "4 times (its number)"))
    (note,) = found.notes
    assert found.timed == ()
    assert note.startswith("not measurable: the original's slowest test, larger-1, takes 18.00 ms")
    assert note.endswith("(maxcode made it: 4 times (its number); it took longer when it was run for the first time)")


UNCLEAN = "for (int i = 0; i < n; i++) if (a[i] > 100 && a[n + 1] == 12345678) best++;\n    printf"


def test_inputs_that_are_made_larger_stay_within_their_domain() -> None:
    given = given_by(a_list, 3)
    base = max(given.texts, key=len)
    count = numbers(base)[0][0]
    for most, is_made in ((4 * count, True), (4 * count - 1, False)):
        limits = stated(given, (f"0..{most}", "any"))
        found = larger(given, base, 4, "seed", partial(is_possible, given, limits))
        assert (found is not None) is is_made
    assert larger(given, base, 4, "seed", partial(is_possible, given, {})) is not None
    many_cases = given_by(cases, 6)
    base = max(many_cases.texts, key=len)
    limits = stated(many_cases, ("1..1000", "1..6", "any"))
    text = larger(many_cases, base, 4, "seed", partial(is_possible, many_cases, limits))
    assert text is not None and numbers(text)[0][0] == 4 * numbers(base)[0][0]  # more cases, none of them larger


CLIPPED = FAST.replace("here = here + x", "if (x > 100) x = 100;\n        here = here + x")


@pytest.fixture(scope="module")
def bench(sandbox: Sandbox, builder: Builder) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder, SHORT)


def settled(bench: ProgramEvaluator, problem: Problem, text: str) -> Evaluation:
    async def both() -> Evaluation:
        admitted = await bench.admit(problem)
        action = Action(admitted.problem.program.with_text(text))
        found = await bench.evaluate(admitted.problem, action)
        assert found.outcome is Outcome.CORRECT
        state = State(admitted.problem, State(admitted.problem), Step(action, found, 1.0), (1, 0))
        return (await bench.settle(admitted.problem, [state], None))[state.id]

    return anyio.run(both)


def test_a_program_that_is_right_on_the_given_values_alone_is_found(bench: ProgramEvaluator, tmp_path: Path) -> None:
    assert CLIPPED != FAST
    plain = problem_of(tmp_path, SIZES)
    doubtful = settled(bench, plain, CLIPPED)
    assert doubtful.outcome is Outcome.CORRECT
    (doubt,) = findings_of(doubtful)
    assert doubt.startswith(f"{GIVEN_ONLY}: wrong on ") and "(one is '" in doubt
    known = replace(plain, spec=replace(plain.spec, domain=("1..20000", "-1000..1000")))
    assert settled(bench, known, CLIPPED).feedback.reasons == (FAILED,)
    narrow = replace(plain, spec=replace(plain.spec, domain=("1..15500", "-100..100")))
    assert findings_of(settled(bench, narrow, CLIPPED)) == ()


def test_sanitizers_look_at_the_original_on_guessed_inputs_only_where_a_winner_is_wrong(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    """On a value beyond the given ones this original reads what it may not, so a wrong answer there proves nothing."""
    unclean = SLOW.replace("printf", UNCLEAN)
    assert unclean != SLOW
    for original, finds in ((SLOW, True), (unclean, False)):
        folder = tmp_path / str(finds)
        folder.mkdir()
        problem, bench = problem_of(folder, SIZES, original), ProgramEvaluator(sandbox, builder, SHORT)
        assert findings_of(settled(bench, problem, FAST)) == ()
        assert not bench._unseen._clean
        assert bool(findings_of(settled(bench, problem, CLIPPED))) is finds
        assert bench._unseen._clean
