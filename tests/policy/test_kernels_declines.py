"""Where a step could change what a kernel computes, it is not offered; where it may be taken, it is found."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.steps import ALL
from maxcode.policy.rules.rewriter.runtime import patched

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


@pytest.mark.parametrize(
    "statement",
    [
        "A[i * n + j] = A[j * n + i];",  # a row only meets its column at the diagonal, in the same iteration
        "A[i + j] = B[i * n + j];",  # the last one to write wins
        "A[i * m + j] = B[j];",  # rows of m elements may overlap when n is larger
    ],
)
def test_rows_that_depend_on_each_other_keep_their_order_but_not_that_inside(statement: str) -> None:
    text = loops(statement)
    assert [step for step in ("interchange", "tile", "jam", "parallel") if offered(text, step)] == []
    assert offered(text, "simd") == ["simd(j in f, as=omp)", "simd(j in f, as=ivdep)"]


@pytest.mark.parametrize(
    ("call", "is_free"),
    [
        ("add(n, A, A)", False),
        ("add(n, A + 1, A)", False),
        ("add(n, 1 + A, A)", False),
        ("add(n, &A[n], &A[0])", False),
        ("add(n, (double *)A, A)", False),
        ("add(n, A + auto_n, n > 8 ? A : B)", False),
        ("add(n, ALSO_A, A)", False),
        ("add(n, &v[1], v.data())", False),
        ("add(n, m->a, &m->a[8])", False),
        ("add(n, rows(0), rows(8))", False),  # which may return parts of one array
        ("add(n, std::begin(v), v.data())", False),
        ("whole(n, I, I)", False),
        ("add(n, A + n + 8, B + n + 8)", True),
        ("add(n, A + SIZE, B + SIZE)", True),
        ("add(n, A + auto_n, B + auto_n)", True),
        ("add(n, A + COUNT, B + COUNT)", True),
        ("add(n, v.data(), w.data())", True),
        ("add(n, p.get(), q.get())", True),
        ("add(n, (double *)A, (double *)B)", True),
        ("add(n, reinterpret_cast<double *>(A), reinterpret_cast<double *>(B))", True),
        ("add(n, m->a, m->b)", True),
        ("add(n, &m->a[n], (*m).b)", True),
        ("add(n, new double[n], new double[n])", True),
        ("add(n, (double *)malloc(n * sizeof(double)), (double *)malloc(n * sizeof(double)))", True),
        ("add(n, std::begin(v), std::begin(w))", True),
        ("add(n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B))", True),  # of another file
        ("add(n, STARRED(A), STARRED(B))", True),
        ("dot(n, A, A)", True),  # which writes to neither
    ],
)
def test_a_function_that_gets_one_array_under_two_names_is_left_alone(call: str, is_free: bool) -> None:
    name = call.partition("(")[0]
    text = f"""#define SIZE 8
