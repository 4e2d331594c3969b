"""Triangles of matrix products: where they are found, and the rectangles and corners that they become."""

from __future__ import annotations

import pytest

from tests.policy.test_kernels_declines import offered, taken
from tests.policy.test_kernels_steps import function, written

LOWER = """for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) C[i * n + j] *= 0.5;
    for (int k = 0; k < m; k++)
        for (int j = 0; j <= i; j++) C[i * n + j] += A[i * m + k] * 2.0 * B[j * m + k] - B[i * m + k] * A[j * m + k];
}"""
UPPER = """for (int i = 0; i < n - 1; i++) {
    C[i * n + i] = 1.0;
    for (int j = i + 1; j < n; j++) {
        C[i * n + j] = 0.0;
        for (int k = 0; k < m; k++) C[i * n + j] += (A[k * n + i] * A[k * n + j]);
        C[j * n + i] = C[i * n + j];
    }
}"""


def test_rows_below_the_diagonal_are_rectangles_and_corners() -> None:
    made = written(taken(function(LOWER), "triangle(i in f, rows=32"))
    assert "int i1 = (i0 + BLOCK < n ? i0 + BLOCK : n);\nif (0 < i0 + 1) {\n" in made
    assert "product(i1 - i0, i0 + 1, m, 2.0, A + i0 * m, m, 1, B, 1, m, C + i0 * n, n, 0);" in made
    assert "product(i1 - i0, i0 + 1, m, -1.0, B + i0 * m, m, 1, A, 1, m, C + i0 * n, n, 0);" in made
    assert "int from = (i0 + 1 > 0 ? i0 + 1 : 0);\nif (from < i1 && 0 < m) {\ndouble corner[BLOCK * BLOCK];\n" in made
    assert "product(i1 - from, i1 - from, m, 2.0, A + from * m, m, 1, B + from * m, 1, m, corner, BLOCK, 1);" in made
    assert "product(i1 - from, i1 - from, m, -1.0, B + from * m, m, 1, A + from * m, 1, m, corner, BLOCK, 0);" in made
    half = "for (int i = from; i < i1; i++) {\nfor (int j = from; j < i + 1; j++) {\n"
    assert f"{half}C[i * n + j] += corner[(i - from) * BLOCK + j - from];" in made


def test_rows_above_the_diagonal_are_rectangles_and_corners() -> None:
    made = written(taken(function(UPPER), "triangle(i in f, rows=32"))
    assert "if (i1 + 1 < n) {\nproduct(i1 - i0, n - (i1 + 1), m, 1.0, A + i0, 1, n, A + i1 + 1, n, 1, " in made
    assert "product(to - i0, to + 1 - (i0 + 1), m, 1.0, A + i0, 1, n, A + i0 + 1, n, 1, corner, BLOCK, 1);" in made
    assert "C[i * n + j] += corner[(i - i0) * BLOCK + j - (i0 + 1)];" in made
    assert made.count("C[j * n + i] = C[i * n + j];") == 1
    assert offered(taken(function(UPPER), "triangle(i in f, rows=32"), "retune")


def test_a_triangle_by_columns_has_corners_by_rows() -> None:
    text = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < m; k++) "
    made = written(taken(function(f"{text}C[j * n + i] += A[i * m + k] * B[j * m + k];"), "triangle(i in f, rows=32"))
    assert "product(i0, i1 - i0, m, 1.0, B, m, 1, A + i0 * m, 1, m, C + i0, n, 0);" in made
    assert "C[j * n + i] += corner[(j - from) * BLOCK + i - (from + 1)];" in made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("B[j * m + k] -", "C[j * n + k] -"),  # a factor that the nest changes
        ("A[j * m + k];", "A[j * m + k] * B[k];"),
        ("k < m", "k < i"),
        ("j <= i; j++) C[i * n + j] +=", "j <= 2 * i; j++) C[i * n + j] +="),
        ("j <= i; j++) C[i * n + j] +=", "j <= m; j++) C[i * n + j] +="),  # no triangle
        ("j <= i; j++) C[i * n + j] +=", "j <= i; j += 2) C[i * n + j] +="),
        ("C[i * n + j] += A", "C[i * n + j] = A"),
        ("int i = 0", "size_t i = 0"),
        ("    for (int j = 0; j <= i; j++) C[i * n + j] *= 0.5;", "if (A[i] > 0) break;"),
    ],
)
def test_what_is_no_triangle_of_a_product_stays_a_nest(old: str, new: str) -> None:
    assert offered(function(LOWER), "triangle")
    assert offered(function(LOWER.replace(old, new)), "triangle") == []


