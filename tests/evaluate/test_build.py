"""Builds: precompiled headers where they cannot change a program, remarks by line, diagnostics that can be read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.types import Action, Evaluation, Limits, Outcome, Problem, Program, ProgramSpec
from maxcode.evaluate.ladder.build import Builder, Built, _leading_includes
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Sandbox

ORIGINAL = "// a comment\n#include <vector>\n#include <cstdio>\nint main() { std::vector<int> v(3); return v[0]; }\n"


def build(builder: Builder, text: str, original: str = ORIGINAL, final: bool = False) -> Built:
    spec = ProgramSpec(flags=language("cpp").default_flags)
    problem = Problem("build", "program", "cpp", Program({"a.cpp": original}), spec)
    return anyio.run(builder.build, problem, Program({"a.cpp": text}), final)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ORIGINAL, ("vector", "cstdio")),
        ("#include <bits/stdc++.h>\nusing namespace std;\n#include <map>\n", ("bits/stdc++.h",)),
        ("#define int long long\n#include <vector>\n", ()),
        ('#pragma GCC optimize("O2")\n#include <vector>\n', ()),
        ('#include "mine.h"\n#include <vector>\n', ()),
        ("/* first */ #  include <vector> // why\n\n#include <map>\n", ("vector", "map")),
        ("#ifdef X\n#include <vector>\n#endif\n", ()),
        ("#include MACRO\n", ()),
        ("", ()),
    ],
)
def test_only_what_comes_before_everything_else_may_be_precompiled(text: str, expected: tuple[str, ...]) -> None:
    assert _leading_includes(text) == expected


def test_a_candidate_that_forgets_an_include_of_the_original_does_not_get_it_for_free(builder: Builder) -> None:
    assert build(builder, ORIGINAL.replace("return", 'std::puts("x"); return')).artefact is not None
    forgetful = ORIGINAL.replace("#include <vector>\n", "")
    built = build(builder, forgetful)
    assert built.artefact is None
    assert "vector" in built.reason


def test_search_and_final_builds_of_one_program_do_the_same(builder: Builder) -> None:
    first, final = build(builder, ORIGINAL), build(builder, ORIGINAL, final=True)
    assert first.artefact is not None
    assert final.artefact is not None
    assert build(builder, ORIGINAL) is first  # from the cache


ENDLESS = "constexpr int f(long n) { int s = 0; while (n-- > 0) s += n; return s; }\nconstexpr int x = f(1L << 60);\n"


def test_a_compiler_that_was_stopped_decides_nothing_beside_an_admission(sandbox: Sandbox, builder: Builder) -> None:
    endless = f"{ENDLESS}int main() {{ return x; }}\n"
    never = ("-fconstexpr-ops-limit=9223372036854775807", "-fconstexpr-loop-limit=2147483647")
    spec = ProgramSpec(flags=(*language("cpp").default_flags, *never), limits=Limits(build_s=1))
    problem = Problem("build", "program", "cpp", Program({"a.cpp": "int main() { return 0; }\n"}), spec)

    async def work(text: str) -> tuple[Admitted, Evaluation] | None:
        return await ProgramEvaluator(sandbox, builder).refused_early(problem, Action(Program({"a.cpp": text})))

    stopped = anyio.run(builder.build, problem, Program({"a.cpp": endless}))
    assert not stopped.is_lasting and "more than 1 s" in stopped.reason
    assert anyio.run(work, endless) is None
    refused = anyio.run(work, "int main() { return y; }\n")
    assert refused is not None and refused[1].outcome is Outcome.UNBUILT


LOOP = """int f(int *a, int n) { int s = 0;
for (int i = 0; i < n; i++) s += a[i];
return s; }
int main() { return 0; }
"""


def test_the_compilers_remarks_come_with_lines(builder: Builder) -> None:
    remarks = build(builder, LOOP, LOOP).remarks
    assert any(remark.line == 2 and remark.kind == "optimized" for remark in remarks), remarks
    chained = LOOP.replace("s += a[i]", "s = a[(s ^ i) & 7]")
    assert any(remark.line == 2 and remark.kind == "missed" for remark in build(builder, chained, chained).remarks)


def test_diagnostics_name_the_line_and_are_capped(builder: Builder) -> None:
    built = build(builder, "int main() {\n  return undefined_name;\n}\n")
    assert built.artefact is None
    assert built.reason == "a.cpp:2:10: error: 'undefined_name' was not declared in this scope"
    flood = build(builder, "".join(f"int x{i} = undefined_{i};\n" for i in range(5000)) + "int main() {}\n")
    assert len(flood.diagnostics) <= 16_000


@pytest.mark.parametrize(
    "text",
    [
        '#include "/etc/passwd"\nint main() {}\n',
        'asm(".incbin \\"/etc/passwd\\"");\nint main() {}\n',
    ],
)
def test_a_build_sees_none_of_the_hosts_files(text: str, builder: Builder) -> None:
    built = build(builder, text)
    assert built.artefact is None
    assert "root:" not in built.diagnostics


ENDLESS = """constexpr int f(long n) { int s = 0; while (n > 0) { s ^= n; n -= (n > 1); } return s; }
int main() { constexpr int x = f(9); return x; }
"""


def test_a_build_that_does_not_end_is_stopped(builder: Builder) -> None:
    flags = ("-std=c++17", "-fconstexpr-ops-limit=9999999999", "-fconstexpr-loop-limit=2147483647")
    spec = ProgramSpec(flags=flags, limits=Limits(build_s=1.0))
    problem = Problem("bomb", "program", "cpp", Program({"a.cpp": ENDLESS}), spec)
    built = anyio.run(builder.build, problem, problem.program, True)
    assert built.artefact is None
    assert "took more than 1 s" in built.reason


def test_any_number_of_comments_is_read_in_no_time() -> None:
    assert _leading_includes("/* a box of comments */\n" * 2000 + "#define N 1\n#include <vector>\n") == ()
    assert _leading_includes("/* x */ /* y */ // z\n" * 2000 + "#include <vector>\n") == ("vector",)


def test_builds_that_were_not_asked_for_lately_are_given_up(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maxcode.evaluate.ladder.build._BUILDS_KEPT", 2)
    few = Builder(builder._sandbox, builder._cache)
    texts = [f"int main() {{ return {code}; }}\n" for code in range(3)]
    first, second = build(few, texts[0]), build(few, texts[1])
    assert build(few, texts[0]) is first
    build(few, texts[2])
    assert build(few, texts[0]) is first
    assert build(few, texts[1]) is not second


@pytest.fixture
def place(builder: Builder) -> Iterator[Path]:
    """A folder that the sandbox's own user can enter."""
    folder = builder._cache / f"test-{os.getpid()}"
    yield folder
    shutil.rmtree(folder)


