"""What the loops of machine code do is read off a listing, and there beside every build."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.roles import Compiler
from maxcode.core.types import Action, Case, LoopBody, MachineCode, Problem, Program, ProgramSpec
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.machine.machine_code import read_listing
from maxcode.evaluate.program.evaluator import ProgramEvaluator

# Two loops, the inner one with two sums of four lanes; the jump back at 34 comes from seldom-needed code.
LISTING = b"""
0000000000000010 <dot>:
      10:\txor    %eax,%eax
      12:\txor    %ecx,%ecx
      14:\tvmovupd (%rdi,%rax,1),%ymm2
      18:\tvfmadd231pd (%rsi,%rax,1),%ymm2,%ymm0
      1c:\tvmovapd 0x8(%rsp),%ymm3
      1e:\tvaddpd %ymm3,%ymm1,%ymm1
      22:\tvpermpd $0x1b,%ymm3,%ymm4
      24:\tvdivpd %ymm4,%ymm3,%ymm5
      26:\tvmovupd %ymm5,(%rdx,%rax,1)
      28:\tadd    $0x20,%rax
      2a:\tjne    14 <dot+0x4>
      2c:\tdec    %ecx
      2e:\tjne    12 <dot+0x2>
      30:\tret
      32:\tcall   1060 <abort@plt>
      34:\tjmp    10 <dot>
