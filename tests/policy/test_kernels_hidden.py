"""What C hides from a reader: second names, macros, types, values that are rounded.  No step is offered that they make
wrong."""

from __future__ import annotations

import pytest

from maxcode.policy.rules.kernels.steps import ALL
from tests.policy.test_kernels_declines import offered, taken

REORDERS = [one.rule.name for one in ALL if one.rule.name not in ("unroll", "retune")]


def all_offers(text: str, language: str = "c") -> list[str]:
    """The labels of all steps but those that change no order."""
    return [label for step in REORDERS for label in offered(text, step, language)]


ROW = "for (int i = 1; i < n; i++) p[i] = A[i - 1] + 1.0;"
ALIASES = [
    "double x = 1.0, *p = A;",
    "double *q = malloc(8), *p = A;",
    "vec p = A;",
    "auto p = A;",
    "double *p = malloc(8); p = A;",
    "std::vector<double>::iterator p = w.begin();",
    "std::vector<double> &p = w;",
    "std::span<double> p(A, n);",
]


@pytest.mark.parametrize("declaration", ALIASES)
def test_a_second_name_for_an_array_is_seen_in_every_form(declaration: str) -> None:
    text = f"""#include <stdlib.h>
typedef double *vec;
void f(int n, double *A, std::vector<double> &w) {{ {declaration} {ROW} }}
"""
    assert all_offers(text, "cpp") == []
    own = "double *p = (double *)malloc(n * sizeof(double));"
    assert offered(text.replace(declaration, own), "parallel", "cpp") == ["parallel(i in f)"]


@pytest.mark.parametrize(
    ("kind", "is_free"),
    [
        ("std::map<int, double> &", False),  # which makes elements
        ("std::vector<bool> &", False),  # whose elements share a byte
        ("Grid &", False),
        ("volatile double *", False),
        ("_Atomic int *", False),
        ("port *", False),
        ("std::vector<double> &", True),
        ("double *", True),
    ],
)
def test_elements_that_are_more_than_memory_stay_in_order(kind: str, is_free: bool) -> None:
    text = f"""typedef volatile double port;
void f(int n, {kind} A, const double *B) {{ for (int i = 0; i < n; i++) A[i] = B[i]; }}
"""
    assert bool(all_offers(text, "cpp")) is is_free


@pytest.mark.parametrize(
    ("define", "value"),
    [
        ("", "max(B[i], 2.0)"),
        ("#define LAST A[i - 1]", "LAST"),
        ("#define NEXT (count++)", "NEXT"),
        ("#define NOW now()", "NOW"),
        ("#ifdef X\n#endif\n#define LAST A[i - 1]", "LAST"),
        ("#define max(a, b) (count++, (a) > (b) ? (a) : (b))", "max(B[i], 2.0)"),
        ("static double max(double a, double b) { count += 1; return a > b ? a : b; }", "max(B[i], 2.0)"),
        ("static double abs(const double *a) { return a[0]; }", "abs(A)"),
        ("typedef double real;", "B[i] + (real)*A"),
        ("", "B[i] + (int64_t) *A"),
        ("", "strlen((char *)A)"),
    ],
)
def test_names_that_hide_an_access_are_not_taken_for_numbers(define: str, value: str) -> None:
    text = f"""static int count;
{define}
void f(int n, double *A, const double *B) {{ for (int i = 1; i < n; i++) A[i] = {value}; }}
"""
    is_free = not define and value.startswith("max")
    for step in ("parallel", "simd"):
        assert bool(offered(text, step)) is is_free


def test_a_macro_for_a_number_or_of_its_parameters_changes_nothing() -> None:
    text = """#define N 100
#define HALF (N / 2)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define AT (i * N + j)
void f(double *A, const double *B) {
    for (int i = 0; i < HALF; i++)
        for (int j = 0; j < N; j++) A[AT] = max(B[j], 0.0);
}
"""
    assert offered(text, "interchange") == ["interchange(i in f, inner=j)"]
    assert "i < HALF" in taken(text, "interchange") and "A[(i * N + j)]" in taken(text, "interchange")


def test_loops_that_share_a_name_do_not_change_places() -> None:
    nest = "for (int {1} = 0; {1} < {0}; {1}++) for (int j = 0; j < m; j++) A[j] += 1;"
    text = f"void f(int {{0}}, int m, double *A) {{{{ {nest} }}}}"
    for size, outer in (("j", "i"), ("n", "j")):
        assert offered(text.format(size, outer), "interchange") == []
    assert offered(text.format("n", "i"), "interchange") != []


