"""Steps that would change what a kernel computes, in ways that its output may not show: none of them is offered."""

from __future__ import annotations

import re

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.errors import InputError
from maxcode.policy.rules.kernels import Permitted, applied
from maxcode.policy.rules.kernels.schedule import offers
from maxcode.policy.rules.kernels.steps import offered as every_offer
from tests.policy.test_kernels_declines import offered, taken

SEIDEL = """void f(int m, int n, double *A) {
    for (int t = 0; t < m; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) A[i * n + j] = (A[(i - 1) * n + j + 1] + A[i * n + j]) / 2.0;
}
"""


def test_time_is_tiled_along_an_axis_only_if_nothing_in_one_step_goes_back_along_it() -> None:
    for text, counts in ((SEIDEL, {"axes=1"}), (SEIDEL.replace("j + 1", "j - 1"), {"axes=1", "axes=2"})):
        assert {label[18:24] for label in offered(text, "time_tile") if "(t in f" in label} == counts


KEPT = """void f(int n, int m, double *A, double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) { double t = A[i * n + j] * 2; B[i * n + j] = t; C[i * n + j] = t + 1; }
}
"""


def test_a_scalar_of_a_loop_that_threads_share_stays() -> None:
    assert "expand(j in f)" in offered(KEPT, "expand")
    assert offered(taken(KEPT, "parallel(i in f"), "expand") == []


def test_a_scalar_gets_no_array_whose_size_changes_in_the_nest() -> None:
    grows = KEPT.replace("        for (int j", "      { for (int j").replace(
        "C[i * n + j] = t + 1; }", "C[i * n + j] = t; } n = n + 1; }"
    )
    assert offered(grows, "expand") == []
    assert "expand(j in f)" in offered(grows.replace("n = n + 1", "A[0] = n"), "expand")


@pytest.mark.parametrize(
    "change",
    ["C[i] = n++;", "C[n--] = 0.0;", "if (n++ < 9) C[i] = 0.0;", "double q = n++;", "C[i] = g(&n);",
     "for (int k = n++; k < m; k++) C[k] = 0.0;", "C[i] += (n = n + 1);"],
)  # fmt: skip
def test_a_scalar_gets_no_array_whose_size_an_expression_changes(change: str) -> None:
    start = "for (int i = 0; i < m; i++)"
    body = KEPT.partition(start)[2].rstrip("}\n")
    grows = f"{KEPT.partition(start)[0]}{start} {{ {change} {body} }} }} }}"
    assert offered(grows, "expand") == offered(grows, "rowwise") == []
    assert "expand(j in f)" in offered(grows.replace(change, "C[i] = n;"), "expand")


def test_a_scalar_gets_no_array_whose_size_a_call_may_change() -> None:
    body = (
        "for (int i = 0; i < m; i++) { h(); for (int j = 0; j < n; j++) { double t = A[j] * 2; B[j] = t; C[j] = t; } }"
    )
    head = "void f(int n, int m, double *A, double *B, double *C)"
    for kept, language in (("keep(&n);", "c"), ("auto h = [&]() { n++; };", "cpp")):
        assert offered(f"{head} {{ {kept} {body} }}", "expand", language) == []
    assert offered(f"{head} {{ {body} }}", "expand") == ["expand(j in f)"]


def test_a_sum_whose_loop_has_no_iteration_leaves_its_element_alone() -> None:
    text = "void f(int m, const double *a, double *s) { for (int k = 0; k < m; k++) s[0] += a[k]; }"
    made = taken(text, "accumulators(k in f, count=2)")
    assert "if (0 < m)" in made[made.rindex("s[0] += a[k]") : made.rindex("s[0] += s_0")]


def test_accumulators_have_names_of_their_own() -> None:
    adds = "s += a[k]; s_0 += b[k];"
    text = (
        f"void f(int m, const double *a, const double *b) {{ double s, s_0; for (int k = 0; k < m; k++) {{ {adds} }} }}"
    )
    made = taken(text, "accumulators(k in f, count=4)")
    names = re.findall(r"double (\w+) = 0.0", made)
    assert len(set(names)) == len(names) == 8


def test_loops_are_not_joined_whose_bounds_are_declared_anywhere_around_them() -> None:
    inner = "for (int k = 0; k < m; k++) C[i * n + j] += A[k] * B[j];"
    head = "void f(int n, int m, const double *A, const double *B, double *C) { for (int i = 0; i < n; i++) {"
    text = f"{head} int m1 = i + 1; for (int j = 0; j < n; j++) {inner} }} }}"
    assert any("(i in f" in label for label in offered(text, "jam"))
    assert not any("(i in f" in label for label in offered(text.replace("k < m;", "k < m1;"), "jam"))


