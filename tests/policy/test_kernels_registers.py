"""Steps that keep elements in scalars and that shorten recurrences: where they are offered, and the loops they make."""

from __future__ import annotations

import pytest

from tests.policy.test_kernels_declines import offered, taken
from tests.policy.test_kernels_steps import function, written

PATHS = """for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = A[i * n + j] < A[i * n + k] + A[k * n + j] ? A[i * n + j] : 0.5;"""
LONGEST = "for (int k = i + 1; k < j; k++) A[i * n + j] = A[i * n + j] > {} ? A[i * n + j] : {};"
AROUND = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {} }}"


def test_an_element_that_only_one_place_touches_is_a_scalar_meanwhile() -> None:
    text = function(AROUND.format(LONGEST.format("A[i * n + k]", "A[i * n + k]")))
    made = written(taken(text, "promote(k in f"))
    assert "if (i + 1 < j) {\ndouble A_kept = A[i * n + j];" in made
    assert "A_kept = A_kept > A[i * n + k] ? A_kept : A[i * n + k];\n}\nA[i * n + j] = A_kept;\n}" in made


@pytest.mark.parametrize(
    "loop",
    [
        LONGEST.format("A[i * n + k + 1]", "0.5"),  # the same element in the last iteration
        LONGEST.format("A[i * m + k]", "0.5"),  # perhaps the same
        LONGEST.format("A[i * n + j + 0]", "0.5"),  # the same in another text
        LONGEST.format("g(k)", "0.5"),
        "for (int k = 0; k < j; k++) A[k] = 0.5 * A[k];",  # it moves
        "for (int k = 0; k < j; k++) A[j] += B[k];",  # several sums suit it better
        "for (int k = 0; k < j; k++) { A[j] = A[j] * 0.5; if (B[k] > 0) break; }",
    ],
)
def test_an_element_that_something_else_may_touch_stays_where_it_is(loop: str) -> None:
    assert offered(function(AROUND.format(loop)), "promote") == []


def test_a_loop_is_split_where_it_writes_what_all_its_iterations_read() -> None:
    made = taken(function(PATHS), "index_split(j in f)")
    lines = written(made).splitlines()
    heads = [line for line in lines if line.startswith("for (int j")]
    assert heads == [
        "for (int j = 0; j < (k < n ? k : n); j++) {",
        "for (int j = (k > 0 ? k : 0); j < (k + 1 < n ? k + 1 : n); j++) {",
        "for (int j = (k + 1 > 0 ? k + 1 : 0); j < n; j++) {",
    ]
    assert [line for line in lines if line.startswith("double A_")] == [
        "double A_before = A[i * n + k];",
        "double A_after = A[i * n + k];",
    ]
    assert offered(made, "index_split") == [], "the middle is one iteration"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[i * n + k]", "A[(i + k) * n]"),  # it is met at no plain place
        ("A[i * n + k]", "A[i * n + k] * A[m]"),  # two such elements
        ("A[i * n + k]", "A[i * n + 2 * j]"),
        ("j < n; j++", "j < n; j += 2"),
        ("A[i * n + j] = A", "A[i * n + 2 * j] = A"),
        ("int k = 0", "size_t k = 0"),
    ],
)
def test_a_loop_that_meets_no_one_element_at_a_plain_place_is_not_split(old: str, new: str) -> None:
    assert offered(function(PATHS), "index_split") == ["index_split(j in f)"]
    assert offered(function(PATHS.replace(old, new)), "index_split") == []


def test_uses_of_a_macro_are_read_as_what_they_stand_for() -> None:
    macro = "#define longer(x, y) ((x) > (y) ? (x) : (y))\n"
    body = "for (int k = i + 1; k < j; k++) A[i * n + j] = longer(A[i * n + j], longer(0.5, A[i * n + k]));"
    text = function(AROUND.format(body))
    assert offered(text, "promote") == []
    kept = "A_kept = ((A_kept) > (((0.5) > (A[i * n + k]) ? (0.5) : (A[i * n + k]))) ? (A_kept) : "
    assert kept in taken(macro + text, "promote(k in f")
    for other in (
        f"#if 0\n{macro}#endif\n",
        f"{macro}#undef longer\n",
        "#define longer(x, y) ((x) = (y))\n",
        "#define longer(x, y) longer((x), (y))\n",
        "#define longer(x) (x)\n",
    ):
        assert offered(other + text, "promote") == [], other
    assert offered(text + macro, "promote") == [], "it is defined after its use"


