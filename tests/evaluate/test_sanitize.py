"""What sanitizers find in a winner, what the original does itself, and what could not be looked at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio

from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.evaluate.function.calls import calls_of
from maxcode.evaluate.function.function import Inputs
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.sanitize import Sanitized, sanitized
from maxcode.problems import load
from maxcode.sandbox.sandbox import Blob, Sandbox
from tests.support.counting import SLOW

BEYOND = SLOW.replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>").replace(
    "    printf", "    long *table = calloc(4, sizeof *table);\n    volatile long past = table[4 + n % 4];\n    printf"
)

OVERFLOW = """#include <stdio.h>
int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\\n", n > 0);
    return n + 2147483647 == 5 ? 3 : 0;
}
"""
VECTOR = """#include <iostream>
#include <vector>
int main() {
    std::size_t n;
    std::cin >> n;
    std::vector<int> v(n);
    volatile int last = v[n - 1];
    std::cout << last << "\\n";
}
"""


def looked(sandbox: Sandbox, builder: Builder, original: str, winner: str, tongue: str = "c") -> Sanitized:
    name = {"c": "a.c", "cpp": "a.cpp", "python": "a.py"}[tongue]
    problem = Problem("seen", "program", tongue, Program({name: original}), ProgramSpec(("-O3", "-static")))
    with Blob.of(b"7\n") as stdin:
        inputs = [Input("seven", stdin, None, "seen", 0.01)]
        return anyio.run(sanitized, sandbox, builder, problem, Program({name: winner}), inputs)


def test_a_read_past_an_array_is_found_with_its_line(sandbox: Sandbox, builder: Builder) -> None:
    found = looked(sandbox, builder, SLOW, BEYOND)
    line = next(number for number, text in enumerate(BEYOND.splitlines(), 1) if "past" in text)
    assert ("heap-buffer-overflow", "a.c", line) in [(one.kind, one.file, one.line) for one in found.defects]
    assert any(one.words == "read of size 8" and not one.in_original for one in found.defects)


def test_a_program_in_cpp_is_looked_at_too(sandbox: Sandbox, builder: Builder) -> None:
    found = looked(sandbox, builder, VECTOR, VECTOR.replace("v[n - 1]", "v[n]"), "cpp")
    assert found.checks == ("address", "undefined")
    assert ("heap-buffer-overflow", False) in [(one.kind, one.in_original) for one in found.defects]
    assert looked(sandbox, builder, VECTOR, VECTOR, "cpp").defects == ()


def test_a_function_is_looked_at_in_its_driver(sandbox: Sandbox, builder: Builder) -> None:
    problem = load(Path(__file__).parents[2] / "examples" / "gemm").problem
    helper = "static double past(const double *t, int at) {\n    return t[at];\n}\n"
    head, brace, body = problem.program.text.partition("void gemm(")[2].partition("{")
    before = problem.program.text.partition("void gemm(")[0]
    call = "\n    double t[4] = {0};\n    if (past(t, m + 3) == 12345.0) return;\n"
    text = f"{before}{helper}void gemm({head}{brace}{call}{body}"

    async def look() -> Sanitized:
        source = Inputs(sandbox, problem)
        inputs = await calls_of(problem, source)
        winner = problem.program.with_text(text)
        return await sanitized(sandbox, builder, problem, winner, inputs[:2])

    found = anyio.run(look)
    assert [one.kind for one in found.defects if "overflow" in one.kind] == ["stack-buffer-overflow"]
    assert not found.defects[0].in_original


def test_what_the_original_does_itself_is_said(sandbox: Sandbox, builder: Builder) -> None:
    found = looked(sandbox, builder, OVERFLOW, OVERFLOW.replace("main(void) {", "main(void) {\n"))
    assert [(one.kind, one.line, one.in_original) for one in found.defects] == [("signed integer overflow", 7, True)]


def test_without_a_control_group_addresses_are_not_run_and_never_passed(sandbox: Sandbox, builder: Builder) -> None:
    bare = replace(sandbox, hierarchy=None)
    found = looked(bare, Builder(bare, bare.cache), OVERFLOW, OVERFLOW)
    assert found.checks == ("undefined",)
    assert found.not_run[0].startswith("address: ")
    assert [one.kind for one in found.defects] == ["signed integer overflow"]


def test_what_cannot_be_looked_at_is_said(sandbox: Sandbox, builder: Builder) -> None:
    python = looked(sandbox, builder, "print(1)\n", "print(1)\n", "python")
    assert python.checks == ()
    assert python.not_run == ("sanitizers: they are for C and C++, and the program is in python",)
    silenced = OVERFLOW + 'const char *__asan_default_options(void) { return "halt_on_error=0:exitcode=0"; }\n'
    found = looked(sandbox, builder, OVERFLOW, silenced)
    assert (found.checks, found.defects) == ((), ())
    assert "no build" in found.not_run[0]