def test_headers_not_used_lately_leave_the_disk(builder: Builder, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr("maxcode.evaluate.ladder.build._HEADERS_KEPT", 2)

    def kept(*names: str) -> set[str]:
        for name in names:
            text = f"#include <{name}>\nint main() {{}}\n"
            build(Builder(builder._sandbox, place), text, text)
        return {(folder / "pch.h").read_text().strip() for folder in (place / "pch").iterdir()}

    assert kept("cstdio", "cmath", "cstdio") == {"#include <cstdio>", "#include <cmath>"}
    assert kept("cctype") == {"#include <cstdio>", "#include <cctype>"}


def test_a_header_that_another_process_has_removed_is_made_again(builder: Builder, place: Path) -> None:
    one = Builder(builder._sandbox, place)
    texts = [f"#include <cstdio>\nint main() {{ return {code}; }}\n" for code in range(2)]
    assert build(one, texts[0], texts[0]).artefact is not None
    for folder in (place / "pch").iterdir():
        shutil.rmtree(folder)
    found = build(one, texts[1], texts[0])
    assert found.artefact is not None, found.diagnostics


def test_a_build_that_every_run_would_have_to_copy_is_refused(builder: Builder) -> None:
    built = build(builder, "char table[80 << 20] = {1};\nint main(int n, char **) { return table[n]++; }\n")
    assert built.artefact is None
    assert "larger than 64 MB" in built.reason


def test_a_build_that_was_stopped_is_tried_again(builder: Builder) -> None:
    flags = ("-std=c++17", "-fconstexpr-ops-limit=9999999999", "-fconstexpr-loop-limit=2147483647")
    spec = ProgramSpec(flags=flags, limits=Limits(build_s=0.5))
    problem = Problem("bomb", "program", "cpp", Program({"a.cpp": ENDLESS}), spec)
    first = anyio.run(builder.build, problem, problem.program, True)
    assert anyio.run(builder.build, problem, problem.program, True) is not first
