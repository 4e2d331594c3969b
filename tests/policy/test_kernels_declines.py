"""Where a step could change what a kernel computes, it is not offered; where it may be taken, it is found."""

from __future__ import annotations

import pytest

from maxcode.policy.kernels.steps import ALL
from maxcode.policy.rewriter.runtime import patched
from maxcode.policy.rewriter.unit import Unit

PRODUCT = """
void f(int n, const double *A, const double *B, double *C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < n; p++) C[i * n + j] += A[i * n + p] * B[p * n + j];
}
"""


def offered(text: str, step: str, language: str = "c") -> list[str]:
    """The labels of one step on a program."""
    find = next(one.rule.find for one in ALL if one.rule.name == step)
    return [edit.label for edit in find(Unit(language, text))]


def taken(text: str, *labels: str) -> str:
    """The program after the first edit of each label's beginning, one after the other."""
    for label in labels:
        unit = Unit("c", text)
        edit = next(e for one in ALL for e in one.rule.find(unit) if e.label.startswith(label))
        text = patched(unit.data, list(edit.change.patches))
    return text


def loops(statement: str, high: str = "n", kind: str = "int") -> str:
    return f"""void f({kind} n, int m, double *A, double *B) {{
    for ({kind} i = 0; i < n; i++)
        for ({kind} j = 0; j < {high}; j++) {{ {statement} }}
}}
"""


@pytest.mark.parametrize(
    "statement",
    [
        "A[i * n + j] = A[(i - 1) * n + j + 1];",  # a dependence in both directions
        "A[i * n + j] = A[j * n + i];",
        "A[i + j] = B[i * n + j];",  # the last one to write wins
        "A[i * m + j] = B[j];",  # rows of m elements may overlap when n is larger
        "A[B[j] > 0] += 1.0 * A[0];",
        "A[j] += B[i]; n = n - 1;",
        "A[i * n + j] = g(B, j);",
        "if (B[j] > 0) break; A[i * n + j] = 1.0;",
        "i = i + 1; A[i * n + j] = 1.0;",
        "*A = B[j]; A++;",
    ],
)
def test_loops_that_depend_on_their_order_keep_it(statement: str) -> None:
    text = loops(statement)
    for step in ("interchange", "tile", "jam", "parallel", "distribute", "simd"):
        assert offered(text, step) == [], step


def test_loops_whose_bounds_depend_on_each_other_do_not_change_places() -> None:
    text = loops("A[i * n + j] = B[j];", high="i")
    assert offered(text, "interchange") == []
    assert offered(text, "tile") == []


def test_independent_iterations_may_be_reordered_and_shared() -> None:
    text = loops("A[i * n + j] = B[j];")
    assert offered(text, "interchange") == ["interchange(i in f, inner=j)"]
    assert offered(text, "parallel") == ["parallel(i in f)"]
    assert "simd(j in f, as=ivdep)" in offered(text, "simd")


def test_sums_may_be_reordered_but_not_shared() -> None:
    text = loops("A[j] += B[i];").replace("int i = 0; i < n", "int i = 0; i < m")
    assert offered(text, "interchange") == ["interchange(i in f, inner=j)"]
    assert offered(text, "parallel") == []


def test_a_chosen_value_is_no_bound() -> None:
    chosen = loops("A[i * n + j] = B[j];", high="(n < m ? m : n)")
    least = loops("A[i * n + j] = B[j];", high="(m < n ? m : n)")
    assert offered(chosen, "interchange") == []
    assert offered(least, "interchange") == ["interchange(i in f, inner=j)"]


def test_a_product_is_found_in_every_order_tiled_or_not() -> None:
    assert offered(PRODUCT, "product")
    assert offered(taken(PRODUCT, "interchange(j in f", "interchange(i in f"), "product")
    assert offered(taken(PRODUCT, "tile(p in f, size=64)", "tile(j in f, size=32)"), "product")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("double", "float"),
        ("A[i * n + p]", "C[i * n + p]"),
        ("C[i * n + j] +=", "C[2 * i * n + 2 * j] +="),
        ("B[p * n + j]", "B[p * n + j] * B[j]"),
        ("A[i * n + p] * ", "A[i * n + p] + "),
        ("p < n", "p < i"),
        ("A[i * n + p]", "A[i * n + p * p]"),
        ("C[i * n + j] +=", "C[i * n + j] *="),
    ],
)
def test_what_is_not_a_product_of_doubles_is_not_taken_for_one(old: str, new: str) -> None:
    assert offered(PRODUCT.replace(old, new), "product") == []


