"""Values beyond those drawn: made within what the problem says, and counted only where the original has an answer."""

from __future__ import annotations

import math
import random
import struct
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.phases import START, recording
from maxcode.core.types import Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.function.calls import calls_of
from maxcode.evaluate.function.function import Inputs, Shape, advised, plan_bytes, read_arrays, spec_of
from maxcode.evaluate.function.habits import FEW_FAR, HABITS, OF_ANY_SIZE, OF_FEW, TAKEN
from maxcode.evaluate.function.second_look import OriginalNearby, shape_of
from maxcode.evaluate.function.sizes import drawn_shapes, mixed_sizes, timed_shapes
from maxcode.evaluate.inputs.beyond import Beyond, beyond_shapes
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import job_for
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.lanes import free_place
from maxcode.sandbox.sandbox import Blob, Sandbox

TOML = """
kind = "function"
source = "f.c"
flags = ["-std=gnu17", "-O2"]
[function]
name = "f"
header = "f.h"
arguments = ["int n", "const double x[n]", "const long k[n]", "double y[n]", "long z[n]"]
timed = [{{ n = 500 }}]
checked = [{{ n = 3 }}, {{ n = 90 }}]
flop = "n"
{more}
"""
HEADER = "void f(int n, const double *x, const long *k, double *y, long *z);\n"
PLAIN = "for (int i = 0; i < n; i++) { y[i] = 2 * x[i]; z[i] = k[i] / 2; }"


def problem_of(folder: Path, more: str = "", body: str = PLAIN, inputs: str = "") -> Problem:
    (folder / "f.h").write_text(HEADER)
    (folder / "f.c").write_text(f'#include <math.h>\n#include "f.h"\n{HEADER.rstrip()[:-1]} {{ {body} }}\n')
    if inputs:
        (folder / "inputs.c").write_text(inputs)
        more += '\ninputs = "inputs.c"'
    (folder / "problem.toml").write_text(TOML.format(more=more))
    return load(folder).problem


def drawn(sandbox: Sandbox, problem: Problem, letter: str, n: int = 90, bits: int = 0) -> tuple[list[float], list[int]]:
    """x and k of a call whose arrays have a habit."""
    shape = Shape(spec_of(problem), (n,), 1, 0, (letter,) * 4, 1, bits=bits)
    plan = anyio.run(Inputs(sandbox, problem).fresh, shape).read()
    reals, wholes = [plan[part] for _, part in read_arrays(shape, plan_bytes(shape))]
    return list(struct.unpack(f"{n}d", reals)), list(struct.unpack(f"{n}q", wholes))