@pytest.mark.parametrize("pragma", ["#pragma GCC ivdep", "#pragma omp parallel for collapse(2)"])
def test_what_a_pragma_tells_about_an_order_holds_no_longer_in_another(pragma: str) -> None:
    text = f"""void f(int n, double *A, const double *B) {{
    for (int t = 0; t < n; t++) {{
{pragma}
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++) A[i * n + j] += B[i * n + k] * B[k * n + j];
    }}
}}
"""
    for step in ("interchange", "tile"):
        assert [label for label in offered(text, step) if "collapse" in pragma or "(i in f" in label] == []


def test_a_test_that_is_more_than_alternatives_is_not_split() -> None:
    body = "for (int j = 0; j < n; j++) {{ if ({}) A[j] = 0; else A[j] = 1; }}"
    text = f"void f(int n, int c, int p, double *A) {{{{ {body} }}}}"
    ends = "j == 0 || j == n - 1 || c"
    assert offered(text.format(ends), "split") == ["split(j in f)"]
    for more in (" ? p : 1", ", p"):
        assert offered(text.format(ends + more), "split") == []


def test_a_loop_counts_down_still_if_an_expression_in_it_changes_its_end() -> None:
    text = """void f(int n, double *A, const double *B, double *C) {
    for (int i = n - 1; i >= 0; i--) A[i] = B[n--];
    for (int j = 0; j < 9; j++) C[j] = 1.0;
}
"""
    assert "i >= 0; i--" in taken(text, "parallel(j in f")


@pytest.mark.parametrize("bound", ["sqrt(n)", "x", "h", "x / 2", "0.5 * n", "B[n]", "n * HALF", "PART"])
def test_a_loop_up_to_a_fraction_does_not_go_beyond(bound: str) -> None:
    text = f"""typedef double real;
#define HALF 0.5
#define PART (4 * HALF)
void f(int n, double x, real h, double *A, const double *B) {{
    for (int i = 2; i <= {bound}; i++) A[i] = n;
    for (int j = 0; j < 9; j++) A[j] = 1.0;
}}
"""
    assert f"i <= {bound}" in taken(text, "parallel(j in f")
    assert "i < n + 1" in taken(text.replace(f"<= {bound}", "<= n"), "parallel(j in f")


def test_a_rounded_multiple_of_a_fraction_is_no_multiple() -> None:
    text = """void f(int n, {} s, double *A) {{
    for (int i = 0; i < n; i++) {{ int k = i * s; for (int j = 0; j < s; j++) A[k + j] = i; }}
}}
"""
    places = [offered(text.format(kind), "parallel") for kind in ("int", "double")]
    assert places == [["parallel(i in f)"], []]


def test_literals_keep_their_blanks() -> None:
    text = "void f(int n, double *A) { for (int i = 0; i < n; i++) A[i] = weight(\"a  b\", '\t'); g(n); }"
    assert "weight(\"a  b\", '\t')" in taken(text, "unroll(i in f")


def test_an_element_behind_a_word_for_and_is_not_always_read() -> None:
    text = "void f(int n, double *A, const double *B) {{ for (int i = 0; i < n; i++) A[i] = B[i] > 0 {} A[i - 1]; }}"
    assert [bool(offered(text.format(word), "carry", "cpp")) for word in ("+", "and", "or")] == [True, False, False]


@pytest.mark.parametrize(
    ("before", "kind", "is_free"),
    [
        ("", "double", True),
        ("typedef double T;", "T", True),
        ("", "int", False),
        ("typedef int T;", "T", False),
        ("#define T int", "T", False),
        ("template <typename T>", "T", False),
        ("", "std::string", False),
        ("", "bool", False),
    ],
)
def test_only_sums_of_numbers_that_are_not_rounded_are_reordered(before: str, kind: str, is_free: bool) -> None:
    text = f"""{before}
void f(int n, {kind} *h, const double *w) {{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) h[i + j] += w[i];
}}
"""
    assert bool(offered(text, "interchange", "cpp")) is is_free


