"""Answers that depend on memory never written are found; programs that write before they read are left alone."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Action, Case, Outcome, Problem, Program, ProgramSpec
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.unwritten import DEPENDS, Variants, chosen, depends
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sandbox

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
MAIN = """int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%ld\\n", total(n));
    return 0;
}
"""
ORIGINAL = "static long total(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += i % 8; return sum; }\n"
STACK = """__attribute__((noinline)) static long total(int n) {
    long seen[8192];
    __asm__ volatile("" : : "r"(seen) : "memory");
    for (int i = 0; i < n; i++) seen[i % 8] += i % 8;
    long sum = 0;
    for (int i = 0; i < 8; i++) sum += seen[i];
    return sum;
}
"""
HEAP = """static long total(int n) {
    long *seen = malloc(1 << 20), sum = 0;
    for (int i = 0; i < n; i++) seen[i % 8 * 512] += i % 8;
    for (int i = 0; i < 8; i++) sum += seen[i * 512];
    free(seen);
    return sum;
}
"""
AGAIN = """static long part(int k, int first) {
    long *kept = malloc(64);
    __asm__ volatile("" : "+r"(kept) : : "memory");
    if (first) kept[3] = 0;
    kept[3] += k;
    const long found = kept[3];
    __asm__ volatile("" : "+r"(kept) : : "memory");
    free(kept);
    return found;
}
static long total(int n) { long sum = 0; for (int i = 0; i < n; i++) sum = part(i % 8, i == 0); return sum; }
"""
OLD_FRAME = """__attribute__((noinline)) static long part(int k, int first) {
    long kept[64];
    __asm__ volatile("" : : "r"(kept) : "memory");
    if (first) kept[40] = 0;
    kept[40] += k;
    __asm__ volatile("" : : "r"(kept) : "memory");
    return kept[40];
}
static long total(int n) { long sum = 0; for (int i = 0; i < n; i++) sum = part(i % 8, i == 0); return sum; }
"""
NEIGHBOUR = """static long table[16];
static long total(int n) {
    long sum = 0, *at = table;
    __asm__ volatile("" : "+r"(at));
    for (int i = 0; i < n; i++) at[i % 8] = 1, sum += i % 8;
    return sum + at[16 + 64];
}
"""
CLEARED = """static long fixed[8];
static long total(int n) {
    long *seen = calloc(1 << 17, 8), *own = malloc(1 << 16), sum = 0;
    for (int k = 0; k < 8; k++) own[k * 100] = 0;
    for (int i = 0; i < n; i++) seen[i % 8 * 512] += 1, fixed[i % 8] += 1, own[i % 8 * 100] += i % 8;
    for (int i = 0; i < 8; i++) sum += own[i * 100] + (seen[i * 512] - fixed[i]);
    free(seen), free(own);
    return sum;
}
"""
SCRATCH = """#include <sys/mman.h>
#include <stdalign.h>
static char *arena, *top;
static void *take(size_t size) { void *at = top; top += (size + 63) & ~63ul; return memset(at, 0, size); }
static long total(int n) {
    alignas(64) long scratch[512];
    arena = top = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long *seen = take(64), *zero = (long *)(arena + (1 << 19)), sum = 0;
    for (int i = 0; i < 8; i++) scratch[i * 3] = i;
    for (int i = 0; i < n; i++) seen[i % 8] += scratch[i % 8 * 3];
    for (int i = 0; i < 8; i++) sum += seen[i] + zero[i];
    return sum;
}
"""
GROWN = """static long total(int n) {
    long *all = NULL, sum = 0;
    for (int i = 0; i < n; i++) {
        if ((i & (i - 1)) == 0) all = realloc(all, 2 * (size_t)(i + 1) * sizeof *all);
        all[i] = i % 8;
    }
    for (int i = 0; i < n; i++) sum += all[i];
    free(all);
    return sum;
}
"""


def problem_of(text: str) -> Problem:
    return Problem("total", "program", "c", Program({"a.c": HEAD + text + MAIN}), ProgramSpec(("-O2", "-std=gnu17")))


def seen_by(sandbox: Sandbox, builder: Builder, text: str) -> tuple[bool, bool]:
    """Whether the runs of the artefact find it, and whether the two builds do."""
    problem = problem_of(text)

    async def looks() -> tuple[bool, bool]:
        built = await builder.build(problem, problem.program, final=True)
        assert built.artefact is not None, built.diagnostics
        with Blob.of(b"1000\n") as stdin:
            inputs = [Input("thousand", stdin, b"3500\n", "seen", 0.01)]
            async with sandbox.session([built.artefact, stdin], bare=True) as session:
                ran = await session.run(Job(("{artefact}",), built.artefact, stdin))
            assert ran.stdout == b"3500\n"  # by accident or not
            first = await depends(sandbox, problem, built.artefact, inputs)
            found = await Variants(sandbox, builder).of(problem, problem.program, inputs)
            assert not found.not_run
            return first is not None, found.given is not None

    return anyio.run(looks)


@pytest.mark.parametrize(("text", "found"), [(STACK, (True, True)), (HEAP, (True, True)), (AGAIN, (True, True)),
                                             (OLD_FRAME, (False, True)), (NEIGHBOUR, (False, True))],
                         ids=["stack", "heap", "block", "frame", "neighbour"])  # fmt: skip
def test_an_answer_from_memory_never_written_is_found(
    sandbox: Sandbox, builder: Builder, text: str, found: tuple[bool, bool]
) -> None:
    assert seen_by(sandbox, builder, text) == found


@pytest.mark.parametrize("text", [CLEARED, SCRATCH, GROWN], ids=["cleared", "scratch", "grown"])
def test_memory_that_is_zero_by_contract_or_written_first_is_no_reason(
    sandbox: Sandbox, builder: Builder, text: str
) -> None:
    assert seen_by(sandbox, builder, text) == (False, False)


@pytest.mark.tiers("1", "2")
def test_a_job_with_filled_memory_finds_its_byte_on_the_stack_and_the_heap(sandbox: Sandbox) -> None:
    text = HEAD + (
        "int main(void) {\n    unsigned char *block = malloc(300000), local[4096];\n"
        '    __asm__ volatile("" : : "r"(local), "r"(block) : "memory");\n'
        '    printf("%d %d %d", block[100], block[299999], local[1000]);\n    return 0;\n}\n'
    )

    async def run() -> bytes:
        async with sandbox.session([], Mounts({"a.c": text})) as session:
            argv = ("gcc", "-O1", "-w", "/src/a.c", "-o", "/tmp/out")
            built = await session.run(Job(argv, collect=("/tmp/out",)))
        with Blob.of(built.files["/tmp/out"]) as artefact:
            async with sandbox.session([artefact], bare=True) as session:
                return (await session.run(Job(("{artefact}",), artefact, fill=77))).stdout

    assert anyio.run(run) == b"77 77 77"


def test_memory_is_filled_only_in_a_bare_session(sandbox: Sandbox) -> None:
    async def run() -> None:
        async with sandbox.session([]) as session:
            await session.run(Job(("true",), fill=77))

    with pytest.raises(ValueError, match="bare session"):
        anyio.run(run)


def test_a_candidate_is_refused_in_one_sentence_unless_the_original_does_it_too(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    evaluator = ProgramEvaluator(sandbox, builder).measuring(MeasureOptions(profiles=False))

    async def outcomes(original: str) -> tuple[bool, Outcome, tuple[str, ...]]:
        problem = problem_of(original)
        spec = ProgramSpec(problem.spec.flags, held_out=(_case(tmp_path),))
        problem = Problem("total", "program", "c", problem.program, spec)
        admitted = await evaluator.admit(problem)
        told = any("memory it never wrote" in note for note in admitted.notes)
        action = Action(admitted.problem.program.with_text(HEAD + HEAP + MAIN))
        found = await evaluator.evaluate(admitted.problem, action)
        return told, found.outcome, found.feedback.reasons

    assert anyio.run(outcomes, ORIGINAL) == (False, Outcome.WRONG, (DEPENDS,))
    assert anyio.run(outcomes, STACK)[:2] == (True, Outcome.CORRECT)


def _case(folder: Path) -> Case:
    (folder / "a.in").write_text("1000\n")
    (folder / "a.out").write_text("3500\n")
    return Case("a", str(folder / "a.in"), str(folder / "a.out"))


def test_short_inputs_are_chosen() -> None:
    with Blob.of(b"") as stdin:
        made = [Input(str(n), stdin, b"", "seen", n / 100) for n in range(20)]
        assert [one.name for one in chosen(made)] == ["0", "5", "10"]
        assert [one.name for one in chosen(made[15:])] == ["15"]
        assert chosen([]) == []
