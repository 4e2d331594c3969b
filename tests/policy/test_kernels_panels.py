"""Steps for factorisations and for sums beside other work: where they are offered, and the loops they make."""

from __future__ import annotations

import pytest

from tests.policy.test_kernels_declines import offered, taken
from tests.policy.test_kernels_steps import function, written

LOWER = """    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
        A[i * n + j] /= A[j * n + j];
    }
"""
UPPER = """    for (int j = i; j < n; j++)
        for (int k = 0; k < i; k++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
"""
GAUSS = f"for (int i = 0; i < n; i++) {{\n{LOWER}{UPPER}}}"
CHOLESKY = """for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++) A[i * n + j] -= A[i * n + k] * A[j * n + k];
        A[i * n + j] /= A[j * n + j];
    }
    for (int k = 0; k < i; k++) A[i * n + i] -= A[i * n + k] * A[i * n + k];
    A[i * n + i] = sqrt(A[i * n + i]);
}"""


def test_a_factorisation_updates_what_is_behind_a_panel_by_one_product() -> None:
    made = written(taken(function(GAUSS), "panel(i in f, columns=32"))
    assert "for (int k0 = 0; k0 < n; k0 += BLOCK) {\nint k1 = (k0 + BLOCK < n ? k0 + BLOCK : n);\n" in made
    below = "for (int i = k1; i < n; i++) {\nfor (int k = k0; k < k1; k++) {\nA[i * n + k] /= A[k * n + k];\n"
    assert f"{below}for (int j = k + 1; j < k1; j++) {{\nA[i * n + j] -= A[i * n + k] * A[k * n + j];" in made
    beside = "for (int i = k0; i < k1; i++) {\nfor (int k = k0; k < i; k++) {\nfor (int j = k1; j < n; j++) {"
    assert made.index(below) < made.index(beside) < made.index("product(n - k1, n - k1, k1 - k0, -1.0, A + k1 * n + k0")
    assert made.count("product(") == 1


def test_a_factorisation_of_half_a_matrix_updates_a_triangle() -> None:
    made = taken(function(CHOLESKY), "panel(i in f, columns=32")
    assert "product(i1 - i0, i0 + 1 - k1, k1 - k0, -1.0, A + i0 * n + k0, n, 1, A + k1 * n + k0, 1, n, " in made
    assert "A[i * n + j] += corner[(i - from) * BLOCK + j - from];" in made
    assert any(label.startswith("retune(BLOCK") for label in offered(made, "retune"))


def test_a_sum_in_a_scalar_is_no_obstacle() -> None:
    lower = """    for (int j = 0; j < i; j++) {
        w = A[i * n + j];
        for (int k = 0; k < j; k++) w -= A[i * n + k] * A[k * n + j];
        A[i * n + j] = w / A[j * n + j];
    }
"""
    made = written(taken(function(f"double w;\nfor (int i = 0; i < n; i++) {{\n{lower}{UPPER}}}"), "panel(i in f"))
    assert "product(n - k1, n - k1, k1 - k0" in made


def test_a_sum_that_is_taken_off_an_element_is_an_update() -> None:
    upper = "for (int k = 0; k < i; k++) A[i * n + j] -= A[i * n + k] * A[k * n + j];"
    assert upper in GAUSS
    sums = "{ double s = 0; for (int k = 0; k < i; k++) s += A[i * n + k] * A[k * n + j]; A[i * n + j] -= s; }"
    assert offered(function(GAUSS.replace(upper, sums)), "panel") == offered(function(GAUSS), "panel")