SWEEP = "for (int i = 1; i < n - 1; i++) A[i] = {};"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            "(A[i - 1] + A[i] + A[i + 1]) / 3.0",
            "(A[i] + A[i + 1]) * (1.0 / 3.0) + (1.0 / 3.0) * (A[i - 1])",
        ),
        ("(-A[i - 1] - B[i]) * 0.5", "(-B[i]) * 0.5 + 0.5 * (-A[i - 1])"),
        ("0.5 * A[i - 1] + B[i] * 2", "B[i] * 2 + 0.5 * A[i - 1]"),
    ],
)
def test_what_comes_from_the_iteration_before_is_added_last(value: str, expected: str) -> None:
    made = taken(function(SWEEP.format(value)), "shorten(i in f)")
    assert f"A[i] = {expected};" in made
    assert offered(made, "shorten") == []


@pytest.mark.parametrize(
    "value",
    [
        "B[i] + A[i - 1]",  # it is so
        "(A[i + 1] + B[i]) / 3.0",  # no iteration waits
        "(A[i - 1] + i) / 3",  # a whole number
        "(A[i - 1] + B[i]) / m",
        "A[i - 1] > B[i] ? A[i - 1] : B[i]",
        "(A[i - 1] + g(i)) / 3.0",
        "A[i - 1] * B[i]",
    ],
)
def test_other_values_are_not_shortened(value: str) -> None:
    assert offered(function(SWEEP.format(value)), "shorten") == []


def test_a_loop_whose_iterations_share_a_scalar_is_taken_several_at_once() -> None:
    inner = "s = A[i]; for (int k = 0; k < m; k++) { C[i * m + k] = s; s = B[i * m + k]; }"
    text = function(f"double s; for (int i = 0; i < n; i++) {{ {inner} }}")
    made = taken(text, "jam(i in f, factor=2")
    assert "double s_0 = A[i];" in made and "double s_1 = A[(i + 1)];" in made
    assert [label for label in offered(text.replace("s = A[i];", ""), "jam") if "(i in f" in label] == []


def test_an_element_is_handed_on_to_the_next_iteration() -> None:
    row = (
        "for (int j = 1; j < m; j++) { A[i * m + j] = 0.5 * A[i * m + j - 1] + B[j]; C[i * m + j] = A[i * m + j - 1]; }"
    )
    text = function(f"for (int i = 0; i < n; i++) {row}")
    made = written(taken(text, "carry(j in f)"))
    assert "if (1 < m) {\ndouble A_before = A[i * m + 1 - 1];\nfor (int j = 1; j < m; j++) {\n" in made
    steps = ["double A_now = 0.5 * A_before + B[j];", "A[i * m + j] = A_now;", "C[i * m + j] = A_before;"]
    assert "\n".join([*steps, "A_before = A_now;", "}"]) in made
    assert offered(taken(text, "carry(j in f)"), "carry") == []
    rows = function("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) A[i * m + j] = A[i * m + j - 1];")
    made = taken(rows, "jam(i in f, factor=2", "carry(j in f)")
    assert "double A_before = A[i * m + 1 - 1];" in made
    assert "double A_before_2 = A[(i + 1) * m + 1 - 1];" in made


@pytest.mark.parametrize(
    "body",
    [
        "A[j] = 0.5 * A[j - 2];",  # of the last iteration but one
        "A[j] += 0.5 * A[j - 1];",
        "A[j] = 0.5 * A[j - 1]; A[m] = B[j];",  # perhaps the same element
        "A[0] = B[j]; A[j] = 0.5 * A[j - 1];",  # read by the first iteration
        "A[j * m] = A[j * m - m]; C[j] = A[j * m - m];",  # m may be 0
        "A[j] = g(A[j - 1]);",
        "A[m] = 0.5 * A[m];",
    ],
)
def test_what_the_iteration_before_did_not_write_last_is_read(body: str) -> None:
    assert offered(function(f"for (int j = 1; j < n; j++) {{ {body} }}"), "carry") == []


