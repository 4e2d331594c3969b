"""Loop nests in forms that are easily read as something else: steps are not offered there, or keep what they mean."""

from __future__ import annotations

import pytest

from tests.policy.test_kernels_declines import offered, taken

HEAD = "void f(int n, int m, double *A, double *B) {{ {} }}"
SPLIT = ("distribute", "split", "unswitch", "jam", "tile", "fuse", "interchange", "index_split")


def every(text: str, steps: tuple[str, ...] = SPLIT, language: str = "c") -> list[str]:
    return [label for step in steps for label in offered(text, step, language)]


@pytest.mark.parametrize(
    "inside",
    [
        "if (A[i] < 0.0) goto next; A[i] = 1.0; next: B[i] = 2.0;",
        "double s = B[i]; if (m > 2) { if (s < 0.0) goto next; A[i] = s; next: B[i] = 2.0; }",
        "if (i == 0 || i == n - 1) { A[i] = 1.0; } else { again: A[i] = 2.0; }",
    ],
)
def test_a_function_with_labels_is_left_alone(inside: str) -> None:
    text = HEAD.format(f"for (int i = 0; i < n; i++) {{ {inside} }} for (int i = 0; i < n; i++) A[i] = 0.0;")
    assert every(text, ("unroll", "restrict", *SPLIT)) == []


SWITCHED = "for (int i = 0; i < n; i++) {{ {} if ({}) {{ A[i] = {}; }} }}"


@pytest.mark.parametrize(
    ("before", "test", "value"),
    [
        ("double s = next();", "m > 2", "s"),  # it is called in every iteration
        ("double s = B[m++];", "n > 2", "s"),
        ("", "m-- > 2", "1.0"),
        ("", "*B > 2", "1.0"),  # without an iteration it is not there
        ("", "switched > 2", "next()"),  # a global variable, which the call may set
        ("", "m > 2", "changed(&m)"),
        ("", "m > 2", "B[m++]"),
        ("", "m > 2", "1.0; if ((m += 2) > 4) A[i] = 2.0"),
    ],
)
def test_a_test_with_effects_or_that_others_may_change_stays_in_its_loop(before: str, test: str, value: str) -> None:
    assert offered(HEAD.format(SWITCHED.format(before, test, value)), "unswitch") == []
    plain = SWITCHED.format("double s = B[i];", "switched > m", "s")
    assert offered(HEAD.format(plain), "unswitch") == ["unswitch(i in f)"]


def test_the_ends_of_a_loop_are_not_split_off_if_it_moves_its_variable() -> None:
    body = "if (i == 0 || i == n - 1) {{ A[i] = 1.0; }} else {{ A[i] = 2.0; }} {}"
    texts = [HEAD.format(f"for (int i = 0; i < n; i++) {{ {body.format(more)} }}") for more in ("", "i = i + 1;")]
    assert [offered(text, "split") for text in texts] == [["split(i in f)"], []]


@pytest.mark.parametrize("high", ["n - i", "n & m", "n < m ? n : m", "n | 1"])
def test_an_end_that_moves_with_its_variable_or_is_more_than_an_end_is_no_loop(high: str) -> None:
    text = HEAD.format(f"for (int j = 0; j < m; j++) for (int i = 0; i < {high}; i++) A[j * n + i] += B[i];")
    assert [label for label in every(text, ("unroll", *SPLIT)) if "(i in" in label] == []


def test_a_start_or_an_end_is_in_brackets_where_it_is_compared() -> None:
    text = HEAD.format("for (int i = n | 1; i < m << 1; i++) A[0] = A[0] < B[i] ? B[i] : A[0];")
    assert "if ((n | 1) < m << 1) {" in taken(text, "promote(i in f)")


def test_a_step_that_is_a_variable_of_a_loop_around_keeps_its_place() -> None:
    nest = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j += {}) A[i * n + j] = B[j];"
    assert every(HEAD.format(nest.format("i")), ("interchange", "jam")) == []
    assert len(every(HEAD.format(nest.format("2")), ("interchange", "jam"))) > 1


def test_a_step_inside_a_loop_that_counts_down_is_that_of_the_mirrored_iteration() -> None:
    text = HEAD.format("for (int i = n; i >= 1; i--) for (int j = 0; j < n; j += i) A[i * n + j] = B[j];")
    assert "j += (n + 1 - i))" in taken(text, "restrict(f)")


def test_a_loop_whose_step_changes_inside_is_not_split() -> None:
    text = HEAD.format("int s = 1; for (int i = 0; i < n; i += s) { A[i] = 1.0; s = B[i]; }")
    assert offered(text, "distribute") == []
    assert offered(text.replace("s = B", "B[i + 1] = B"), "distribute") == ["distribute(i in f)"]


@pytest.mark.parametrize(
    "value",
    ["B[m += 2]", "(next)(i)", "B[m <<= 1]", "({ m = 2; B[i]; })", "*B", "table[0](i)"],
)
def test_an_expression_with_effects_is_not_moved(value: str) -> None:
    text = HEAD.format(f"for (int i = 0; i < n; i++) {{ A[i] = {value}; A[i + n] = B[m]; }}")
    assert every(text, ("distribute", "simd", "parallel")) == []
    plain = text.replace(f"= {value};", "= (double)(B[i]) + sqrt(B[i]);")
    assert offered(plain, "distribute") == ["distribute(i in f)"]