def test_every_habit_is_what_it_is_called(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    found = {letter: drawn(sandbox, problem, letter) for letter in ("u", *HABITS) if letter not in "ym"}
    assert all(-1 <= one < 1 for one in found["u"][0]) and all(abs(one) < 1000 for one in found["u"][1])
    assert max(map(abs, found["s"][0])) > 1.5 or max(map(abs, found["s"][0])) < 0.6
    assert max(map(abs, found["w"][0])) > 2
    assert 1 < max(map(abs, found["f"][0])) < 2**30
    assert min(found["p"][0]) >= 0 and min(found["p"][1]) >= 0
    assert max(found["n"][0]) <= 0 and max(found["n"][1]) <= 0
    assert 20 < found["z"][0].count(0) < 70 and 20 < found["z"][1].count(0) < 70
    assert len(set(found["r"][0])) <= 4 and len(set(found["r"][1])) <= 4
    assert found["o"][0] == sorted(found["o"][0]) and found["o"][1] == sorted(found["o"][1])
    assert found["d"][0] == sorted(found["d"][0], reverse=True)
    assert len(set(found["c"][0])) == len(set(found["c"][1])) == 1
    assert set(found["i"][0]) == set(found["i"][1]) == {-3, -2, -1, 0, 1, 2, 3}
    assert {2**63 - 1, -(2**63)} <= set(found["e"][1])
    assert max(map(abs, found["f"][1])) > 2**61
    assert found["k"][0].count(0) >= 1
    same, opposite = (drawn(sandbox, problem, letter, 20_000)[0] for letter in "ym")  # of few, one may be its own other
    assert len(set(same)) < 20_000
    assert {*opposite} & {-one for one in opposite}


def test_a_bound_on_whole_numbers_holds_for_all_but_their_ends(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    for letter in OF_ANY_SIZE:
        assert max(map(abs, drawn(sandbox, problem, letter, 400, 16)[1])) <= 2**16


def test_half_of_the_calls_with_a_few_values_unlike_the_others_have_one_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    shape = Shape(spec_of(problem), (500,), 20, 0, ("k",) * 4, 1, unusual=8)
    plan = anyio.run(Inputs(sandbox, problem).fresh, shape).read()
    zeros = [
        struct.unpack("500d", plan[part]).count(0)
        for kind, part in read_arrays(shape, plan_bytes(shape))
        if kind == "double"
    ]
    assert zeros.count(0) == 12
    assert zeros.count(1) >= 4


def test_no_call_before_a_place_is_unlike_the_usual_ones(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    shape = Shape(spec_of(problem), (500,), 20, 0, ("k",) * 4, 1, unusual=8, first=15)
    plan = anyio.run(Inputs(sandbox, problem).fresh, shape).read()
    zeros = [
        struct.unpack("500d", plan[part]).count(0)
        for kind, part in read_arrays(shape, plan_bytes(shape))
        if kind == "double"
    ]
    assert not any(zeros[:15])
    assert all(zeros[15:])


@pytest.mark.parametrize(("calls", "most"), [(1, 2), (2, 1), (3, 1), (8, 4), (10, 5), (40, 8)])
def test_half_of_the_calls_at_most_have_a_few_values_unlike_the_others(calls: int, most: int, tmp_path: Path) -> None:
    for _ in range(20):
        shapes = [one for one in beyond_shapes(problem_of(tmp_path, f"calls = {calls}")) if one.main in OF_FEW]
        assert {one.unusual for one in shapes} == {most}
        first = [one.first for one in shapes]
        assert max(first) >= 5 * (calls - 1) // 6  # a look at fewer calls than that tells nothing for all shapes
        assert min(first) <= calls // 6
        assert max(first) < calls


def test_some_calls_are_larger_than_all_that_are_given_and_keep_within_the_domain(tmp_path: Path) -> None:
    drawn = {shape.sizes[0] for _ in range(20) for shape in beyond_shapes(problem_of(tmp_path))}
    assert {3, 90, 500} < drawn
    assert 500 < max(drawn) <= 563 and max(drawn - {500}) > 500
    bounded = problem_of(tmp_path, 'domain = { n = "1..500" }')
    assert {shape.sizes[0] for _ in range(20) for shape in beyond_shapes(bounded)} == {3, 90, 500}


def test_a_wrong_answer_at_a_larger_size_says_which_size_may_be_the_cause(tmp_path: Path) -> None:
    spec = spec_of(problem_of(tmp_path))
    within, larger = (advised(Shape(spec, (n,), 2, 0, ("w",) * 4, 1, "w"), "z is wrong") or "" for n in (500, 510))
    assert larger.startswith("z is wrong; n=510 is beyond the largest given one, n=500, which may be the cause")
    assert "largest" not in within and within.endswith("say so with `domain` in problem.toml")
    assert advised(Shape(spec, (510,)), "z is wrong") == "z is wrong"


@pytest.mark.parametrize("letter", ["u", *HABITS])
def test_values_keep_within_their_domain(letter: str, sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path, 'domain = { x = "(0, 2]", k = "0..n-1" }')
    reals, wholes = drawn(sandbox, problem, letter, 40)
    assert all(0 < one <= 2 for one in reals)
    assert all(0 <= one < 40 for one in wholes)
    signs = problem_of(tmp_path, 'domain = { x = "nonnegative", k = "positive" }')
    reals, wholes = drawn(sandbox, signs, letter, 40)
    assert all(0 <= one < math.inf for one in reals)
    assert all(0 < one < 2**63 for one in wholes)


def test_two_streams_of_values_share_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    one, other = (drawn(sandbox, problem, "u")[0] for _ in range(2))
    assert not set(one) & set(other)
    bits = Counter(int((value + 1) * 2**52) >> at & 1 for value in one + other for at in range(20))
    assert abs(bits[0] - bits[1]) < 5 * math.sqrt(sum(bits.values()))


def made(sandbox: Sandbox, problem: Problem, cache: Path) -> tuple[Input, ...]:
    async def proven() -> tuple[Input, ...]:
        builder = Builder(sandbox, cache)
        built = await builder.build(problem, problem.program, final=True)
        assert built.artefact is not None, built.diagnostics
        nearby = OriginalNearby(built.artefact)
        return await Beyond(builder, problem, nearby, Inputs(sandbox, problem)).made("seen")

    return anyio.run(proven)


def habits_of(inputs: Sequence[Input], array: int) -> set[str]:
    return {shape_of(one).habits[array] for one in inputs}


def test_an_original_that_is_right_everywhere_is_asked_in_every_way(sandbox: Sandbox, tmp_path: Path) -> None:
    found = made(sandbox, problem_of(tmp_path), tmp_path)
    assert len(found) == len({one.name for one in found}) == len(HABITS) + 1
    assert Counter(shape_of(one).main for one in found) == {**dict.fromkeys(HABITS, 1), FEW_FAR: 2}
    assert all(one.second_look is not None and one.expected is not None for one in found)


@pytest.mark.parametrize("is_free", [True, False])
def test_sanitizers_look_while_the_original_is_asked_again_where_a_place_is_free(
    is_free: bool, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Who holds every place to build does not wait for itself: then one comes after the other."""
    problem = problem_of(tmp_path)

    async def proven() -> tuple[Input, ...]:
        builder = Builder(sandbox, tmp_path, keeps=False)
        built = await builder.build(problem, problem.program, final=True)
        assert built.artefact is not None, built.diagnostics
        beyond = Beyond(builder, problem, OriginalNearby(built.artefact), Inputs(sandbox, problem))
        async with AsyncExitStack() as stack:
            while not is_free and await stack.enter_async_context(free_place()):
                pass
            return await beyond.made("seen")

    with recording() as recorder:
        assert len(anyio.run(proven)) == len(HABITS) + 1
    began = [(one.stage, one.activity) for one in recorder.profile().phases]
    build, again = began.index(("sanitizers", "build")), began.index(("steady answers", "run"))
    assert (build < again) is is_free


def test_all_plans_of_an_admission_are_made_in_one_session(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = problem_of(tmp_path)

    async def asked() -> list[Input]:
        inputs = Inputs(sandbox, problem)
        await inputs.require_fresh(timed_shapes(problem)[0])  # the generator is built
        with recording() as recorder:
            found = await calls_of(problem, inputs)
        (started,) = [one.count for one in recorder.profile().phases if one.activity == START]
        assert started == len(timed_shapes(problem)) + 1
        return found

    found = anyio.run(asked)
    assert len({one.stdin.sha256 for one in found}) == len(found) > 4


def test_what_overflows_or_ends_in_nan_is_held_against_nobody(sandbox: Sandbox, tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) { y[i] = sqrt(x[i] + 1); z[i] = 3 * k[i]; }"
    found = made(sandbox, problem_of(tmp_path, body=body), tmp_path)
    many = [one for one in found if shape_of(one).sizes[0] >= 90]  # three values may happen to be small
    assert found
    assert not habits_of(many, 1) & {"e", "f"}


def test_a_quotient_of_roundings_is_held_against_nobody(sandbox: Sandbox, tmp_path: Path) -> None:
    """The mean of equal numbers is off by a rounding, and what is left is divided by its own size."""
    body = (
        "double mean = 0, size = 0; for (int i = 0; i < n; i++) mean += x[i] / n; "
        "for (int i = 0; i < n; i++) size += fabs(x[i] - mean); "
        "for (int i = 0; i < n; i++) { y[i] = (x[i] - mean) / (size + 1e-300); z[i] = k[i]; }"
    )
    found = made(sandbox, problem_of(tmp_path, body=body), tmp_path)
    assert found
    assert "c" not in habits_of(found, 0)


def test_what_inputs_c_writes_stays_as_it_writes_it_unless_the_problem_says_more(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    inputs = (
        "void inputs(unsigned long seed, int n, double *x, long *k) { (void)x;\n"
        "for (int i = 0; i < n; i++) k[i] = (long)(seed % 1000) + i; }\n"
    )
    problem = problem_of(tmp_path, inputs=inputs)
    own = anyio.run(Inputs(sandbox, problem).own_arrays)
    assert own == {"k"}
    shapes = beyond_shapes(problem, own)
    assert {one.habits[1] for one in shapes} == {"u"}
    assert {one.habits[0] for one in shapes} == set(HABITS)
    said = problem_of(tmp_path, 'domain = { k = "any", x = "drawn" }', inputs=inputs)
    assert anyio.run(Inputs(sandbox, said).own_arrays) == frozenset()
    assert {one.habits[0] for one in beyond_shapes(said)} == {"u"}
    usual = drawn(sandbox, said, "u")[1]
    assert usual == [*range(usual[0], usual[0] + 90)]
    assert len(set(drawn(sandbox, said, "c")[1])) == 1
    touched = problem_of(
        tmp_path, 'domain = { k = "any" }', inputs=inputs.replace("for (int i = 0; i < n; i++) k[i]", "int i = 0; k[0]")
    )
    found = drawn(sandbox, touched, "c")[1]
    assert found[0] < 1000 and len(set(found[1:])) == 1  # a part that it writes stays


def test_where_all_values_are_the_problems_own_larger_sizes_are_left(tmp_path: Path) -> None:
    shapes = beyond_shapes(problem_of(tmp_path), frozenset({"x", "k"}))
    assert [500 < one.sizes[0] <= 563 for one in shapes] == [True, True]
    assert {one.habits for one in shapes} == {("u",) * 4}
    assert not any(one.is_timed for one in shapes)
    problem = problem_of(tmp_path, 'domain = { n = "1..900" }')
    spec = replace(spec_of(problem), timed=((8,),), checked=((1,), (7,)), domain=(("n", "1..9"),))
    small = replace(problem, spec=replace(problem.spec, function=spec))
    shapes = beyond_shapes(small, frozenset({"x", "k"}))
    assert [one.sizes for one in shapes] == [(9,), (9,)] and len({one.name for one in shapes}) == 2
    drawn_too = {one.name for _ in range(50) for one in drawn_shapes(small)}
    assert any(name == "n=9" for name in drawn_too) and not drawn_too & {one.name for one in shapes}


def test_sizes_go_up_to_the_end_of_their_domain(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, 'domain = { n = "1..1500" }')
    sizes = [one.sizes[0] for _ in range(20) for one in drawn_shapes(problem)]
    assert max(sizes) > 500
    assert min(sizes) >= 1
    assert max(one.sizes[0] for _ in range(20) for one in drawn_shapes(problem_of(tmp_path))) <= 500


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('domain = { y = "any" }', "unknown argument in `domain`"),
        ('domain = { x = "smal" }', "cannot be read"),
        ('domain = { n = "1..100" }', "outside the domain"),
        ("tolerances = { x = 1e-3 }", "unknown array in `tolerances`"),
        ("tolerances = { y = 0.0 }", "must be above 0"),
    ],
)
def test_words_that_cannot_be_used_are_refused(more: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        problem_of(tmp_path, more)


def test_a_problem_that_says_nothing_new_is_the_same_as_before(tmp_path: Path) -> None:
    spec = spec_of(problem_of(tmp_path))
    assert not spec.said.keys() & {"tolerances", "domain", "moved"}
    assert replace(spec, domain=(("x", "any"),)).said["domain"]


def test_a_round_has_a_number_of_calls_that_nobody_is_told_of_before(sandbox: Sandbox, tmp_path: Path) -> None:
    """The function writes how many calls its process has had; what the driver is told is taken away before the call."""
    body = "static long calls; calls++; for (int i = 0; i < n; i++) { y[i] = 0; z[i] = calls; } (void)x; (void)k;"
    problem = problem_of(tmp_path, "slots = 8\ncalls = 4", body)
    told = problem_of(
        tmp_path,
        "slots = 8\ncalls = 4",
        "static volatile long *told; struct stat about; if (!told && !fstat(4, &about)) { char *at = mmap(0, "
        "(size_t)about.st_size, PROT_READ, MAP_SHARED, 4, 0); told = (volatile long *)(at + about.st_size - 4096); } "
        "for (int i = 0; i < n; i++) { y[i] = 0; z[i] = *told; } (void)x; (void)k;",
    )
    text = "#include <sys/mman.h>\n#include <sys/stat.h>\n" + told.program.text
    told = replace(told, program=Program({"f.c": text}))

    async def answered(problem: Problem) -> list[int]:
        built = await Builder(sandbox, tmp_path).build(problem, problem.program, final=True)
        assert built.artefact is not None, built.diagnostics
        shape = Shape(spec_of(problem), (3,), 4)
        given = Input("a", await Inputs(sandbox, problem).fresh(shape), None, "seen", workload=shape)
        async with sandbox.session([built.artefact, given.stdin], bare=True) as session:
            ran = await session.run(job_for(problem, built.artefact, given))
        assert ran.ok, ran
        assert 0 < ran.ready_s < 0.5
        return [struct.unpack_from("3d3q", ran.stdout, 48 * call)[3] for call in range(32)]

    assert anyio.run(answered, problem) == list(range(1, 33))
    assert anyio.run(answered, told) == [0] * 32


def test_static_initialisers_of_cpp_are_work_before_the_first_call(sandbox: Sandbox, tmp_path: Path) -> None:
    """They run before main; the driver that does nothing is built with the same libraries, which is not held against
    it."""
    problem = problem_of(tmp_path)
    header = HEADER.replace("void", 'extern "C" void')
    spec = replace(problem.spec, flags=("-O2",), function=replace(spec_of(problem), header=header))
    body = f'#include <cmath>\n#include <iostream>\n#include "f.h"\n{header.rstrip()[:-1]} {{ {PLAIN} }}\n'
    early = (
        "static double filled() { double sum = 0; for (int i = 0; i < 3000000; i++) sum += std::sin(i); return sum; }\n"
        "volatile double kept = filled();\n"
    )

    async def ready(text: str) -> tuple[float, float]:
        mine = replace(problem, language="cpp", spec=spec, program=Program({"f.cpp": text}))
        built = await Builder(sandbox, tmp_path).build(mine, mine.program, final=True)
        assert built.artefact is not None, built.diagnostics
        shape, source = Shape(spec_of(mine), (3,), 2), Inputs(sandbox, mine)
        given = Input("a", await source.fresh(shape), None, "seen", workload=shape)
        async with sandbox.session([built.artefact, given.stdin], bare=True) as session:
            runs = [await session.run(job_for(mine, built.artefact, given)) for _ in range(20)]
        return min(ran.ready_s for ran in runs), await source.ready_s(shape)

    plain, least = anyio.run(ready, body)
    with_table, _ = anyio.run(ready, body + early)
    assert plain < 3 * least
    assert with_table > plain + 0.001


def test_a_blob_of_keys_is_needed(sandbox: Sandbox, tmp_path: Path) -> None:
    """The generator never falls back on numbers of its own."""
    problem = problem_of(tmp_path)

    async def without_keys() -> int:
        source = Inputs(sandbox, problem)
        generator = await source._generator.get()
        with Blob.of(b"short") as keys:
            async with sandbox.session([generator, keys], bare=True) as session:
                return (await session.run(source._job(generator, Shape(spec_of(problem), (3,)), keys))).code

    assert anyio.run(without_keys) == 2


def paired(folder: Path, body: str, more: str = "") -> Problem:
    """A problem with two arrays of one type."""
    (folder / "f.h").write_text("void f(int n, const long *k, const long *h, long *z);\n")
    (folder / "f.c").write_text(f'#include "f.h"\nvoid f(int n, const long *k, const long *h, long *z) {{ {body} }}\n')
    arguments = 'arguments = ["int n", "const long k[n]", "const long h[n]", "long z[1]"]'
    lines = [arguments if one.startswith("arguments") else one for one in TOML.format(more=more).splitlines()]
    (folder / "problem.toml").write_text("\n".join(lines))
    return load(folder).problem


def test_arrays_of_one_type_are_made_of_one_another_in_half_of_such_calls(sandbox: Sandbox, tmp_path: Path) -> None:
    problem = paired(tmp_path, "*z = k[0] < h[0]; (void)n;")
    few = [one for one in beyond_shapes(problem) if one.main in OF_FEW]
    assert sum(one.habits[1] == TAKEN for one in few) == len(few) // 2
    assert not any(TAKEN in one.habits for one in beyond_shapes(problem_of(tmp_path)))

    shape = Shape(spec_of(problem), (40,), 60, 0, ("k", TAKEN, "u"), 1, "k", unusual=60)
    plan = anyio.run(Inputs(sandbox, problem).fresh, shape).read()
    parts = [struct.unpack("40q", plan[part]) for _, part in read_arrays(shape, plan_bytes(shape))]
    pairs = [*zip(parts[::2], parts[1::2], strict=True)]
    assert any(one == other for one, other in pairs)
    assert any(one != other and sorted(one) == sorted(other) for one, other in pairs)
    assert any(sorted(one) != sorted(other) and sum(one) == sum(other) for one, other in pairs)
    assert all((Counter(one) - Counter(other)).total() <= 2 for one, other in pairs)


def test_a_function_whose_inputs_all_have_one_answer_is_called_degenerate(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    """Where some input has another answer it is not, though hardly any has."""
    evaluator = ProgramEvaluator(sandbox, builder)
    long = "volatile long kept = 0; for (int r = 0; r < 20000; r++) for (int i = 0; i < n; i++) kept = k[i];"
    alike = f"{long} unsigned long s = 0; for (int i = 0; i < n; i++) s += k[i], s -= h[i]; *z = !s;"
    bounded = f"{long} *z = 1; for (int i = 0; i < n; i++) *z &= k[i] < 3000 && h[i] < 3000;"
    within = 'domain = { k = "0..2000", h = "0..2000" }'
    answers = []
    for body, more in ((alike, ""), (bounded, within)):
        answers.append(anyio.run(evaluator.admit, paired(tmp_path, body, more)).degenerate)
    assert answers == [(), ("every drawn input gives the same result",)]


def test_a_timed_size_is_verified_at_other_addresses_too_and_never_timed_there(tmp_path: Path) -> None:
    moved = [one for _ in range(20) for one in drawn_shapes(problem_of(tmp_path)) if one.sizes == (500,)]
    assert len(moved) == 20
    assert all(one.offset % 16 == 8 and not one.is_timed and one.name != one.size for one in moved)
    assert all(one.offset == 0 and one.is_timed for one in timed_shapes(problem_of(tmp_path)))


def test_sizes_come_in_other_proportions_in_an_order_that_was_given(tmp_path: Path) -> None:
    """The second size is never above the first one in what is given; the domain may say that none may be mixed, and
    inputs.c may be written for the given ones alone."""
    (tmp_path / "f.h").write_text("void f(int m, int n, const double *x, double *y);\n")
    (tmp_path / "f.c").write_text('#include "f.h"\nvoid f(int m, int n, const double *x, double *y) { *y = *x; }\n')
    (tmp_path / "inputs.c").write_text("void inputs(unsigned long seed, int m, int n, double *x) { *x = seed; }\n")

    def mixed(more: str = "") -> set[tuple[int, ...]]:
        words = TOML.format(more=more).splitlines()
        words[7] = 'arguments = ["int m", "int n", "const double x[m*n]", "double y[1]"]'
        words[8:11] = ["timed = [{ m = 90, n = 90 }]", "checked = [{ m = 1, n = 1 }, { m = 8, n = 7 }]", 'flop = "m*n"']
        (tmp_path / "problem.toml").write_text("\n".join(words))
        spec = spec_of(load(tmp_path).problem)
        found = [mixed_sizes(spec, random.Random(seed)) for seed in range(30)]
        assert all(len(one) == 2 for one in found) or not any(found)
        return {sizes for one in found for sizes in one}

    assert mixed() == {(90, 1), (90, 7)}
    assert mixed('domain = { n = "drawn" }') == set()
    assert mixed('inputs = "inputs.c"') == set()
    assert mixed('inputs = "inputs.c"\ndomain = { m = "1..90", n = "1..90" }') == {(90, 1), (90, 7)}