def test_a_column_is_handed_on_downwards() -> None:
    text = function("for (int j = n - 2; j >= 0; j--) A[j * m] = 0.5 * A[(j + 1) * m];")
    assert "double A_now = 0.5 * A_before;" in taken(text, "carry(j in f)")


ROWS = """for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
        A[i * n + j] /= A[j * n + j];
    }"""


def test_a_factorisation_by_columns_is_made_by_rows() -> None:
    made = written(taken(function(ROWS), "right_looking(j in f)"))
    assert made == "\n".join(
        [
            "for (int i = 0; i < n; i++) {",
            "for (int k = 0; k < i; k++) {",
            "A[i * n + k] /= A[k * n + k];",
            "for (int j = k + 1; j < i; j++) {",
            "A[i * n + j] -= A[i * n + k] * A[k * n + j];",
            *"}}}",
        ]
    )
    scalar = ROWS.replace("for (int k", "double w = A[i * n + j]; for (int k").replace("A[i * n + j] -=", "w -=")
    scalar = scalar.replace("A[i * n + j] /= A", "A[i * n + j] = w / A")
    assert "A[i * n + k] = A[i * n + k] / A[k * n + k];" in taken(function(scalar), "right_looking(j in f)")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[i * n + k] * A[k * n + j]", "A[i * n + k] * A[j * n + k]"),  # it would jump
        ("A[i * n + k] * A[k * n + j]", "A[i * n + k + 1] * A[k * n + j]"),  # needs an end that is not over
        ("A[j * n + j];", "A[j * n + j]; B[k] = A[j];"),
        ("A[j * n + j];", "A[j * n + j]; B[0] += A[i * n + i - 1];"),
        ("k < j", "k < j + 1"),
        ("int k = 0", "int k = 1"),
        ("j < i; j++", "j < i; j += 2"),
        ("int j = 0", "size_t j = 0"),
        ("A[i * n + j] -= A[i", "B[j + k] = A[i"),
    ],
)
def test_what_needs_an_element_before_it_is_final_keeps_its_order(old: str, new: str) -> None:
    text = f"int k = 0; {ROWS.replace(old, new)}"
    assert offered(function(text), "right_looking") == []


COLUMNS = """for (int j = 0; j < n; j++) {
    B[j] = 0.0;
    for (int i = 0; i < m; i++) B[j] += A[i * n + j];
    B[j] /= n;
}"""


def test_a_loop_is_split_and_its_parts_move_through_rows() -> None:
    made = written(taken(function(COLUMNS), "contiguous(j in f)"))
    assert "for (int i = 0; i < m; i++) {\nfor (int j = 0; j < n; j++) {\nB[j] += A[i * n + j];" in made
    assert made.count("for (int j") == 3
    assert offered(made, "contiguous") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[i * n + j]", "A[j * m + i]"),  # it moves through rows
        ("B[j] /= n", "B[j + 1] = 0.5 * B[j]"),
        ("B[j] = 0.0;", "double n = B[j];"),
        ("B[j] += A[i * n + j]", "B[j] = A[i * n + j] * B[j + 1]"),
        ("i < m", "i < j"),
    ],
)
def test_a_loop_that_may_not_be_split_or_would_jump_stays(old: str, new: str) -> None:
    assert offered(function(f"int i = 0; {COLUMNS.replace(old, new)}"), "contiguous") == []


def test_threads_share_the_outermost_loop_that_may_be_shared() -> None:
    sweep = (
        "for (int i = 1; i < n - 1; i++) for (int j = 0; j < m; j++) B[i * m + j] = A[i * m + j - 1] + A[i * m + j];"
    )
    copy = "for (int i = 1; i < n - 1; i++) for (int j = 0; j < m; j++) A[i * m + j] = B[i * m + j];"
    text = function(f"for (int t = 0; t < m; t++) {{ {sweep} {copy} }}")
    assert offered(text, "parallel") == ["parallel(i in f)", "parallel(i#2 in f)"]
    made = taken(text, "parallel(i in f)")
    assert offered(made, "parallel") == ["parallel(i#2 in f)"]
    assert written(made).startswith("for (int t = 0; t < m; t++) {\n#pragma omp parallel for\nfor (int i")