def test_the_pieces_of_a_stencil_over_x_have_two_names() -> None:
    text = """void f(int m, int n, double *A) {
    for (int x = 0; x < m; x++)
        for (int y = 1; y < n - 1; y++) A[y] = (A[y - 1] + A[y] + A[y + 1]) / 3;
}
"""
    firsts = re.findall(r"for \(int (\w+) = [^;]*; [^;]*; \w+ \+= ", taken(text, "time_tile(x in f, axes=1"))
    assert len(set(firsts)) == len(firsts) == 2


def test_a_row_of_a_stencil_has_a_name_of_its_own() -> None:
    text = """void f(int m, int n, int row, double *A, double *B) {
    for (int t = 0; t < m; t++) {
        for (int j = 1; j < n - 1; j++) A[j] = row * B[j];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) A[i * n + j] = (A[(i - 1) * n + j] + A[i * n + j]) / 2.0;
    }
}
"""
    made = taken(text, "time_tile(t in f, axes=1")
    assert "for (int row_2 = " in made and "for (int row = " not in made


DOWN = """void f({0} n, int m, int last, double *A, double *B) {{
    for (int i = {1}; i >= 0; i--) {{ {2} }}
    for (int j = 0; j < m; j++) B[j] = A[j];
}}
"""


def test_a_loop_counts_down_still_if_its_ends_are_unsigned_or_change() -> None:
    ends = [
        ("size_t", "n - 2", "A[i] = B[i];"),
        ("int", "last", "A[i] = B[i]; last = i;"),
        ("int", "n - 2", "A[i] = B[i];"),
    ]
    texts = [taken(DOWN.format(*each), "unroll(j in f") for each in ends]
    assert [" i--)" in text for text in texts] == [True, True, False]


def test_an_element_read_through_a_star_is_seen() -> None:
    text = "void f(int n, double *p, const double *a) { for (int i = 0; i < n; i++) p[i] = a[i] + a[0]; }"
    for value in ("a[i] + *p", "a[i] * (double) *p"):
        assert offered(text.replace("a[i] + a[0]", value), "parallel") == []
    assert offered(text, "parallel")


def test_a_name_of_two_types_is_not_signed() -> None:
    text = """void f(int n, int m, double *A, const double *B, double *C) {
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < m; k++) A[i * n + j] += B[k];
    for (int i = 0; i < m; i++) C[i] = 0;
}
"""
    assert [label for label in offered(text, "jam") if "(j in f" in label] == []
    assert [label for label in offered(text.replace("size_t", "int"), "jam") if "(j in f" in label] != []


def test_a_loop_without_a_sign_inside_is_not_jammed_if_it_moves() -> None:
    text = "void f(int n, double *A) {{ for (int i = 0; i < n; i++) for ({} j = i; j < n; j++) A[i] += 1.0; }}"
    places = [{label[:8] for label in offered(text.format(kind), "jam")} for kind in ("int", "size_t")]
    assert places == [{"jam(i in"}, set()]


def test_copies_hide_no_other_name() -> None:
    inner = "for (int j = 0; j < n; j++) C[j] += w * {};"
    head = "void f(int n, double w_1, const double *A, double *C)"
    text = f"{head} {{{{ for (int i = 0; i < n; i++) {{{{ double w = A[i]; {inner} }}}} }}}}"
    assert offered(text.format("w_1"), "jam") == []
    assert offered(text.format("w"), "jam") != []


def test_a_name_declared_twice_is_not_replaced() -> None:
    inner = "for (int k = 0; k < n; k++) { double t = B[k]; C[j] += t; }"
    head = "void f(int n, const double *A, const double *B, double *C, double *D)"
    text = f"{head} {{ for (int j = 0; j < n; j++) {{ double t = A[j]; {inner} D[j] = t; }} }}"
    for step in ("expand", "jam"):
        assert [label for label in offered(text, step) if "(j in f" in label] == []
        other = text.replace(inner, inner.replace("t = B", "u = B").replace("+= t", "+= u"))
        assert [label for label in offered(other, step) if "(j in f" in label] != []


def test_sums_of_fractions_into_integers_keep_their_order() -> None:
    text = (
        "void f(int n, {} *h, const {} *w) {{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) h[{}] += w[i]; }}"
    )
    kinds = (("int", "double"), ("int", "int"), ("double", "double"), ("double", "int"))
    assert [bool(offered(text.format(*each, "i + j"), "interchange")) for each in kinds] == [False, True, True, True]
    joined = ["h[j] += w[i] + w[(i + 1)]" in taken(text.format(*each, "j"), "jam(i in f, factor=2") for each in kinds]
    assert joined == [False, True, True, False]  # a sum of two ints may overflow before it is a double