def test_a_sum_with_effects_is_not_marked_for_vectors() -> None:
    text = HEAD.format("double s = 0.0; for (int i = 0; i < n; i++) s += B[m++]; A[0] = s;")
    assert [bool(offered(one, "simd")) for one in (text, text.replace("m++", "i"))] == [False, True]


# ------------------------------------------------------------------------------------------------- conditional reads


@pytest.mark.parametrize(
    ("value", "is_split"),
    [
        ("A[i * n + j] < A[i * n + k] ? A[i * n + j] : A[i * n + k]", True),
        ("i < m ? A[i * n + k] : 0.5", False),
        ("i < m && A[i * n + k] > 0.5 ? 1.0 : 0.5", False),
        ("i < m || A[i * n + k] > 0.5 ? 1.0 : 0.5", False),
    ],
)
def test_an_element_that_is_read_under_a_condition_is_not_read_before(value: str, is_split: bool) -> None:
    loops = "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    text = HEAD.format(f"{loops} A[i * n + j] = {value};")
    assert bool(offered(text, "index_split")) == is_split


@pytest.mark.parametrize(
    ("value", "is_carried"),
    [
        ("A[i - 1] * 0.5 + B[i]", True),
        ("A[i - 1] > B[i] ? A[i - 1] : B[i]", True),
        ("i > 0 ? A[i - 1] * 0.5 : B[i]", False),  # there is no element before the first
        ("i > 0 && A[i - 1] > 0.5 ? 1.0 : B[i]", False),
    ],
)
def test_an_element_before_the_first_is_read_only_if_the_loop_reads_it(value: str, is_carried: bool) -> None:
    text = HEAD.format(f"for (int i = 0; i < n; i++) A[i] = {value};")
    assert bool(offered(text, "carry")) == is_carried


TABLED = """#include <math.h>
void f(int n, int m, const double *A, const double *B, double *C) {{
    for (int i = 0; i < n; i++)
        for (int j = {}; j < m; j++) {{ double s = exp(A[i]); C[i * m + j] = s * B[j]; }}
}}
"""


@pytest.mark.parametrize(("low", "test"), [("0", "if (0 < m) {"), ("i + 1", "if (i + 1 < m) {")])
def test_a_table_reads_only_what_its_nest_reads(low: str, test: str) -> None:
    """The last row of a triangle may have no element, and no row has one if there are no columns."""
    made = taken(TABLED.format(low), "tabulate(i in f)")
    assert f"for (int i = 0; i < n; i++) {{\n        {test}\n            double s = exp(A[i]);" in made


def test_a_table_of_factors_reads_only_what_its_nest_reads() -> None:
    text = """void f(int n, int m, int l, const double *A, const double *B, double *C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double s = 0.0;
            for (int k = 0; k < l; k++) s += (A[i * l + k] - 1.0) * (B[j * l + k] - 2.0);
            C[i * m + j] = s;
        }
}
"""
    made = taken(text, "operands(i in f)")
    assert "if (0 < m) {" in made and "if (0 < n) {" in made
    assert made.count("double *operand =") == made.count("double *operand_2 =") == 1
    assert offered(text.replace("2.0)", "2.0) < s"), "operands") == [], "it compares the product"


def test_a_table_of_factors_is_no_larger_than_a_matrix_of_its_nest() -> None:
    """One row and 50,000 columns are few elements, and 50,000 times 50,000 are more than an int counts."""
    text = """void f(int n, int m, int l, const double *A, const double *B, double *C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i * m + j] = 0.0;
            for (int k = 0; k < l; k++) C[i * m + j] += (A[i] - A[k]) * (B[j] - A[k]);
        }
}
"""
    assert offered(text, "operands") == []
    matrices = text.replace("A[i] ", "A[i * l + k] ").replace("B[j] ", "B[k * m + j] ")
    assert offered(matrices, "operands") == ["operands(i in f)"]


def test_a_function_that_reads_a_global_array_is_not_tabulated() -> None:
    text = TABLED.format("0").replace("exp(A[i])", "of(i)")
    heads = (f"double held[100]; static double of(int i) {{ return {value} * 0.5; }}" for value in ("held[i]", "i"))
    assert [offered(text.replace("#include <math.h>", head), "tabulate") for head in heads] == [
        [],
        ["tabulate(i in f)"],
    ]


# ------------------------------------------------------------------------------------------------------ what is read


def test_a_static_variable_stays_static() -> None:
    text = HEAD.format("static double s = 0.0; for (int i = 0; i < n; i++) { s += B[i]; } A[0] = s;")
    assert "static double s = 0.0;" in taken(text, "unroll(i in f, factor=2)")


def test_a_comment_takes_nothing_with_it() -> None:
    text = HEAD.format("for (int i = 0; i < n; i++) A[i] = B[i] // the first\n + B[i + 1] /* the second */ * 2.0;")
    assert "A[i] = B[i] + B[i + 1] * 2.0;" in taken(text, "unroll(i in f, factor=2)")


def test_pragmas_keep_their_lines_and_the_last_one_stays() -> None:
    text = """void f(int n, double *A) {
    #pragma omp parallel for \\
        schedule(static)
    for (int i = 0; i < n; i++) A[i] = 1.0;
    for (int j = 0; j < n; j++) A[j] += 1.0;
    #pragma omp barrier
}
"""
    made = taken(text, "unroll(j in f, factor=2)")
    assert "#pragma omp parallel for schedule(static)\n" in made
    assert "#pragma omp barrier\n}" in made