#define ALSO_A (A)
#define STARRED(x) *(&x)
enum {{ COUNT = 8 }};
struct pair {{ double *a, *b; }};
static void add(int n, double *to, const double *from) {{
    for (int i = 0; i < n; i++) to[i + 1] = from[i] + 1.0;
}}
static void whole(int n, int *to, const int *from) {{
    for (int i = 0; i < n; i++) to[i] = from[i] + 1;
}}
static double dot(int n, const double *x, const double *y) {{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}}
void f(int n, double *A, double *B, int *I, pair *m, std::vector<double> &v, std::vector<double> &w) {{
    auto auto_n = n / 2;
    std::unique_ptr<double[]> p(new double[n]), q(new double[n]);
    {call};
}}
"""
    labels = [one for step in ("simd", "unroll", "parallel") for one in offered(text, step, "cpp")]
    assert any(f"in {name}" in one for one in labels) is is_free


def test_loops_whose_bounds_depend_on_each_other_do_not_change_places() -> None:
    text = loops("A[i * n + j] = B[j];", high="i")
    assert offered(text, "interchange") == []


def test_independent_iterations_may_be_reordered_and_shared() -> None:
    text = loops("A[i * n + j] = B[j];")
    assert offered(text, "interchange") == ["interchange(i in f, inner=j)"]
    assert offered(text, "parallel") == ["parallel(i in f)"]
    assert "simd(j in f, as=ivdep)" in offered(text, "simd")


def test_sums_may_be_reordered_but_not_shared() -> None:
    text = loops("A[j] += B[i];").replace("int i = 0; i < n", "int i = 0; i < m")
    assert offered(text, "interchange") == ["interchange(i in f, inner=j)"]
    assert offered(text, "parallel") == []


BELOW = "for (int k = 0; k < i; k++) A[i * n + j] -= A[i * n + k] * A[k * n + j];"


def test_what_the_loops_around_keep_apart_may_change_places() -> None:
    """Of row i only what is left of the diagonal is read, and of the column only what is above it."""
    text = loops(BELOW).replace("int j = 0", "int j = i")
    assert offered(text, "interchange") == ["interchange(j in f, inner=k)"]
    rows = loops(
        "for (int k = i + 1; k < n; k++) A[i * m + j] += B[k * n + i] * A[k * m + j]; A[i * m + j] *= 2.0;", "m"
    )
    assert offered(rows, "distribute") == ["distribute(j in f)"]
    assert offered(taken(rows, "distribute(j in f"), "interchange") == ["interchange(j in f, inner=k)"]


@pytest.mark.parametrize(
    ("low", "statement"),
    [
        ("i", BELOW.replace("k < i", "k < n")),
        ("i", BELOW.replace("A[i * n + k]", "A[i * m + k]")),
        ("0", "for (int k = i; k < n; k++) A[i * n + k] += B[k] * A[k * n + j];"),
    ],
)
def test_what_the_loops_around_do_not_keep_apart_stays(low: str, statement: str) -> None:
    text = loops(statement).replace("int j = 0", f"int j = {low}")
    for step in ("interchange", "jam", "simd", "parallel"):
        assert [label for label in offered(text, step) if label.startswith((f"{step}(i", f"{step}(j"))] == [], step


@pytest.mark.parametrize(
    ("low", "statement", "step"),
    [
        ("0", BELOW, "interchange(i in f, inner=j)"),  # j runs through the elements that are read, in order
        ("i", BELOW.replace("k < i", "k < i + 1"), "interchange(j in f, inner=k)"),  # only the diagonal is both
        ("i", BELOW.replace("A[i * n + k]", "A[i * n + k + 1]"), "interchange(j in f, inner=k)"),
    ],
)
def test_what_keeps_its_direction_may_change_places(low: str, statement: str, step: str) -> None:
    assert step in offered(loops(statement).replace("int j = 0", f"int j = {low}"), "interchange")


def test_a_chosen_value_is_no_bound() -> None:
    chosen = loops("A[i * n + j] = B[j];", high="(n < m ? m : n)")
    least = loops("A[i * n + j] = B[j];", high="(m < n ? m : n)")
    assert offered(chosen, "interchange") == []
    assert offered(least, "interchange") == ["interchange(i in f, inner=j)"]


def test_a_product_is_found_in_every_order_tiled_or_not() -> None:
    assert offered(PRODUCT, "product")
    assert offered(taken(PRODUCT, "interchange(j in f", "interchange(i in f"), "product")
    assert offered(taken(PRODUCT, "tile(p in f, size=64)", "tile(j in f, size=32)"), "product")


ADD = "C[i * n + j] += A[i * n + p] * B[p * n + j];"
ONE = "C[i * n + j]"


def around(before: str, add: str = ADD, after: str = "") -> str:
    """The product with something done to each element beside its sum."""
    whole = f"for (int p = 0; p < n; p++) {ADD}"
    return PRODUCT.replace(whole, f"{{ {before} for (int p = 0; p < n; p++) {add} {after} }}")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (around(f"{ONE} = 0.0;"), "product(n, n, n, 1.0, A, n, 1, B, n, 1, C, n, 1)"),
        (around(f"{ONE} *= A[j];"), "C[i * n + j] *= A[j];"),
        (around("", after=f"{ONE} = {ONE} / A[i];"), "C[i * n + j] = C[i * n + j] / A[i];"),
        (PRODUCT.replace("= A[", "= 2.5 * A["), "product(n, n, n, 2.5, A, n, 1, B, n, 1, C, n, 0)"),
        (PRODUCT.replace("+= A[i * n + p]", "-= n * A[i * n + p] * n"), "product(n, n, n, -1.0 * n * n, A"),
    ],
)
def test_a_product_may_be_scaled_and_have_something_done_around_it(text: str, call: str) -> None:
    made = taken(text, "product(i in f")
    assert call in made[made.index("void f") :]


@pytest.mark.parametrize(
    "text",
    [
        around(f"{ONE} = C[j];"),
        around("C[i * n] = 0.0;"),
        around("A[i * n + j] = 0.0;"),
        around(f"{ONE} = g(C);"),
        around("", after=f"{ONE} /= C[j * n + j];"),
        around(f"{ONE} = 0.0;", ADD.replace("= A", "= i * A")),
        around(f"{ONE} = 0.0; B[j] = 0.0;"),
        PRODUCT.replace("= A[", "= g(n) * A["),
    ],
)
def test_what_is_done_around_a_product_is_left_alone_where_it_reads_or_writes_more(text: str) -> None:
    assert offered(text, "product") == []


def test_a_piece_of_a_sum_is_not_taken_for_the_whole() -> None:
    head = "for (int q = 0; q < n; q += 8) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    piece = f"for (int p = q; p < (q + 8 < n ? q + 8 : n); p++) {ADD}"
    text = "void f(int n, const double *A, const double *B, double *C) {{ {} {} }}"
    doubled = f"{{ {ONE} *= 2.0; {piece} }}"
    places = [{label[:9] for label in offered(text.format(head, one), "product")} for one in (piece, doubled)]
    assert places == [{"product(q", "product(i"}, {"product(i"}]


@pytest.mark.parametrize(("low", "offset", "is_whole"), [("0", "", True), ("q", "", False), ("0", " + q", False)])
def test_a_loop_over_pieces_is_left_out_only_if_nothing_else_uses_it(low: str, offset: str, is_whole: bool) -> None:
    head = f"for (int q = 0; q < n; q += 8) for (int i = 0; i < n; i++) for (int j = {low}; j < n; j++)"
    piece = f"for (int p = q; p < (q + 8 < n ? q + 8 : n); p++) {ADD.replace('+ p]', f'+ p{offset}]')}"
    text = f"void f(int n, const double *A, const double *B, double *C) {{ {head} {piece} }}"
    assert any(label.startswith("product(q") for label in offered(text, "product")) is is_whole


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
    counted = loops(statement).replace("for (int", "for (size_t")  # up to n - 3 it would run on for a small n
    assert [step for step in ("jam", "accumulators") if offered(counted, step)] == []


def test_a_sum_that_reads_what_it_makes_is_not_moved_into_the_array() -> None:
    apart = "double s = 0.0; for (int p = 0; p < i; p++) s += A[p * n + j]; A[i * n + j] = s;"
    assert offered(loops(apart), "accumulate") == ["accumulate(j in f)"]
    assert offered(loops(apart.replace("p < i", "p < n")), "accumulate") == []


def test_only_constants_that_steps_made_are_changed() -> None:
    own = f"enum {{ TILE = 8 }};\nstatic double table[TILE];\n{PRODUCT}"
    assert offered(own, "retune") == []
    for body in (
        "for (int i = 0; i < n; i++) A[i] = B[i] * (TILE - 1);",
        "for (int i = 0; i < n; i++) A[i] = 2 * (i + TILE - 1);",
        "for (int i = 0; i < n; i += TILE) A[i] = B[i];",
    ):
        text = f"enum {{ TILE = 8 }};\nvoid f(int n, double *A, double *B) {{ {body} }}"
        assert offered(text, "retune") == []
    sums = "double s = 0.0; for (int i = i0; i < (i0 + ROWS < n ? i0 + ROWS : n); i++) s += A[i]; B[i0] = s;"
    pieces = f"for (int i0 = 0; i0 < n; i0 += ROWS) {{ {sums} }}"
    assert offered(f"enum {{ ROWS = 8 }};\nvoid f(int n, double *A, double *B) {{ {pieces} }}", "retune") == []
    assert offered(taken(PRODUCT, "tile(p in f, size=64)"), "retune")
    assert any(label.startswith("retune(KC") for label in offered(taken(PRODUCT, "product(i in f"), "retune"))


def test_a_macro_is_what_its_text_says() -> None:
    text = (
        PRODUCT.replace("i * n", "i * N").replace("p * n", "p * N").replace("j < n", "j < N").replace("p < n", "p < N")
    )
    made = [taken(f"#define N {value}\n{text}", "product(i in f") for value in ("101", "(100 + 1)", "100 + 1")]
    calls = [one[one.rindex("product(") : one.rindex(";\n")] for one in made]
    assert calls[0] == calls[1] == "product(n, N, N, 1.0, A, N, 1, B, N, 1, C, N, 0)"
    assert calls[2] == "product(n, 100 + 1, 100 + 1, 1.0, A + 1, 100, 1, B + 1, 100, 1, C + 1, 100, 0)"
    assert offered(f"#define N 2.5\n{PRODUCT.replace('j < n', 'j < N')}", "product") == []  # three columns


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
    assert offered(text.replace("= A[i] + B[j]", "= C[(p * n + i) * n + j]"), "order") == []


def test_ends_are_split_off_only_where_all_that_is_asked_is_or() -> None:
    test = "if (j == 0 || i == 0 || j == n - 1) A[i * n + j] = 0.0; else A[i * n + j] = B[j];"
    assert offered(loops(test), "split") == ["split(j in f)"]
    assert offered(loops(test.replace("||", "&&")), "split") == []
    assert offered(loops(test, kind="size_t"), "split") == []
    assert offered(taken(loops(test), "split(j in f"), "unswitch") == ["unswitch(j#2 in f)"]
