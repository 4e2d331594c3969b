"""Reordered loops give every element the same value, to the last bit: random nests, many in one program."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.rewriter.runtime import applied
from tests.support.rewriter_help import edits_of

NESTS = 12
ORDER_RULES = ("interchange", "tile", "expand", "swap_dimensions", "local_sum", "ivdep", "unroll", "pad_rows", "hoist")
HEAD = """#include <cmath>
#include <cstdio>
#include <vector>
const int S = 40;
double a[S][S], b[S][S], c[S][S], d[S * S];
void fill(int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = 1.0 / (1 + i + 3 * j);
            b[i][j] = sqrt(0.3 + i * j);
            c[i][j] = 0.1 * i - j;
            d[i * n + j] = i ^ j;
        }
}
double mixed(int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) s = s * 0.999 + a[i][j] + b[j][i] * c[i][j] - d[i * n + j];
    return s;
}
"""


def nest(generator: random.Random) -> str:
    """A nest of two or three loops, legal to reorder or not: that is for the rules to find out."""
    loops = generator.sample("ijk", generator.choice((2, 3, 3)))
    ups = [f"for (int {v} = {generator.randint(0, 1)}; {v} < n - {generator.randint(0, 2)}; {v}++)" for v in loops]
    downs = [f"for (int {v} = n - {generator.randint(1, 2)}; {v} >= 0; {v}--)" for v in loops]
    heads = [generator.choice((up, up, up, down)) for up, down in zip(ups, downs, strict=True)]
    target = generator.choice("abc")

    def at(array: str) -> str:
        return f"{array}[{generator.choice(loops)}][{generator.choice(loops)}]"

    skewed = f"d[{generator.choice(loops)} {generator.choice('+-')} {generator.choice(loops)} + n]"
    place = generator.choice((at(target), at(target), at(target), skewed))
    operator = generator.choice(("=", "+=", "+=", "-=", "*="))
    sources = [
        generator.choice((at(generator.choice("abc")), place, f"d[{loops[0]} * n + {loops[1]}]", "0.5", "1.0 * n"))
    ]
    sources.append(generator.choice((at(generator.choice("abc")), "1.25", f"(double){loops[-1]}")))
    statement = f"{place} {operator} {sources[0]} {generator.choice('*+-')} {sources[1]};"
    if generator.random() < 0.3:
        return f"{' '.join(heads)} {{ double e = {sources[1]}; {place} {operator} {sources[0]} + e; }}"
    if generator.random() < 0.4 and len(loops) == 2:
        return f"{heads[0]} {{ double s = 0; {heads[1]} s += {sources[0]}; {target}[{loops[0]}][1] = s; }}"
    return f"{' '.join(heads)} {statement}"


def program(generator: random.Random) -> str:
    functions = [f"double nest_{k}(int n) {{ fill(n); {nest(generator)} return mixed(n); }}\n" for k in range(NESTS)]
    calls = " ".join(f'printf("%a\\n", nest_{k}(17));' for k in range(NESTS))
    return f"{HEAD}{''.join(functions)}int main() {{ {calls} }}\n"


def reordered(text: str, generator: random.Random, edits: int) -> tuple[str, int]:
    made = 0
    for _ in range(edits):
        found = edits_of(generator.choice(ORDER_RULES), text)
        if found:
            text = applied(Unit("cpp", text), generator.choice(found))
            made += 1
    return text, made


@pytest.mark.parametrize("seed", range(3))
def test_random_nests_keep_every_bit(seed: int, compile_and_run: Callable[..., str]) -> None:
    generator = random.Random(seed)
    text = program(generator)
    changed, made = reordered(text, generator, 40)
    assert made > 10
    assert compile_and_run(changed) == compile_and_run(text)


@pytest.mark.parametrize(
    ("heads", "place", "interchange", "tile"),
    [
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "a[i][j]", True, True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "a[j][0]", True, True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "d[i + j]", False, False),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "d[i - j + n]", True, True),
        ("for (int i = 0; i < n; i++) for (int j = n - 1; j >= 0; j--)", "d[i - j + n]", False, False),
        ("for (int i = 0; i < n; i++) for (int j = n - 1; j >= 0; j--)", "d[i + j]", True, False),
        ("for (int i = n; i != 0; i -= 1) for (int j = 0; j < n; j++)", "d[i - j + n]", False, False),
        ("for (int i = n; i != 0; i += n) for (int j = 0; j < n; j++)", "a[i][j]", False, False),  # up or down?
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "d[AT(i, j)]", True, True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "d[SKEW(i, j)]", False, False),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "d[(i * n + j) / 2]", False, False),
    ],
)
def test_elements_keep_the_order_of_their_updates(heads: str, place: str, interchange: bool, tile: bool) -> None:
    macros = "#define AT(x, y) (x) * n + (y)\n#define SKEW(x, y) (x) + (y)\n"
    text = f"{macros}{HEAD}double nest(int n) {{ fill(n); {heads} {place} += 0.1 * n; return mixed(n); }}\n"
    found = {
        rule: bool([edit for edit in edits_of(rule, text) if "nest" in edit.site]) for rule in ("interchange", "tile")
    }
    assert found == {"interchange": interchange, "tile": tile}


@pytest.mark.parametrize(("head", "test"), [
    ("int k = 0; k < n; k++", "(int)(0) < (n)"), ("auto k = n; k != 3; k--", "(n) != (3)"),
])  # fmt: skip
def test_a_sum_reads_its_element_before_the_loop_only_if_the_loop_does(head: str, test: str) -> None:
    text = f"double *f(int n, double *a) {{ for ({head}) a[n] += k; return a; }}\n"
    (edit,) = edits_of("local_sum", text)
    assert f"{{ if ({test}) {{ auto mxr_sum = a[n];" in applied(Unit("cpp", text), edit)