def test_a_second_name_for_an_array_leaves_its_function_alone() -> None:
    text = "void f(int n, double *A, double *B) {{ {} for (int i = 0; i < n; i++) {{ {} q[i] = B[i] * 0.5; }} }}"
    own = "double *q = (double *)malloc(n * sizeof(double));"
    assert offered(text.format(own, ""), "unroll") != []
    for both in (
        ("double *q = A + 1;", ""),
        ("double *q; q = A + 1;", ""),
        ("", "double *q = A + i;"),
        ("A = B + 1;", ""),
    ):
        for step in ("parallel", "simd", "jam"):
            assert offered(text.format(*both), step) == []


@pytest.mark.parametrize("place", ["i", "2 * i + 1", "i % 4"])
def test_a_step_adds_no_array_that_is_longer_than_those_of_the_nest(place: str) -> None:
    head = "void f(int n, double *A, double *B)"
    kept = f"for (int i = 0; i < n; i++) {{ double t = 2.0 * i; A[{place}] = t; B[{place}] = t + 1; }}"
    tabled = f"for (int j = 0; j < 9; j++) for (int i = 0; i < n; i++) {{ double t = exp(i); A[{place}] += t; }}"
    for step, loop in (("expand", kept), ("tabulate", tabled)):
        assert bool(offered(f"{head} {{ {loop} }}", step)) == ("%" not in place), step


def test_a_scalar_that_is_rounded_is_no_sum_where_it_is_declared_anew() -> None:
    body = "int k; for (int i = -1; i < n; i++) {{ k = i + {}; for (int j = 0; j < m; j++) A[k] = 0.5 * A[k] + B[j]; }}"
    head = "void f(int n, int m, int h, double x, double *A, const double *B)"
    assert [bool(offered(f"{head} {{ {body.format(name)} }}", "jam")) for name in ("h", "x")] == [True, False]


@pytest.mark.parametrize(("pragma", "is_tabled"), [("parallel for", True), ("simd", True), ("for", False)])
def test_a_table_is_not_filled_by_every_thread(pragma: str, is_tabled: bool) -> None:
    nest = "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) { double s = sqrt(B[j]); A[i * m + j] = s; }"
    text = f"void f(int n, int m, double *A, double *B) {{\n#pragma omp {pragma}\n{nest} }}"
    assert bool(offered(text, "tabulate")) is is_tabled


def test_a_nest_that_may_be_left_early_gets_no_memory() -> None:
    assert "expand(j in f)" in offered(KEPT.replace("void f", "int f")[:-2] + "    return 0;\n}\n", "expand")
    for way in ("return;", "goto end;"):
        text = KEPT.replace("        for (int j", f"      {{ if (A[i] < 0) {way} for (int j").replace(
            "t + 1; }", "t; } }"
        )
        assert offered(text, "expand") == []


def test_a_line_that_makes_use_of_what_is_not_permitted_is_not_legal() -> None:
    sweep = "for (int j = 1; j < n - 1; j++) {}[j] = {}[j - 1] + {}[j + 1];"
    sweeps = " ".join(sweep.format(to, of, of) for of, to in ("AB", "BC", "CA"))
    text = f"void f(int m, int n, double *A, double *B, double *C) {{ for (int t = 0; t < m; t++) {{ {sweeps} }} }}"
    allowed, label = Permitted(frozenset({"tiling"})), "time_tile(t in f, axes=1, time=2, size=128)"
    assert label in offers("c", text, Permitted(), text)
    assert label in [edit.label for _, edits in every_offer(Unit("c", text), allowed) for edit in edits]
    assert label not in offers("c", text, allowed, text)
    with pytest.raises(InputError, match="not permitted: unrolling"):
        applied(text, "c", label, allowed)


def test_bounds_are_not_computed_where_they_were_not() -> None:
    text = "void f(int n, int m, const int *P, double *A, double *B) {{ for (int i = 0; i < m; i++) {} }}"
    inner = "for (int j = 0; j < {}; j++) A[i * n + j] = B[j];"
    deeper = f"for (int p = 0; p < m; p++) {inner.replace('i * n', '(p * m + i) * n')}"
    for step, nest in (("interchange", inner), ("tile", inner), ("order", deeper.replace("= B", "+= B"))):
        ends = ("n / m", "n % m", "P[0]", "n / 2", "n")
        found = [
            bool(offered(text.format(nest.format(end)), step)) for end in ends if step != "order" or "2" not in end
        ]
        assert found[:3] == [False, False, False] and found[-1], step


def test_a_test_is_not_moved_where_it_divides_or_if_it_changes() -> None:
    text = "void f(int n, int m, double *A) {{ for (int i = 0; i < n; i++) {{ if ({}) {{ A[i] = 0; {} }} }} }}"
    cases = (("n / m > 2", ""), ("m > 2", "m--;"), ("m > 2", ""))
    assert [bool(offered(text.format(*case), "unswitch")) for case in cases] == [False, False, True]