"""


def test_loops_and_what_a_turn_of_them_does() -> None:
    found = read_listing(LISTING)
    assert (found.instructions, found.loops) == (16, 2)
    assert found.bodies == (
        LoopBody(
            depth=2, instructions=9, work=16, lanes=4, sums=2, chain=1,
            loads=3, stores=1, spills=1, shuffles=1, divisions=1, calls=0, cycles=8.0,
        ),
    )  # fmt: skip
    assert found.bodies[0].rate == 2.0


@pytest.mark.parametrize(
    ("line", "work", "lanes", "sums"),
    [
        (b"vaddsd %xmm2,%xmm1,%xmm1", 1, 1, 1),
        (b"addps  %xmm2,%xmm1", 4, 4, 1),
        (b"vmulpd %zmm2,%zmm1,%zmm1", 8, 8, 0),
        (b"vfmadd231pd (%rax){1to8},%zmm1,%zmm0", 16, 8, 1),
        (b"vfnmadd213ss %xmm2,%xmm1,%xmm0", 2, 1, 1),
        (b"vpaddd %ymm2,%ymm1,%ymm1", 8, 8, 0),
        (b"vpxor  %xmm1,%xmm1,%xmm1", 0, 0, 0),
        (b"vmovupd (%rax),%zmm1", 0, 0, 0),
        (b"add    $0x8,%rax", 0, 0, 0),
    ],
)
def test_work_counts_lanes_and_a_multiply_add_twice(line: bytes, work: int, lanes: int, sums: int) -> None:
    body = read_listing(b"  10:\t" + line + b"\n  14:\tjne    10 <f>\n").bodies[0]
    assert (body.work, body.lanes, body.sums) == (work, lanes, sums)


def test_a_register_that_is_loaded_in_every_turn_holds_no_sum() -> None:
    lines = (b"vmovsd (%rdi),%xmm1", b"vaddsd %xmm2,%xmm1,%xmm1", b"vmovsd %xmm1,(%rdi)", b"jne    0 <f>")
    body = read_listing(b"".join(b"  %x:\t%s\n" % (at, line) for at, line in enumerate(lines))).bodies[0]
    assert (body.sums, body.chain, body.loads, body.stores) == (0, 0, 1, 1)


def test_loops_that_cross_one_another_cost_no_more_than_their_code() -> None:
    jumps = [(at, max(0, at - 5_000)) for at in range(10_000)]
    found = read_listing(b"".join(b"  %x:\tjne    %x <f>\n" % jump for jump in jumps))
    assert found.loops == 5_000
    assert len(found.bodies) <= 4


@pytest.mark.parametrize(
    "listing",
    [
        b"",
        b"no listing at all",
        b"  10:\t(bad)\n",
        b"  10:\tjne    10 <f>\n" * 2,
        b"  10:\tcall   1060 <" + b"(" * 1_000_000,
    ],
    ids=["empty", "words", "bad", "twice", "a long name"],
)
def test_nothing_that_is_listed_raises(listing: bytes) -> None:
    assert read_listing(listing).loops <= 1


DOT = """#include <stdio.h>
double dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
int main(void) { double a[64] = {1}; printf("%g\\n", dot(a, a, 64)); return 0; }
"""


def problem(*flags: str, text: str = DOT, language: str = "c", name: str = "dot.c") -> Problem:
    return Problem("dot", "program", language, Program({name: text}), ProgramSpec(flags=flags))


def machine_code(builder: Builder, given: Problem) -> MachineCode | None:
    return anyio.run(builder.build, given, given.program).machine_code


def test_it_shows_what_flags_made_of_the_same_source(builder: Builder) -> None:
    strict = machine_code(builder, problem("-O3", "-mavx2", "-mfma"))
    fast = machine_code(builder, problem("-O3", "-mavx2", "-mfma", "-ffast-math"))
    assert strict is not None and fast is not None
    assert strict.bodies[0].sums == 1
    assert {body.lanes for body in fast.bodies} >= {4}
    assert fast.bodies[0].rate > strict.bodies[0].rate


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("int main", "/* moved */\n\n\nint main", True),
        ("double s = 0;", "double total = 0;\n#define s total", True),
        ("i++", "++i", True),
        ("dot", "scalar_product", True),
        ("double s = 0;", "double s = 0.5;", False),
        ("{1}", "{2}", False),
        ('"%g\\n"', '"%f\\n"', False),
        ("double s = 0;", "double s = __LINE__;", False),
        (
            "int main",
            'asm(".section .own\\n.ascii \\"answers\\"\\n.text");\nint main',
            False,
        ),  # it can read its own file
    ],
)
def test_a_digest_is_equal_where_the_compiler_makes_the_same(
    builder: Builder, old: str, new: str, is_same: bool
) -> None:
    text = DOT.replace("double dot", "static double dot")
    assert old in text
    one, other = (machine_code(builder, problem("-O2", "-g1", text=each)) for each in (text, text.replace(old, new)))
    assert one is not None and other is not None and one.digest and other.digest
    assert (one.digest == other.digest) is is_same


def test_what_does_not_build_has_none_and_an_interpreter_tells_nothing(builder: Builder) -> None:
    assert machine_code(builder, problem("-O1", text="int main(void) { return }")) == MachineCode()
    assert machine_code(builder, problem(text="print(1)", language="python", name="a.py")) is None


def test_an_evaluator_tells_it_of_what_was_not_run(sandbox_evaluator: ProgramEvaluator, tmp_path: Path) -> None:
    evaluator = sandbox_evaluator
    (tmp_path / "1.in").write_text("")
    (tmp_path / "1.out").write_text("1\n")
    case = Case("1", str(tmp_path / "1.in"), str(tmp_path / "1.out"))
    given = problem("-O1")
    given = replace(given, spec=replace(given.spec, seen=(case,)))
    assert isinstance(evaluator, Compiler)
    before = anyio.run(evaluator.machine_code, given, Action(given.program))
    assert before is not None and before.loops
    assert anyio.run(evaluator.machine_code, given, Action(None)) is None
    assert anyio.run(evaluator.machine_code, given, Action(Program({"other.c": DOT}))) is None
    broken = Program({"dot.c": "int main(void) { return }"})
    assert anyio.run(evaluator.machine_code, given, Action(broken)) == MachineCode()
    assert anyio.run(evaluator.evaluate, given, Action(broken)).machine_code == MachineCode()
    assert anyio.run(evaluator.evaluate, given, Action(given.program)).machine_code == before
    with pytest.raises(InputError, match="dot has no tests"):
        anyio.run(evaluator.admit, problem("-O1"))