def test_names_in_a_template_are_not_those_of_the_program() -> None:
    solve = "{ double w = B[i]; for (int j = 0; j < i; j++) w -= A[i * n + j] * C[j]; C[i] = w; }"
    made = taken(function(f"{GAUSS}\nfor (int i = 0; i < n; i++) {solve}"), "panel(i in f")
    assert "int w, " in made
    last = made.count("for (int j = ", made.index("void f"))
    assert f"accumulators(j#{last} in f, count=2)" in offered(made, "accumulators")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k < i", "k < j"),
        ("k < j", "k <= j"),
        ("j = i; j < n", "j = i; j < m"),
        ("j = i; j < n", "j = i + 2; j < n"),
        ("A[k * n + j];\n        A", "A[(k + 1) * n + j];\n        A"),  # a row that is not final
        ("A[i * n + k] * A[k * n + j];\n        A", "A[i * n + k] * A[k * n + j + 1];\n        A"),
        ("/= A[j * n + j]", "/= A[i * n + i]"),  # the diagonal before it is final, as it is after the updates before
        ("/= A[j * n + j]", "/= A[(n - 1) * n + j]"),  # rows that change later
        ("/= A[j * n + j];", "/= A[j * n + j]; B[0] = A[i * n + j];"),  # the last to write wins
        ("/= A[j * n + j];", "/= A[j * n + j]; if (A[j] > 0) break;"),
        ("int i = 0", "size_t i = 0"),
        ("i++", "i += 2"),
        ("-= A[i * n + k] * A[k * n + j];\n        A", "-= A[i * n + k] / A[k * n + j];\n        A"),
        ("A[i * n + k] * A[k * n + j];\n}", "A[i * m + k] * A[k * n + j];\n}"),  # rows that may overlap
        ("A[i * n + k] * A[k * n + j];\n}", "B[i * n + k] * C[j];\n}"),
    ],
)
def test_other_nests_and_orders_that_matter_are_no_factorisation(old: str, new: str) -> None:
    assert old in GAUSS
    assert offered(function(GAUSS), "panel")
    assert offered(function(GAUSS.replace(old, new)), "panel") == []


# ------------------------------------------------------------------------------------------------------------- columns

COLUMNS = """for (int k = 0; k < n; k++) {
    C[k] = A[k] * A[n + k];
    for (int j = k + 1; j < n; j++) {
        B[k * n + j] = 0.0;
        for (int i = 0; i < m; i++) B[k * n + j] += C[k] * A[i * n + j];
        for (int i = 0; i < m; i++) A[i * n + j] -= A[i * n + k] * B[k * n + j];
    }
}"""


def test_a_few_columns_are_taken_through_all_before_them_along_rows() -> None:
    made = written(taken(function(COLUMNS), "left_looking(k in f, columns=32"))
    high = "(j0 + TILE < n ? j0 + TILE : n)"
    assert f"for (int k = 0; k < j0; k++) {{\nfor (int j = j0; j < {high}; j++) {{\nB[k * n + j] = 0.0;" in made
    assert f"for (int k = j0; k < {high}; k++) {{\nC[k] = A[k] * A[n + k];\nfor (int j = k + 1; j < {high}; " in made
    assert made.count("for (int i = 0; i < m; i++) {\nfor (int j = ") == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[i * n + k] * B", "A[i * n + n - 1] * B"),  # what a later column holds
        ("B[k * n + j] = 0.0;", "C[0] = B[k * n + j];"),
        ("C[k] = A[k] * A[n + k];", "C[k] = A[n - 1];"),
        ("j = k + 1", "j = k"),
        ("j < n; j++", "j < m; j++"),
        ("j < n; j++", "j < n; j += 2"),
        ("C[k] = A[k] * A[n + k];", "if (A[k] > 0) break;"),
        ("C[k] = A[k] * A[n + k];", ""),
    ],
)
def test_columns_that_need_later_ones_stay_in_their_order(old: str, new: str) -> None:
    assert offered(function(COLUMNS), "left_looking")
    assert offered(function(COLUMNS.replace(old, new)), "left_looking") == []


@pytest.mark.parametrize("test", ["C[k]", "t"])
def test_a_value_of_a_column_is_not_used_where_it_is_not_declared(test: str) -> None:
    inner = f"for (int j = k + 1; j < n; j++) if ({test} > 0) A[n + j] -= C[k] * A[n + k];"
    text = function(f"for (int k = 0; k < n; k++) {{ double t = A[k] * A[n + k]; C[k] = t; {inner} }}")
    assert bool(offered(text, "left_looking")) == (test == "C[k]")


# ---------------------------------------------------------------------------------------------------------------- sums

BOTH = """for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
        double s = 0;
        for (int k = 0; k < i; k++) {
            C[k * m + j] += B[i * m + j] * A[i * n + k];
            s += B[k * m + j] * A[i * n + k];
        }
        C[i * m + j] = 0.5 * C[i * m + j] - 2.0 * s + B[i * m + j];
    }"""