def test_copies_are_summed_first_only_in_the_type_of_the_element() -> None:
    text = (
        "void f(int n, {} *h, const {} *w) {{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) h[j] += w[i]; }}"
    )
    for kinds, joined in ((("double", "double"), True), (("double", "float"), False), (("long", "int"), False)):
        assert ("w[i] + w[(i + 1)]" in taken(text.format(*kinds), "jam(i in f, factor=2")) is joined


def test_a_scale_of_whole_numbers_does_not_overflow() -> None:
    text = """void f(int n, {}, const double *A, const double *B, double *C) {{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < n; p++) C[i * n + j] {} A[i * n + p] * {} * B[p * n + j];
}}
"""
    for given, op, factors, scale in (
        ("unsigned k", "-=", "k", "-1.0 * k"),
        ("int k", "+=", "k * k", "1.0 * k * k"),
        ("double k", "+=", "k", "k"),
    ):
        assert f"product(n, n, n, {scale}, A" in taken(text.format(given, op, factors), "product(i in f")


def test_factors_that_wrap_get_no_table_of_doubles() -> None:
    text = """void f(int n, const {0} *A, const {0} *B, double *C) {{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            C[i * n + j] = 0.0;
            for (int k = 0; k < n; k++) C[i * n + j] += (A[i * n + k] - 1) * (B[j * n + k] - 1);
        }}
}}
"""
    places = [offered(text.format(kind), "operands") for kind in ("double", "unsigned")]
    assert [bool(found) for found in places] == [True, False]


@pytest.mark.parametrize(
    ("main", "is_free"),
    [
        ("double a[9], b[9]; add(8, a, b);", True),
        ("double a[9], b[9]; pass_on(8, a, b); pass_on(8, b, a);", True),
        ("double *a = load(in), *b = load(in); add(8, a, b);", True),
        ("std::vector<double> a(9), b = a; add(8, a.data(), b.data());", True),
        ("double a[9]; pass_on(8, a, a);", False),
        ("double a[9], *b = a; add(8, a, b);", False),
        ("double a[9], *b; b = a + 1; add(8, a, b);", False),
        ("std::vector<double> a(9); auto b = a.begin(); add(8, &b[1], &a[0]);", False),
        ("double a[9]; ::add(8, a, a);", False),
        ("double a[9]; add<double>(8, a, a);", False),
        ("double a[9]; TWICE(a);", False),
        ("add(8, global, other);", False),
        ("pass_on(8, other, global);", True),
    ],
)
def test_one_array_under_two_names_is_found_along_the_calls(main: str, is_free: bool) -> None:
    twice = "#define TWICE(x) add(8, x, x)" if "TWICE" in main else ""
    text = f"""{twice}
static double global[9], other[9];
static void add(int n, double *to, const double *from) {{
    for (int i = 0; i < n; i++) to[i + 1] = from[i] + global[0];
}}
static void pass_on(int n, double *x, double *y) {{ add(n, x, y); }}
int main() {{ {main} }}
"""
    assert bool(offered(text.replace("global[0]", "1.0") if "other" not in main else text, "simd", "cpp")) is is_free


@pytest.mark.parametrize(("given", "call"), [("double &s", "A[0]"), ("const double &s", "A[n - 1]")])
def test_a_number_that_is_an_element_of_the_array_is_not_fixed(given: str, call: str) -> None:
    text = f"""static void scale(int n, {given}, double *A) {{ for (int i = 0; i < n; i++) A[i] = A[i] / s; }}
void f(int n, double *A, double *B) {{ scale(n, {call}, A); }}
"""
    assert all_offers(text, "cpp") == []
    assert offered(text.replace("A[0]", "B[0]").replace("A[n - 1]", "B[n - 1]"), "parallel", "cpp") != []


def test_threads_that_call_a_product_share_no_panels() -> None:
    text = """void mm(int n, const double *A, const double *B, double *C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < n; p++) C[i * n + j] += A[i * n + p] * B[p * n + j];
}
void all(int m, int n, double **A, double **B, double **C) {
#pragma omp parallel for
    for (int b = 0; b < m; b++) mm(n, A[b], B[b], C[b]);
}
"""
    alone = text.replace("#pragma omp parallel for", "")
    kinds = [
        {label.split(", ")[1] for label in offered(one, "product") if "(i in mm" in label} for one in (alone, text)
    ]
    assert kinds == [{"template=packed", "template=direct"}, {"template=direct"}]
    assert [offered(taken(one, "product(i in mm, template=direct"), "pack") for one in (alone, text)] == [
        ["pack(product)"],
        [],
    ]