def test_a_product_that_begins_at_a_sum_has_the_right_size() -> None:
    add = "for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];"
    made = taken(function(f"for (int i = 0; i < n; i++) for (int k = m + 1; k < n; k++) {add}"), "product(i in f")
    assert "product(n, n, n - (m + 1), 1.0, A + m + 1, " in written(made)


def test_a_product_behind_another_statement_of_a_loop_is_found() -> None:
    inner = "for (int k = 0; k < m; k++) for (int j = 0; j < n; j++) C[i * n + j] += A[i * m + k] * B[k * n + j];"
    rows = f"for (int i = 0; i < n; i++) {{ for (int j = 0; j < n; j++) C[i * n + j] *= 0.5; {inner} }}"
    made = written(taken(function(rows), "product(i in f, template=packed"))
    assert made.endswith("product(n, n, m, 1.0, A, m, 1, B, n, 1, C, n, 0);")
    assert offered(function(rows.replace("*= 0.5", "= C[i * n - n + j]")), "product") == []


AHEAD = """for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
        for (int k = i + 1; k < n; k++) B[i * m + j] += A[k * n + i] * B[k * m + j];
        B[i * m + j] *= 0.5;
    }"""


def test_rows_that_need_those_behind_them_are_updated_by_a_product_before_they_change() -> None:
    made = written(taken(function(AHEAD), "block(i in f, rows=16"))
    inner = made.index("for (int k = i + 1; k < i1; k++) {\nfor (int j = 0; j < m; j++) {\nB[i * m + j] += ")
    update = made.index("product(i1 - i0, m, n - i1, 1.0, A + i1 * n + i0, 1, n, B + i1 * m, m, 1, B + i0 * m, m, 0);")
    assert made.index("for (int i = i0; i < i1; i++)") < inner < update < made.index("B[i * m + j] *= 0.5;")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = i + 1;", "k = i + 2;"),
        ("k < n", "k < n - 1"),
        ("B[k * m + j];", "B[(k - 1) * m + j];"),  # its own row
        ("*= 0.5", "= B[(i + 1) * m + j]"),
        ("k = i + 1; k < n", "k = 0; k < n"),
    ],
)
def test_rows_that_need_others_are_not_updated_by_a_product(old: str, new: str) -> None:
    assert offered(function(AHEAD), "block")
    assert offered(function(AHEAD.replace(old, new)), "block") == []


def test_pieces_of_a_triangle_are_no_whole_product() -> None:
    made = taken(
        function(LOWER.replace(" - B[i * m + k] * A[j * m + k]", "")), "distribute(i in f", "tile(j#2 in f, size=32"
    )
    assert "TILE_J" in made
    assert offered(made, "product") == []


def test_a_stride_below_zero_has_a_sign_where_the_size_has_none() -> None:
    add = "C[(n - 1 - i) * m + j] += A[i * n + k] * B[k * m + j];"
    nest = f"for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) {add}"
    made = written(taken(function(nest).replace("int m", "unsigned m"), "product(i in f"))
    assert "C + m * n - 1 * m, -1L * m, 0);" in made


def test_a_function_that_calls_itself_has_no_corners_on_its_stack() -> None:
    assert offered(function(f"{UPPER}\nif (n > 9) f(n - 9, m, A, B, C);"), "triangle") == []
    other = function(f"{UPPER}\nif (n > 9) g(n - 9, m, A, B, C);")
    assert offered(other, "triangle")
    whole = "void g(int n, int m, double *A, double *B, double *C) {{ {}(n, m, A, B, C); }}\n{}"
    assert [bool(offered(whole.format(name, other), "triangle")) for name in ("h", "f")] == [True, False]