def test_a_sum_that_is_a_term_goes_into_the_element_and_both_parts_become_products() -> None:
    made = taken(function(BOTH), "accumulate(j in f)")
    first = "C[i * m + j] = 0.5 * C[i * m + j] + B[i * m + j];\nfor (int k = 0; k < i; k++) {\n"
    assert first in written(made)
    assert "C[i * m + j] -= 2.0 * B[k * m + j] * A[i * n + k];" in written(made)
    made = written(taken(made, "triangle(i in f", "triangle(i#3 in f"))
    assert "product(i0, m, i1 - i0, 1.0, A + i0 * n, 1, n, B + i0 * m, m, 1, C, m, 0);" in made
    assert "product(i1_2 - i0_2, m, i0_2, -2.0, A + i0_2 * n, n, 1, B, m, 1, C + i0_2 * m, m, 0);" in made
    assert made.index("C[i * m + j] = 0.5") < made.index("product("), (
        "each row is scaled before anything is added to it"
    )


def test_what_a_sum_adds_keeps_its_own_type() -> None:
    text = function(BOTH).replace("int m,", "int m, const unsigned *p,")
    made = taken(text.replace("s += B[k * m + j]", "s += p[k] / p[j] * B[k * m + j]"), "accumulate(j in f)")
    assert "C[i * m + j] -= 2.0 * (p[k] / p[j] * B[k * m + j] * A[i * n + k]);" in written(made)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0 * s", "2.0 / s"),
        ("2.0 * s", "s * s"),
        ("2.0 * s", "2.0 * (s + 1.0)"),
        ("- 2.0 * s", "- 2.0 * s * B[j] + s"),
        ("s += B[k * m + j]", "s += s * B[k * m + j]"),
        ("s += B[k * m + j]", "s += C[i * m + j]"),  # the element as it was before
        ("C[k * m + j] +=", "C[i * m + j] +="),
        ("0.5 * C[i * m + j]", "0.5 * C[(i - 1) * m + j]"),  # what the loop writes
        ("0.5 * C[i * m + j]", "0.5 * g(C)"),
        ("double s = 0;", "double s = 1;"),
        ("double s = 0;", "float s = 0;"),
    ],
)
def test_a_sum_that_must_be_whole_first_stays_a_scalar(old: str, new: str) -> None:
    assert offered(function(BOTH), "accumulate") == ["accumulate(j in f)"]
    assert offered(function(BOTH.replace(old, new)), "accumulate") == []


@pytest.mark.parametrize(
    ("value", "first"),
    [
        ("u - v + 2.0 * s", "u - v;"),
        ("2.0 * s + v", "v;"),
        ("2.0 * s - B[j]", "-B[j];"),
        ("u + 2.0 * s - v", ""),  # a sum of doubles; without s it would be one of numbers without a sign
        ("2.0 * s - v", ""),
    ],
)
def test_what_is_left_of_a_sum_has_its_type(value: str, first: str) -> None:
    text = function(BOTH).replace("int m,", "int m, unsigned u, unsigned v,")
    text = text.replace("0.5 * C[i * m + j] - 2.0 * s + B[i * m + j]", value)
    assert offered(text, "accumulate") == (["accumulate(j in f)"] if first else [])
    assert not first or f"C[i * m + j] = {first}\nfor (int k" in written(taken(text, "accumulate(j in f)"))


def test_what_a_sum_adds_is_multiplied_as_a_double() -> None:
    text = (
        function(BOTH)
        .replace("int m,", "int m, const int *p,")
        .replace("B[k * m + j] * A[i * n + k];\n        }", "p[k]; }")
    )
    made = written(taken(text.replace("2.0 * s", "m * s"), "accumulate(j in f)"))
    assert "C[i * m + j] -= m * (double)(p[k]);" in made


@pytest.mark.parametrize("op", ["+=", "-="])
def test_a_sum_that_is_added_to_an_element_goes_there_at_once(op: str) -> None:
    sums = "double s = 0.0; for (int k = 0; k < m; k++) s -= A[i * m + k] * A[j * m + k];"
    text = function(f"for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {{ {sums} C[i * n + j] {op} 2.0 * s; }}")
    other = "-=" if op == "+=" else "+="
    made = taken(text, "accumulate(j in f)")
    assert f"{{\nfor (int k = 0; k < m; k++) {{\nC[i * n + j] {other} 2.0 * A[i * m + k] * A[j * m + k];" in written(
        made
    )
    assert offered(made, "triangle")
    assert offered(text.replace("s -= A", "s -= C"), "accumulate") == []