def test_rows_of_a_product_that_may_overlap_are_computed_in_order() -> None:
    text = """void f(int n, int w, const double *A, const double *B, double *C) {{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            {} for (int p = 0; p < n; p++) C[i * {} + j] += A[i * n + p] * B[p * n + j];
        }}
}}
"""
    clears = "C[i * {} + j] = 0.0;"
    made = [
        taken(text.format(first, width), "product(i in f").rpartition("void f(")[2]
        for first, width in ((clears.format("n"), "n"), (clears.format("w"), "w"), ("", "w"))
    ]
    assert ["if (n <= w)" in one for one in made] == [False, True, False]
    assert all("product(n, n, n, 1.0, A" in one for one in made) and "for (int p" in made[1]


def test_a_product_has_no_size_with_a_fraction() -> None:
    text = """void f(int n, {} m, const double *A, const double *B, double *C) {{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < n; p++) C[i * n + j] += A[i * n + p] * B[p * n + j];
}}
"""
    assert [bool(offered(text.format(kind), "product")) for kind in ("int", "double")] == [True, False]
    for macros, is_whole in (("#define M 5", 1), ("#define H 0.5\n#define M (5 * H)", 0), ("#define M sqrt(2)", 0)):
        assert bool(offered(f"{macros}\n{text.format('int').replace('i < m', 'i < M')}", "product")) == is_whole


def test_a_macro_between_the_statements_may_use_or_change_a_scalar() -> None:
    loop = "for (int i = 0; i < n; i++) { t = A[i]; B[i] = t; }"
    text = f"#define SAVE B[0] = t;\nvoid f(int n, double *A, double *B) {{ double t = 0; {loop} {{}} }}"
    assert [offered(text.replace("{}", after), "privatise") for after in ("SAVE", "g();")] == [
        [],
        ["privatise(t in f)"],
    ]
    body = "{ %s if (k > 0) A[i] = B[i]; }"
    text = f"#define NEXT k--;\nvoid f(int n, int k, double *A, double *B) {{ for (int i = 0; i < n; i++) {body} }}"
    assert [offered(text % before, "unswitch") for before in ("NEXT", "")] == [[], ["unswitch(i in f)"]]


def test_a_macro_in_a_nest_may_change_its_size() -> None:
    text = """#define GROW n++;
void f(int n, int m, double *A, double *B, double *C) {{
    for (int i = 0; i < m; i++) {{
        for (int j = 0; j < n; j++) {{ double t = A[i * n + j] * 2; B[i * n + j] = t; C[i * n + j] = t; }}
        {}
    }}
}}
"""
    assert [offered(text.format(after), "expand") for after in ("GROW", "g();")] == [[], ["expand(j in f)"]]


@pytest.mark.parametrize("where", ["rows", "around"])
def test_a_loop_that_threads_of_a_caller_share_is_no_product(where: str) -> None:
    nest = "for (int i = 0; i < n; i++) for (int p = 0; p < n; p++) for (int j = 0; j < n; j++) "
    nest += "C[i * n + j] += A[i * n + p] * B[p * n + j];"
    head = "void f(int n, const double *A, const double *B, double *C) {{\n{}\n}}\n"
    shared = f"#pragma omp for\n{nest}" if where == "rows" else f"#pragma omp for\nfor (int b = 0; b < n; b++) {nest}"
    assert offered(head.format(shared), "product") == []
    assert offered(head.format(shared.replace("omp for", "omp simd")), "product")
    other = head.format(nest) + "void g(int n, double *x) {\n#pragma omp for\nfor (int i = 0; i < n; i++) x[i] = 0;\n}"
    assert {label.split(", ")[1] for label in offered(other, "product")} == {"template=direct"}


def test_threads_do_not_share_rows_that_overlap() -> None:
    nest = "for (int i = 0; i < n; i++) for (int p = 0; p < n; p++) for (int j = 0; j < n; j++) "
    nest += "C[2 * i + j] += A[i * n + p] * B[p * n + j];"
    text = f"void f(int n, const double *A, const double *B, double *C) {{ {nest} }}"
    made = taken(text, "product(i in f, template=packed", "parallel(product)")
    assert made.count("#pragma omp parallel for if (c_row >= n)\n") == made.count("#pragma omp") == 2