def test_a_product_among_threads_does_not_share_the_buffers() -> None:
    shared = taken(PRODUCT, "tile(p in f, size=64)").replace(
        "    for (int i", "#pragma omp parallel for\n    for (int i"
    )
    assert offered(shared, "product") == []


def test_a_program_that_uses_the_names_of_the_template_gets_none() -> None:
    assert offered(f"enum {{ MR = 3 }};\n{PRODUCT}", "product") == []


def test_bounds_without_a_sign_are_not_lowered() -> None:
    statement = "double s = 0.0; for (int p = 0; p < m; p++) s += B[p]; A[i * n + j] = s;"
    assert offered(loops(statement), "jam")
    assert offered(loops(statement, kind="size_t"), "jam") == []


def test_a_sum_that_reads_what_it_makes_is_not_moved_into_the_array() -> None:
    apart = "double s = 0.0; for (int p = 0; p < i; p++) s += A[p * n + j]; A[i * n + j] = s;"
    assert offered(loops(apart), "accumulate") == ["accumulate(j in f)"]
    assert offered(loops(apart.replace("p < i", "p < n")), "accumulate") == []


def test_only_constants_that_steps_made_are_changed() -> None:
    own = f"enum {{ TILE = 8 }};\nstatic double table[TILE];\n{PRODUCT}"
    assert offered(own, "retune") == []
    assert offered(taken(PRODUCT, "tile(p in f, size=64)"), "retune")
    assert any(label.startswith("retune(KC") for label in offered(taken(PRODUCT, "product(i in f"), "retune"))


def test_a_function_with_effects_is_not_tabulated() -> None:
    text = """static double calls;
static double g(const double *B, int j) { calls += 1.0; return B[j]; }
void f(int n, const double *B, double *A) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) { double s = g(B, j); A[i * n + j] = s; }
}
"""
    assert offered(text, "tabulate") == []
    assert offered(text.replace("calls += 1.0; ", ""), "tabulate") == ["tabulate(i in f)"]


def test_in_place_and_packed_templates_follow_each_other() -> None:
    text = taken(PRODUCT, "product(i in f, template=direct, MR=6, NV=2, VL=4")
    assert offered(text, "pack") == ["pack(product)"]
    packed = taken(text, "pack(product)")
    assert "MR = 6, NV = 2, VL = 4" in packed
    assert offered(packed, "pack") == []
    assert offered(packed, "prefetch") == ["prefetch(product)"]


def test_three_loops_are_ordered_so_that_the_innermost_is_contiguous() -> None:
    text = PRODUCT.replace("C[i * n + j] += A[i * n + p] * B[p * n + j]", "C[(p * n + j) * n + i] = A[i] + B[j]")
    assert offered(text, "order") == ["order(i in f, loops=j_p_i)", "order(i in f, loops=p_j_i)"]
    assert offered(PRODUCT, "order") == ["order(i in f, loops=i_p_j)", "order(i in f, loops=p_i_j)"]
    assert offered(text.replace("= A[i] + B[j]", "= C[i] + B[j]"), "order") == []


def test_ends_are_split_off_only_where_all_that_is_asked_is_or() -> None:
    test = "if (j == 0 || i == 0 || j == n - 1) A[i * n + j] = 0.0; else A[i * n + j] = B[j];"
    assert offered(loops(test), "split") == ["split(j in f)"]
    assert offered(loops(test.replace("||", "&&")), "split") == []
    assert offered(loops(test, kind="size_t"), "split") == []
    assert offered(taken(loops(test), "split(j in f"), "unswitch") == ["unswitch(j#2 in f)"]