SWEEPS = """for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) B[i] += A[i * n + j] * B[n + j];
for (int {0} = 0; {0} < n; {0}++)
    for (int {1} = 0; {1} < n; {1}++) C[{1}] += A[{0} * n + {1}] * B[2 * n + {0}];"""


@pytest.mark.parametrize("names", [("i", "j"), ("j", "i"), ("k", "i"), ("j", "k")])
def test_two_sweeps_are_joined_whatever_their_loops_are_called(names: tuple[str, str]) -> None:
    inner = names[1] if names[1] != "i" else names[0]
    made = written(taken(function(SWEEPS.format(*names)), "fuse(i in f)"))
    assert made.startswith("for (int i = 0; i < n; i++) {\nfor (int j = 0; j < n; j++) {\nB[i] += ")
    assert f"C[{inner}] += A[i * n + {inner}] * B[2 * n + i];" in made


def test_a_name_that_means_something_else_inside_is_not_exchanged() -> None:
    first = "int i = 2;\nfor (int i = 0; i < n; i++) A[i] = 0.5;\n"
    second = "for (int j = 0; j < n; j++) {{ B[j] = C[{}]; for (int i = 0; i < m; i++) C[n + i] += B[j]; }}"
    assert offered(function(first + second.format("j")), "fuse") == ["fuse(i in f)"]
    assert offered(function(first + second.format("i")), "fuse") == []


def test_an_inner_loop_of_the_same_name_keeps_its_variable() -> None:
    second = "for (int j = 0; j < n; j++) { B[j] = 1.0; for (int j = 0; j < m; j++) C[j] += 1.0; }"
    made = written(taken(function(f"for (int i = 0; i < n; i++) A[i] = 0.5;\n{second}"), "fuse(i in f)"))
    assert "B[i] = 1.0;\nfor (int i = 0; i < m; i++) {\nC[i] += 1.0;" in made


# ---------------------------------------------------------------------------------------------------------------- rows

ROWS = """for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
        C[j] = 0.0;
        for (int k = 0; k < n; k++) C[j] += A[i * n + k] * B[k * m + j];
    }
    for (int j = 0; j < m; j++) B[n * m + i * m + j] = C[j];
}"""


def test_an_array_of_one_iteration_gets_a_row_for_each_and_leaves_the_last() -> None:
    made = taken(function(ROWS), "expand(i in f, array=C)")
    assert "#include <stdlib.h>" in made
    text = written(made)
    assert text.startswith("double *C_of = (double *)malloc(((size_t)(n > 0 ? n : 0) * (size_t)(m > 0 ? m : 0) + 1)")
    assert "if (0 < n) {\nfor (int j = 0; j < m; j++) {\nC[j] = C_of[(n - 1) * m + j];\n}\n}\nfree(C_of);" in text
    assert any(label.startswith("product(i in f") for label in offered(made, "product"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("C[j] = 0.0;", "C[j] = 0.5 * C[j];"),  # what the iteration before left
        ("C[j] = 0.0;", "if (A[j] > 0) C[j] = 0.0;"),
        ("C[j] += A[i * n + k]", "C[j] += C[k]"),
        ("= C[j];", "= C[j + 1];"),
        ("j < m; j++) B", "j < n; j++) B"),  # more than was filled
        ("j = 0; j < m; j++) {", "j = 1; j < m; j++) {"),
        ("B[n * m + i * m + j] = C[j];", "B[j] = C[j];"),  # no array has a row of that size for every iteration
        ("int i = 0", "int i = 1"),
        ("i < n; i++", "i < n; i += 2"),
        ("for (int j = 0; j < m; j++) B", "if (A[i] > 0) return;\n for (int j = 0; j < m; j++) B"),
    ],
)
def test_an_array_that_may_hold_something_older_is_shared(old: str, new: str) -> None:
    assert old in ROWS
    assert offered(function(ROWS), "expand")
    assert offered(function(ROWS.replace(old, new)), "expand") == []
