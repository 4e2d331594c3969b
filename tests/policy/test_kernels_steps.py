"""Steps for nests beyond products: where they are offered, and the loops that they make."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.nest import Loop, printed
from maxcode.policy.rules.kernels.reading import read
from tests.policy.test_kernels_declines import offered, taken


def function(body: str) -> str:
    return f"void f(int n, int m, double *A, double *B, double *C) {{\n{body}\n}}\n"


def written(text: str) -> str:
    """The body of the function, without indentation."""
    return "\n".join(line.strip() for line in text[text.index("void f") :].splitlines()[1:-1])


def plain(body: str) -> str:
    """A body as it is read and printed."""
    (only,) = kernels(Unit("c", function(body)))
    return "\n".join(line.strip() for line in printed(only.body).splitlines())


# -------------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for (int i=0; i<n; i++) A[i] = 1.0;", "for (int i = 0; i < n; i++) { A[i] = 1.0; }"),
        (
            "for (int i = n - 1; i >= 0; i--) A[i] = B[i];",
            "for (int i = 0; i < n; i++) { A[(n - 1 - i)] = B[(n - 1 - i)]; }",
        ),
        (
            "for (int i = n; i > m; --i) A[i] = 1.0;",
            "for (int i = m + 1; i < n + 1; i++) { A[(n + m + 1 - i)] = 1.0; }",
        ),
        ("for (int i = 0; i < n; i++) A[i] = A[i] + B[i];", "for (int i = 0; i < n; i++) { A[i] += B[i]; }"),
        (
            "for (int i = 0; i < n; i++) A[i] = B[i] * B[m] + A[i];",
            "for (int i = 0; i < n; i++) { A[i] += B[i] * B[m]; }",
        ),
        (
            "for (int i = 0; i < n; i++) A[i] = A[i] - f(B[i], -1);",
            "for (int i = 0; i < n; i++) { A[i] -= f(B[i], -1); }",
        ),
    ],
)
def test_loops_and_sums_are_read_in_one_form(loop: str, expected: str) -> None:
    assert " ".join(plain(loop).split()) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "A[i] = A[i] + B[i] + 1.0;",
        "A[i] = A[i] * 2.0 + B[i];",
        "A[i] = B[i] - A[i];",
        "A[i] = A[i] + (B[i] > 0) ? 1 : 0;",
    ],
)
def test_what_is_no_sum_of_two_terms_stays(statement: str) -> None:
    assert statement in plain(f"for (int i = 0; i < n; i++) {statement}")


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = n; i >= 0; i--) { i = i - 1; A[i] = 1.0; }",
        "for (int i = n; i >= 0; i--) { int i = 3; A[i] = 1.0; }",
        "for (size_t i = n; i > 0; i--) A[i] = 1.0;",
        "for (int i = n; i >= 0; i++) A[i] = 1.0;",
        "for (int i = 0; i < n; i--) A[i] = 1.0;",
    ],
)
def test_loops_that_cannot_be_turned_round_are_left(loop: str) -> None:
    (only,) = Unit("c", function(loop)).functions
    assert not any(isinstance(item, Loop) for item in read(only.body))


# --------------------------------------------------------------------------------------------- fusion and distribution


TWO = "for (int i = 0; i < n; i++) {{ A[i] = B[i]; }} for (int k = 0; k < n; k++) {{ C[k] = {}; }}"


@pytest.mark.parametrize(
    ("value", "fused"),
    [
        ("A[k]", True),
        ("A[k - 1]", True),
        ("A[k + 1]", False),
        ("A[n - 1 - k]", False),
        ("A[m]", False),
        ("B[k + 1]", True),
    ],
)
def test_neighbours_are_joined_unless_the_second_needs_a_later_iteration(value: str, fused: bool) -> None:
    text = function(TWO.format(value))
    assert offered(text, "fuse") == (["fuse(i in f)"] if fused else [])
    if fused:
        value = value.replace("k", "i")
        assert written(taken(text, "fuse(i")) == f"for (int i = 0; i < n; i++) {{\nA[i] = B[i];\nC[i] = {value};\n}}"


@pytest.mark.parametrize(("old", "new"), [("k < n", "k < m"), ("int k", "long k"), ("C[k] =", "C[i + k] =")])
def test_loops_of_other_ranges_are_not_joined(old: str, new: str) -> None:
    assert offered(function("int i = 3;" + TWO.format("A[k]").replace(old, new)), "fuse") == []


def test_loops_whose_names_clash_are_not_joined() -> None:
    text = TWO.format("A[k]").replace("A[i] =", "double t = B[i]; A[i] =").replace("C[k] =", "double t = A[k]; C[k] =")
    assert offered(function(text), "fuse") == []


def test_a_loop_is_split_where_nothing_goes_back() -> None:
    body = "for (int i = 1; i < n; i++) { A[i] = B[i - 1]; B[i] = 2.0; C[i] = B[i] + A[i]; }"
    text = function(body)
    assert offered(text, "distribute") == ["distribute(i in f)"]  # A needs B of the iteration before: they stay
    assert written(taken(text, "distribute(i in f")).count("for (") == 2
    free = function(body.replace("B[i - 1]", "1.0"))
    assert offered(free, "distribute") == ["distribute(i in f)", "distribute(i in f, at=1)", "distribute(i in f, at=2)"]
    named = function(body.replace("A[i] = B[i - 1]", "double t = A[i]; A[i] = t"))
    assert offered(named, "distribute") == [
        "distribute(i in f)",
        "distribute(i in f, at=2)",
        "distribute(i in f, at=3)",
    ]


# ----------------------------------------------------------------------------------------------- triangles and stencils


def test_a_triangle_is_cut_into_pieces() -> None:
    text = function("for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) A[i * n + j] = B[j * n + i];")
    made = written(taken(text, "tile(j in f, size=32"))
    assert "for (int j0 = 1; j0 < n; j0 += TILE_J)" in made
    assert "for (int j = (j0 > i + 1 ? j0 : i + 1); j < (j0 + TILE_J < n ? j0 + TILE_J : n); j++)" in made
    lower = taken(text.replace("j = i + 1; j < n", "j = 0; j <= i"), "tile(j in f, size=32")
    assert "for (int j0 = 0; j0 < n; j0 += TILE_J)" in lower
    assert offered(lower, "retune")


def test_a_triangle_with_bounds_without_a_sign_is_not_cut() -> None:
    text = "for (size_t i = 0; i < n; i++) for (size_t j = 0; j <= i; j++) A[i * n + j] = B[j];"
    assert offered(f"void f(size_t n, double *A, double *B) {{ {text} }}", "tile") == []


def test_rows_of_a_triangle_share_a_loop_and_keep_their_ends() -> None:
    text = function("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i * n + j] += B[i] * B[j];")
    made = written(taken(text, "jam(i in f, factor=2"))
    both = "for (int j = 0; j < i; j++) {\nA[i * n + j] += B[i] * B[j];\nA[(i + 1) * n + j] += B[(i + 1)] * B[j];\n}"
    end = "for (int j = (i > 0 ? i : 0); j < i + 1; j++) {\nA[(i + 1) * n + j] += B[(i + 1)] * B[j];\n}"
    assert f"{both}\n{end}" in made
    assert offered(text.replace("j < i;", "j < 2 * i;"), "jam") == []


def test_copies_that_read_what_they_sum_stay_apart() -> None:
    text = function("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[j] -= 0.5 * B[j];")
    assert written(taken(text, "jam(i in f, factor=2")).count("B[j] -= 0.5 * B[j];") == 3


SWEEP = "for (int i = 1; i < n - 1; i++) {}[i] = 0.5 * ({}[i - 1] + {}[i + 1]);"


def test_two_sweeps_are_skewed_by_two_and_the_second_is_delayed() -> None:
    text = function(f"for (int t = 0; t < m; t++) {{ {SWEEP.format('B', 'A', 'A')} {SWEEP.format('A', 'B', 'B')} }}")
    made = written(taken(text, "time_tile(t in f, axes=1, time=8, size=128"))
    assert "for (int x0 = 1; x0 < n + 2 * (TIME - 1); x0 += TILE_X0)" in made
    assert "for (int t = t0; t < (t0 + TIME < m ? t0 + TIME : m); t++)" in made
    assert "int i = (x0 - 2 * (t - t0) > 1 ? x0 - 2 * (t - t0) : 1)" in made
    assert "int i = (x0 - 2 * (t - t0) - 1 > 1 ? x0 - 2 * (t - t0) - 1 : 1)" in made
    tuned = offered(taken(text, "time_tile(t"), "retune")
    assert {"retune(TIME, value=4)", "retune(TILE_X0, value=64)"} <= set(tuned)


PLANE = """for (int t = 0; t < m; t++) {
    for (int j = 0; j < n; j++) A[j] = C[t];
    for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i * n + j] -= 0.5 * (B[i * n + j] - B[(i - 1) * n + j]);
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < n - 1; j++) B[i * n + j] -= 0.5 * (A[(i + 1) * n + j] - A[i * n + j]);
}"""


def test_rows_of_a_plane_go_through_the_steps_of_time_one_behind_the_other() -> None:
    made = taken(function(PLANE), "time_tile(t in f, axes=1, time=4, size=1)")
    assert "enum { TIME = 4 };" in made
    assert "enum { ROWS_X0 = 1 };" in made
    assert "retune(ROWS_X0, value=2)" in offered(made, "retune")
    heads = [line for line in written(made).splitlines() if line.startswith("for ")]
    assert [head.split()[2] for head in heads] == ["t0", "x0", "t", "row", "j", "i", "j", "i", "j"]
    assert "int i = (x0 - 1 * (t - t0) - 1 > 0 ?" in heads[7]
    assert heads[8] == "for (int j = 0; j < n - 1; j++) {"


def test_pieces_of_space_are_counted_as_space_is() -> None:
    text = function(PLANE).replace("int i", "long i").replace("int n", "long n")
    made = taken(text, "time_tile(t in f, axes=2, time=4")
    assert "for (long x0 = " in made
    assert "for (int x1 = " in made
    assert "for (int t0 = " in made


def test_strips_of_rows_stand_around_the_rows() -> None:
    made = taken(function(PLANE), "time_tile(t in f, axes=2, time=4, size=128)")
    assert "enum { ROWS_X0 = 1 };" in made
    assert "enum { TILE_X1 = 128 };" in made
    heads = [line.split()[2] for line in written(made).splitlines() if line.startswith("for ")]
    assert heads == ["t0", "x1", "x0", "t", "row", "j", "i", "j", "i", "j"]


def test_a_sweep_in_place_is_skewed_by_one() -> None:
    text = function(f"for (int t = 0; t < m; t++) {SWEEP.format('A', 'A', 'A')}")
    assert "x0 < n - 1 + 1 * (TIME - 1)" in written(taken(text, "time_tile(t in f"))


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) A[i] = A[n - 1 - i];",  # as far as it likes
        "for (int i = 9; i < n; i++) A[i] = A[i - 9] + A[i + 9];",
        "for (int i = 0; i < n; i++) A[i] = 0.5 * A[t];",  # a row of all paths
        "for (int i = 0; i < t; i++) A[i] = A[i + 1];",
        "for (int i = 0; i < n; i++) A[i] = A[i + 1]; m = m - 1;",
        "for (int i = 0; i < n; i++) { A[i] = A[i + 1]; s += A[i]; }",
        "for (int i = 0; i < n; i++) A[i] = B[i];",  # nothing to skew
        "for (int i = 0; i < n; i++) A[i] = A[2 * i + 1];",  # farther and farther
        "for (int i = 1; i < n; i++) A[i] = A[i - t];",
        "for (int i = 0; i < n; i++) A[i] = A[(int)C[i]];",
        "for (int i = 0; i < n; i++) B[i] = A[i + 1]; for (int i = 0; i < n; i++) A[i] = B[n - 1 - i];",
        "for (int i = 0; i < n; i++) A[i] = A[i + 1]; for (int i = 0; i < n; i++) B[i] = A[m];",  # all paths end there
        "for (int i = 0; i < n; i++) { A[i] = A[i + 1]; C[0] = B[i]; }",
        "for (int i = t; i < n; i++) A[i] = A[i + 1];",
        "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[i * n + j] = A[(i + 1) * n + j];",
        "for (int i = 0; i < (int)A[0]; i++) A[i] = A[i + 1];",
        "for (size_t i = 0; i < n; i++) A[i] = A[i + 1];",
        "for (int i = 0; i < n; i += 2) A[i] = A[i + 2];",
        "for (int i = 0; i < n; i++) A[i] = A[i + 1]; if (t == 3) A[0] = 1.0;",
        "for (int i = 0; i < n; i++) A[i] = g(A[i + 1]);",  # who knows what it does
        "for (int i = 0; i < n; i++) { A[i] = A[i + 1]; if (A[i] > 9.0) break; }",
        "if (A[0] > 9.0) break; for (int i = 0; i < n; i++) A[i] = A[i + 1];",
        "for (int i = 0; i < n; i++) { A[i] = A[i + 1]; t++; }",
        "\n#pragma omp for\nfor (int i = 0; i < n; i++) A[i] = A[i + 1];",
    ],
)
def test_what_reaches_too_far_or_needs_no_skew_is_not_tiled_in_time(body: str) -> None:
    assert offered(function(f"double s = 0.0; for (int t = 0; t < m; t++) {{ {body} }}"), "time_tile") == []


def test_a_stencil_whose_arrays_may_be_one_is_not_tiled_in_time() -> None:
    text = function(PLANE)
    other = "void g(int n, int m, double *A, double *B, double *C) {{ f(n, m, A, {}, C); }}\n"
    assert offered(f"{text}{other.format('B')}", "time_tile")
    assert offered(f"{text}{other.format('A')}", "time_tile") == []


# -------------------------------------------------------------------------------------------------------------- scalars


PRIVATE = "double t; for (int i = 0; i < n; i++) {{ {} }} for (int i = 0; i < m; i++) {{ t = A[i]; B[i] = t; }}"


@pytest.mark.parametrize(
    ("body", "private"),
    [
        ("t = A[i]; B[i] = t * t;", True),
        ("for (int k = 0; k < m; k++) { t = A[k]; B[i] += t; }", True),
        ("if (A[i] > 0) { t = A[i]; B[i] = t; }", True),
        ("B[i] = t; t = A[i];", False),  # the value of the iteration before
        ("if (A[i] > 0) t = A[i]; B[i] = t;", False),
        ("t += A[i];", False),
        ("t = t + A[i]; B[i] = t;", False),
        ("t = A[i]; g(&t);", False),
    ],
)
def test_a_scalar_is_private_if_every_iteration_sets_it_first(body: str, private: bool) -> None:
    assert offered(function(PRIVATE.format(body)), "privatise") == (["privatise(t in f)"] if private else [])


def test_a_scalar_that_is_used_after_the_loop_is_not_private() -> None:
    assert offered(function(PRIVATE.format("t = A[i]; B[i] = t;") + " C[0] = t;"), "privatise") == []


SYMMETRIC = """double t;
for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
        t = 0;
        for (int k = 0; k < i; k++) { C[k * n + j] += B[i * n + j] * A[i * m + k]; t += B[k * n + j] * A[i * m + k]; }
        C[i * n + j] = 0.5 * C[i * n + j] + t;
    }"""


def test_an_expanded_scalar_lets_the_loop_around_it_be_split_and_moved() -> None:
    text = function(SYMMETRIC)
    assert offered(text, "interchange") == []
    assert offered(text, "expand") == ["expand(j in f)"]
    made = taken(text, "expand(j in f)")
    assert made.startswith("#include <stdlib.h>\n")
    assert "interchange(j#2 in f, inner=k)" in offered(made, "interchange")
    early = taken(function(SYMMETRIC + " return;"), "expand(j in f)")
    assert early.index("malloc(") < early.index("free(") < early.index("return;")
    assert (
        offered(text.replace("t = 0;", "t = C[(i + 1) * n + j + 1];").replace("k * n + j] +=", "k] +="), "expand") == []
    )


def test_a_sum_is_made_in_several_places() -> None:
    text = function("for (int i = 0; i < n; i++) { double s = 0.0; for (int k = 0; k < m; k++) s -= A[k]; B[i] = s; }")
    made = written(taken(text, "accumulators(k in f, count=2"))
    assert "for (int k = 0; k < m - 1; k += 2) {\ns_0 += A[k];\ns_1 += A[(k + 1)];\n}" in made
    assert "for (int k = m / 2 * 2; k < m; k++) {\ns -= A[k];\n}\ns -= s_0 + s_1;" in made


def test_elements_that_the_loops_keep_apart_are_several_sums() -> None:
    head = "for (int i = 0; i < n; i++) for (int k = 0; k < i; k++)"
    text = function(f"{head} {{ A[i] -= B[k] * A[k]; A[n] += B[k]; }}")
    made = written(taken(text, "accumulators(k in f, count=2"))
    assert "A[i] -= A_0 + A_1;\nA[n] += A_2 + A_3;" in made
    assert offered(text.replace("k < i", "k <= i"), "accumulators") == []


@pytest.mark.parametrize(
    "body",
    [
        "A[k] += B[k];",  # it moves
        "A[i] += A[k];",
        "A[i] += B[k]; A[m] += B[k];",  # perhaps one element
        "A[i] += B[k]; A[i] -= C[k];",
        "A[i] *= B[k];",
        "A[i] += B[k]; C[k] = 0.0;",
        "A[i] += g(B);",
        "F[i] += B[k];",
    ],
)
def test_what_is_more_than_sums_in_fixed_places_stays_one_sum(body: str) -> None:
    text = function(f"for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) {{ {body} }}")
    assert offered(text.replace("double *C)", "double *C, float *F)"), "accumulators") == []
