"""Steps for values that wait for others, and extrema: where they are offered, and the loops that they make."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.nest import Assign, every
from tests.policy.test_kernels_declines import offered, taken
from tests.policy.test_kernels_steps import function, written

HIGHER = "#define higher(a, b) ((a) > (b) ? (a) : (b))"


def whole(body: str, kinds: str = "int *T, const int *S", before: str = HIGHER) -> str:
    return f"{before}\nvoid f(int n, int m, {kinds}) {{\n{body}\n}}\n"


# -------------------------------------------------------------------------------------------------------------- extrema


def read_as(value: str, kinds: str = "int *T, const int *S", before: str = HIGHER) -> tuple[str, str]:
    """The operation and the value of ``T[i] = value``."""
    (kernel,) = kernels(Unit("c", whole(f"for (int i = 0; i < n; i++) T[i] = {value};", kinds, before)))
    (item,) = (one for one in every(kernel.body) if isinstance(one, Assign))
    return item.op, item.value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("T[i] > S[i] ? T[i] : S[i]", ("max=", "S[i]")),
        ("((T[i] >= S[i]) ? T[i] : S[i])", ("max=", "S[i]")),
        ("S[i] + m < T[i] ? T[i] : S[i] + m", ("max=", "S[i] + m")),
        ("higher(S[i], T[ i ])", ("max=", "S[i]")),
        ("T[i] < S[i] ? T[i] : S[i]", ("min=", "S[i]")),
        ("S[i] >= T[i] ? T[i] : S[i]", ("min=", "S[i]")),
        ("T[i] > S[i] ? S[i] : T[i]", ("min=", "S[i]")),
        ("higher(T[i], (S[i] == 3 ? 1 : 0))", ("max=", "(S[i] == 3 ? 1 : 0)")),
    ],
)
def test_the_greater_or_the_lesser_of_an_element_and_a_value_is_an_extremum(
    value: str, expected: tuple[str, str]
) -> None:
    assert read_as(value) == expected


@pytest.mark.parametrize(
    ("value", "kinds", "before"),
    [
        ("T[i] > S[i] ? T[i] : S[i] + 1", "int *T, const int *S", ""),
        ("T[i] == S[i] ? T[i] : S[i]", "int *T, const int *S", ""),
        ("T[i] > S[i] && m ? T[i] : S[i]", "int *T, const int *S", ""),
        ("S[i] > S[i + 1] ? S[i] : S[i + 1]", "int *T, const int *S", ""),
        ("T[i] > T[i] * T[i] ? T[i] : T[i] * T[i]", "int *T, const int *S", ""),
        ("T[i] > g(S[i]) ? T[i] : g(S[i])", "int *T, const int *S", "int g(int);"),
        ("T[i] > S[i] + 3u ? T[i] : S[i] + 3u", "int *T, const int *S", ""),
        ("T[i] > S[i] + 1e3 ? T[i] : S[i] + 1e3", "int *T, const int *S", ""),
        ("T[i] > S[i] + 3000000000 ? T[i] : S[i] + 3000000000", "int *T, const int *S", ""),
        ("T[i] > S[i] ? T[i] : S[i]", "double *T, const double *S", ""),  # the order matters to what is no number
        ("T[i] > S[i] ? T[i] : S[i]", "int *T, const double *S", ""),
        ("T[i] > S[i] ? T[i] : S[i]", "int *T, const unsigned *S", ""),
        ("T[i] > S[i] ? T[i] : S[i]", "int *T, const long *S", ""),
        ("T[i] > S[i] ? T[i] : S[i]", "short *T, const int *S", ""),
        ("T[i] > S[i] ? T[i] : S[i]", "int *T, const kind *S", "typedef unsigned kind;"),
        ("T[i] > S[i] ? T[i] : S[i]", "int *T, const uint *S", "#include <sys/types.h>\nint g(const int *S);"),
    ],
)
def test_what_is_no_extremum_of_ints_stays(value: str, kinds: str, before: str) -> None:
    assert read_as(value, kinds, before)[0] == "="


def test_types_elsewhere_in_a_program_do_not_matter_to_an_extremum() -> None:
    assert read_as("T[i] > S[i] ? T[i] : S[i]", before="unsigned long g(size_t);") == ("max=", "S[i]")
    value = "T[i + h] > S[i - h] ? T[i + h] : S[i - h]"
    (kernel,) = kernels(
        Unit("c", f"void f(int *T, int *S, long h) {{ for (int i = 0; i < 9; i++) T[i + h] = {value}; }}")
    )
    assert "max=" in repr(kernel.body)


FOLD = """for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
        if (j - 1 >= 0) T[i * n + j] = higher(T[i * n + j], T[i * n + j - 1]);
        for (int k = i + 1; k < j; k++) T[i * n + j] = higher(T[i * n + j], T[i * n + k] + T[(k + 1) * n + j]);
    }"""


def test_a_fold_updates_what_comes_after_an_element_as_soon_as_it_is_final() -> None:
    made = written(taken(whole(FOLD), "right_looking(j in f)"))
    loops = "for (int k = (n - 1 - i) + 1; k < n; k++) {\nif (k - 1 >= 0) {\nT[(n - 1 - i) * n + k] = "
    assert loops in made
    assert "}\nfor (int j = k + 1; j < n; j++) {\nT[(n - 1 - i) * n + j] = (T[(n - 1 - i) * n + j] > " in made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (j - 1 >= 0) T", "T[i * n + j] = 0; if (j - 1 >= 0) T"),  # it would hide updates
        ("if (j - 1 >= 0) T", "S[j] = T[i * n + j]; if (j - 1 >= 0) T"),
        ("T[i * n + j - 1]);", "T[i * n + j + 1]);"),  # as it is before it is updated
        ("T[i * n + k] +", "T[i * n + k + 1] +"),  # needs an element that is not final
        ("if (j - 1 >= 0) T[i * n + j] = higher(", "if (j - 1 >= 0) T[i * n + j] = lower("),
        ("j - 1 >= 0", "j - 1 >= k"),
    ],
)
def test_a_fold_that_needs_its_order_keeps_it(old: str, new: str) -> None:
    lower = "#define lower(a, b) ((a) < (b) ? (a) : (b))"
    text = whole(f"int k = 0; {FOLD.replace(old, new)}", "int *T, int *S", f"{HIGHER}\n{lower}")
    assert offered(text, "right_looking") == []


def test_a_fold_of_doubles_keeps_its_order() -> None:
    assert offered(whole(FOLD, "double *T, double *S"), "right_looking") == []


@pytest.mark.parametrize(
    "macro",
    [
        "#define higher(a, b) ((a) > (b) ? (a) : (b)); i--",
        "#define higher(a, b) ((a) > i ? (a) : (b))",  # i is another number in the loop that counts up
        "#ifdef X\n#define higher(a, b) (a)\n#else\n#define higher(a, b) (b)\n#endif",
    ],
)
def test_a_loop_that_counts_down_stays_if_a_macro_in_it_may_use_its_variable(macro: str) -> None:
    assert offered(whole(FOLD, before=macro), "promote") == []
    assert offered(whole(FOLD), "promote") == ["promote(k in f)"]


@pytest.mark.parametrize(
    "macro", ["#define LAST i", "#define LAST (0 * THERE)\n#define THERE (n + i)", "#define LAST n"]
)
def test_a_loop_that_counts_down_stays_if_a_macro_without_parameters_names_its_variable(macro: str) -> None:
    text = whole("for (int i = n - 1; i > 0; i--) T[i] = T[i + 1] + S[LAST];", before=macro)
    assert bool(offered(text, "carry")) == macro.endswith("n")


# -------------------------------------------------------------------------------------------------------------- columns


FILTER = """double s;
for (int j = 0; j < n; j++) {
    s = 0.0;
    for (int i = 0; i < m; i++) {
        A[i * n + j] = B[i * n + j] + 0.5 * s;
        s = A[i * n + j];
    }
}"""


def test_columns_are_run_through_in_step_row_by_row() -> None:
    made = written(taken(function(FILTER), "rowwise(j in f)"))
    assert "for (int j = 0; j < n; j++) {\ns_of[j] = 0.0;\n}\nfor (int i = 0; i < m; i++) {\nfor (int j = 0;" in made
    assert "A[i * n + j] = B[i * n + j] + 0.5 * s_of[j];\ns_of[j] = A[i * n + j];" in made
    assert made.endswith("free(s_of);")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s = 0.0;", ""),  # from column to column
        ("A[i * n + j]", "A[j * m + i]"),  # it moves along rows
        ("+ 0.5 * s", "+ A[i * n + j + 1] + 0.5 * s"),
        ("i < m", "i < j"),
        ("s = A[i * n + j];", "s = A[i * n + j]; m = m - 1;"),
    ],
)
def test_columns_that_depend_on_each_other_or_lie_in_rows_stay(old: str, new: str) -> None:
    body = FILTER.replace(old, new)
    kept = body.replace("B[i * n + j]", "B[j * m + i]") if "j * m" in new else body
    assert offered(function(kept), "rowwise") == []


# ---------------------------------------------------------------------------------------------------------------- scans


SWEEP = """for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) A[i * n + j] = (A[i * n + j - 1] + A[i * n + j + 1] + B[i * n + j]) / 3.0;"""


def test_a_row_of_waiting_values_is_a_scan_in_strips() -> None:
    made = written(taken(function(SWEEP), "scan(j in f, size=64)"))
    assert "double scan_before = A[i * n + 1 - 1];" in made
    assert "scan_sums[j - j0] = (A[i * n + j + 1] + B[i * n + j]) * (1.0 / 3.0);" in made
    assert ") - j0, 1.0 * (1.0 / 3.0), scan_sums, scan_before);" in made
    for value in (
        "B[i * n + j] - 0.5 * A[i * n + j - 1]",
        "B[i * n + j] * (1.0 / 3.0) + (1.0 / 3.0) * (A[i * n + j - 1])",
    ):
        text = f"for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) A[i * n + j] = {value};"
        assert len(offered(function(text), "scan")) == 2


@pytest.mark.parametrize(
    ("loop", "start", "rest", "factor"),
    [
        ("int i = 1; i < n; i++) A[i] += B[i] - 0.5 * A[i - 1];", "A[1 - 1]", "A[i] + B[i]", "-0.5"),
        ("int i = 1; i < n; i++) A[i] = 1.0 - A[i - 1] / 3.0;", "A[1 - 1]", "1.0", "-(1.0 / 3.0)"),
        ("int i = -1; i < n; i++) A[i + 2] = A[i + 1] + B[i];", "A[(-1) + 1]", "B[i]", "1.0"),
        ("int i = n; i >= 0; i--) A[i] = A[i + 1] + A[i - 1];", "A[(n - 0) + 1]", "A[(n - i) - 1]", "1.0"),
    ],
)
def test_sums_onto_elements_and_loops_that_count_down_are_scans(loop: str, start: str, rest: str, factor: str) -> None:
    made = written(taken(function(f"for ({loop}"), "scan(i in f, size=64)"))
    assert f"double scan_before = {start};" in made
    assert f"scan_sums[i - i0] = {rest};" in made
    assert f"- i0, {factor}, scan_sums, scan_before);" in made


@pytest.mark.parametrize(
    "rest",
    [
        "(int)B[i] + (int)C[i]",  # the sum of two ints, which may be too large for one
        "(whole)B[i] + (whole)C[i]",
        "n * (B[i] > 0.5) + m * (C[i] > 0.5)",
        "n * m + n",
        "abs(B[i]) + abs(C[i])",
        "(B[i] > 0.5 ? n : m) + (C[i] > 0.5 ? n : m)",
        "I[abs(B[i])] + I[abs(C[i])]",
    ],
)
def test_whole_numbers_are_added_in_their_order(rest: str) -> None:
    loop = f"for (int i = 1; i < n; i++) A[i] = 0.5 * A[i - 1] + {rest};"
    text = function(loop).replace("double *C", "double *C, int *I")
    assert [offered(text, step) for step in ("scan", "shorten")] == [[], []]


@pytest.mark.parametrize("other", ["int s = n;", "int t, s; s = n;", "for (int s = 0; s < n; s++)"])
def test_a_number_that_hides_a_double_is_not_taken_for_it(other: str) -> None:
    text = "double s = 1.0; for (int k = 0; k < n; k++) {{ {} for (int i = 1; i < n; i++) {} }}"
    for step, loop in (
        ("scan", "A[i] = A[i - 1] + s * m + s;"),
        ("divide_once", "{ A[i] = 2 / s; B[i] = 3 / s; }"),
        ("accumulators", "s += B[i];"),
    ):
        assert offered(function(text.format("", loop)), step)
        assert offered(function(text.format(other, loop)), step) == []


@pytest.mark.parametrize("rest", ["2.0 * n + m * (B[i] + 1)", "s * m + s", "sqrt(B[i]) * (C[i] > 0.5)", "abs(m) * 1e3"])
def test_sums_of_doubles_are_taken_for_such(rest: str) -> None:
    loop = f"for (int i = 1; i < n; i++) A[i] = 0.5 * A[i - 1] + {rest};"
    assert offered(function(loop).replace("int m,", "int m, double s,"), "scan")


def test_sums_in_a_loop_that_changes_its_end_keep_their_order() -> None:
    loop = "for (int i = 1; i < n; i++) {{ {} A[i] = A[i - 1] + B[i] + C[i]; }}"
    assert [len(offered(function(loop.format(before)), "shorten")) for before in ("", "n = n - 1;")] == [1, 0]


def test_a_program_has_the_scan_once() -> None:
    two = function(SWEEP + "\n" + SWEEP.replace("A[", "C["))
    made = taken(two, "scan(j in f, size=64)", "scan(j#3 in f, size=256)")
    assert made.count("static inline double scan(") == 1
    assert offered(f"int scan(int);\n{two}", "scan") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/ 3.0", "/ 0.5"),  # a share of two grows
        ("/ 3.0", "/ B[i]"),
        ("A[i * n + j - 1] +", "A[i * n + j - 1] / 0.25 +"),
        ("A[i * n + j - 1] +", "A[i * n + j - 1] / 0.0 +"),
        ("A[i * n + j - 1] +", "A[i * n + j - 2] +"),
        ("A[i * n + j - 1] +", "A[i * n + j - 1] + A[i * n + j - 2] +"),  # waits for two
        ("A[i * n + j - 1] +", "A[i * n + j - 1] * B[j] +"),
        ("A[i * n + j - 1] +", "A[i * n + j - 1] * A[i * n + j - 1] +"),
        ("A[i * n + j - 1] +", "A[(i - 1) * n + j] +"),  # waits for nothing
        ("(A[i * n + j - 1] + A[i * n + j + 1] + B[i * n + j])", "(A[i * n + j - 1])"),
        ("j < n - 1; j++", "j < n - 1; j += 2"),
        ("int j = 1", "size_t j = 1"),
        ("B[i * n + j])", "A[m])"),
    ],
)
def test_what_waits_otherwise_is_no_scan(old: str, new: str) -> None:
    assert offered(function(SWEEP), "scan")
    assert offered(function(SWEEP.replace(old, new)), "scan") == []


# ------------------------------------------------------------------------------------------------------------ quotients


QUOTIENTS = """for (int i = 1; i < n; i++) {
    A[i] = -2.0 / (B[i] * A[i - 1] + 3.0);
    C[i] = (C[i] - m) / (B[i]*A[i - 1] + 3.0);
}"""


def test_statements_with_one_divisor_divide_once() -> None:
    made = written(taken(function(QUOTIENTS), "divide_once(i in f)"))
    assert made == "\n".join(
        [
            "for (int i = 1; i < n; i++) {",
            "double inverse = 1.0 / (B[i] * A[i - 1] + 3.0);",
            "A[i] = -2.0 * inverse;",
            "C[i] = (C[i] - m) * inverse;",
            "}",
        ]
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(B[i] * A[i - 1] + 3.0);", "(B[i] * A[i] + 3.0);"),  # another divisor
        ("    A[i] =", "    A[i - 1] ="),  # it changes the divisor
        ("    A[i] =", "    B[i] ="),
        ("    A[i] =", "    A[m] ="),
        ("-2.0 / (", "-2.0 + 1.0 / ("),
        ("-2.0 / (B[i] * A[i - 1] + 3.0)", "-2.0 / (B[i] * A[i - 1] + 3.0) * B[i]"),
        ("-2.0 / (B[i] * A[i - 1] + 3.0)", "-2.0 / (B[i] * A[i - 1] + 3.0) / m"),
    ],
)
def test_what_divides_by_two_values_divides_twice(old: str, new: str) -> None:
    assert offered(function(QUOTIENTS.replace(old, new)), "divide_once") == []


@pytest.mark.parametrize(
    "under", ["(i + m)", "(int)B[i]", "((int)B[i] + m)", "(B[i] > 0.5)", "(whole) B[i]", "abs(B[i])", "isdigit(B[i])"]
)
def test_whole_numbers_are_divided_as_they_are(under: str) -> None:
    text = QUOTIENTS.replace("(B[i] * A[i - 1] + 3.0)", under).replace("(B[i]*A[i - 1] + 3.0)", under)
    assert offered(function(text), "divide_once") == []


@pytest.mark.parametrize(("between", "times"), [("", 1), ("d = d + 1.0;", 0), ("d += 1.0;", 0)])
def test_a_scalar_that_is_the_divisor_keeps_its_value(between: str, times: int) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ double d = B[i]; A[i] = 2 / d; {between} C[i] = m / d; }}"
    assert len(offered(function(loop), "divide_once")) == times


# --------------------------------------------------------------------------------------------------------------- pivots


PIVOTS = """for (int k = 0; k < n; k++)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = (A[i * n + j] + A[i * n + k] * A[k * n + j]) / 3.0;"""


def test_rows_go_through_several_pivots_at_once() -> None:
    made = written(taken(function(PIVOTS), "pivots(k in f, rows=16)"))
    above = made.index("A_above[(k - k0) * (n) + j] = A[k * n + j];")
    last = "(k0 + BLOCK < n ? k0 + BLOCK : n)"
    own = made.index(f"for (int i = (k0 > 0 ? k0 : 0); i < ({last} < m ? {last} : m); i++)")
    below = made.index("A_below[(k - k0) * (n) + j] = A[k * n + j];")
    upper = made.index("for (int i = 0; i < (k0 < m ? k0 : m); i++)")
    lower = made.index(f"for (int i = ({last} > 0 ? {last} : 0); i < m; i++)")
    assert above < own < below < upper < made.index("* A_above[") < lower < made.index("* A_below[")
    assert "if (0 < m && 0 < n) {\nfor (int k0 = 0;" in made


def test_a_row_of_a_pivot_is_kept_wherever_it_is_read() -> None:
    made = taken(function(PIVOTS.replace("* A[k * n + j]", "* (A [k * n + j] + A/* too */[k * n + j])")), "pivots(")
    assert "* (A_above[(k - k0) * (n) + j] + A_above[(k - k0) * (n) + j])" in made
    macro = "#define AT(p) p [k * n + j]\n"
    assert offered(macro + function(PIVOTS.replace("* A[k * n + j]", "* A[k * n + j] * AT(A)")), "pivots") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("* A[k * n + j]", "* A[(k + 1) * n + j]"),  # another row
        ("* A[k * n + j]", "* A[k * n + m]"),
        ("A[i * n + k]", "A[i * n + m]"),  # it may be in another row
        ("* A[k * n + j]", "* A[j * n + k]"),
        ("* A[k * n + j]", "* B[k * n + j]"),
        ("* A[k * n + j])", "* A[k * n + j] * A[(i - 1) * n + j])"),
        ("= (A[i * n + j]", "= (B[i] > 0 ? 1.0 : A[i * n + j]"),  # it may not read the row
        ("int i = 0", "int i = k + 1"),
        ("j < n;", "j < i;"),
        ("j < n;", "j < n; "),
        ("int k = 0; k < n; k++", "int k = 0; k < n; k += 2"),
        ("A[i * n + j] =", "A[k * n + j] ="),
    ],
)
def test_rows_that_use_more_than_their_pivot_go_through_one_at_a_time(old: str, new: str) -> None:
    text = PIVOTS.replace(old, new)
    assert bool(offered(function(text), "pivots")) == (new == "j < n; ")
