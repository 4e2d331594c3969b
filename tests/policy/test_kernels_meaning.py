"""Texts that mean something else than they seem to: no step takes them for what they are not."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.nest import printed
from tests.policy.test_kernels_declines import PRODUCT, offered, taken
from tests.policy.test_kernels_hidden import all_offers
from tests.policy.test_kernels_steps import function


def read(text: str, language: str = "c") -> str:
    """The bodies of the kernels of a program as they are read, in one line."""
    return " ".join("".join(printed(one.body) for one in kernels(Unit(language, text))).split())


# ----------------------------------------------------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("kind", "statement", "expected"),
    [
        ("double *A", "A[i] = B[i] + A[i];", "A[i] += B[i];"),
        ("std::string *A", "A[i] = B[i] + A[i];", "A[i] = B[i] + A[i];"),  # in front of it
        ("std::string *A", "A[i] = A[i] + B[i];", "A[i] = A[i] + (B[i]);"),
        ("double *A", "A[g()] = A[g()] + 1.0;", "A[g()] = A[g()] + 1.0;"),  # two calls
        ("double *A", "A[i] = n and B[i] + A[i];", "A[i] = n and B[i] + A[i];"),
    ],
)
def test_a_sum_is_read_as_one_only_if_it_is_the_same(kind: str, statement: str, expected: str) -> None:
    text = f"void f(int n, {kind}, {kind.replace('*A', '*B')}) {{ for (int i = 0; i < n; i++) {statement} }}"
    assert f"{{ {expected} }}" in read(text, "cpp")


@pytest.mark.parametrize("target", ["h[i + j]", "h[(i + j)]"])
@pytest.mark.parametrize(("value", "is_free"), [("w[i]", False), ("5e-1", False), ("n * 1e-1", False), ("n", True)])
def test_a_fraction_is_seen_in_every_form(target: str, value: str, is_free: bool) -> None:
    nest = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {target} += {value};"
    assert bool(offered(f"void f(int n, int *h, const double *w) {{ {nest} }}", "interchange")) is is_free


def test_a_sum_of_any_type_keeps_its_order_whatever_its_name_means_elsewhere() -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) h[i + j] += w[i];"
    text = f"void g(double *h);\n%svoid f(int n, %s *h, const double *w) {{ {nest} }}"
    kinds = (("", "double"), ("", "std::complex<double>"), ("template <typename T> ", "T"), ("", "Log<double>"))
    assert [bool(offered(text % kind, "interchange", "cpp")) for kind in kinds] == [True, True, False, False]


@pytest.mark.parametrize(
    "body",
    [
        "FOR(t, 0, 2) {}",
        "FOR(t, 0, 2) {{ {} }}",
        "TWICE {}",
        "\n#ifdef X\nif (n > 3)\n#endif\n{}",
        "for (int t = 0; t < 2; t++)\n#pragma omp simd\n{}",
        "if (n > 3)\n#pragma omp simd\n{}",
    ],
)
def test_a_loop_behind_what_the_grammar_does_not_know_stays_whole(body: str) -> None:
    macros = "#define FOR(t, a, b) for (int t = a; t < b; t++)\n#define TWICE for (int t = 0; t < 2; t++)\n"
    loop = "for (int j = 0; j < n; j++) {{ A[j] += 1.0; B[j] += 2.0; }}".format()
    assert offered(macros + function(loop), "distribute")
    for language in ("c", "cpp"):
        assert all_offers(macros + function(body.format(loop)), language) == []


# --------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ("i <= n - 1", "i < n"),
        ("i <= n + 010", "i < (n + 010) + 1"),
        ("i <= n + 1e+3", ""),
        ("i <= HALF", ""),
        ("i <= WHOLE", "i < WHOLE + 1"),
    ],
)
def test_the_end_of_a_loop_is_moved_by_one_as_c_adds(bound: str, expected: str) -> None:
    macros = "#define HALF n >> 1\n#define WHOLE (8)\n"
    loops = f"for (int i = 0; {bound}; i++) A[i] = 1.0; for (int j = 0; j < n; j++) A[j] = 1.0;"
    assert (expected or bound if bound != "i <= HALF" else "") in read(macros + function(loops))
    assert bool(read(macros + function(loops))) == (bound != "i <= HALF")


@pytest.mark.parametrize("declared", ["unsigned a, e;", "unsigned int a = 1, e;", "int a, e;"])
def test_an_end_without_a_sign_is_found_in_a_list(declared: str) -> None:
    body = f"{declared} e = n; for (int i = e - 2; i >= 0; i--) A[i] = B[i]; for (int j = 0; j < n; j++) A[j] = 0.0;"
    assert ("i >= 0; i--" in read(function(body))) == declared.startswith("unsigned")


@pytest.mark.parametrize(
    ("bound", "is_size"),
    [
        ("n / 2", True),
        ("(int)m", True),
        ("sqrt(n)", False),
        ("B[0]", False),
        ("(double)n / m", False),
        ("(real)n / m", False),
        ("m--", False),
        ("q->x", False),
        ("1e-1 * n", False),
    ],
)
def test_a_product_has_only_sizes_that_are_whole(bound: str, is_size: bool) -> None:
    text = PRODUCT.replace("int n,", "int n, int m, struct size *q,").replace("j < n", f"j < {bound}")
    assert bool(offered(text, "product")) is is_size


@pytest.mark.parametrize(("value", "is_size"), [("n / 2", True), ("n * 0.5", False), ("x", False), ("g(n)", False)])
def test_a_product_has_no_size_of_a_type_that_may_be_a_fraction(value: str, is_size: bool) -> None:
    text = PRODUCT.replace("int n,", "int n, double x,").replace("{\n", f"{{\n    auto m = {value};\n", 1)
    assert bool(offered(text.replace("j < n", "j < m"), "product", "cpp")) is is_size
    generic = "template <typename T>" + PRODUCT.replace("int n,", "int n, T m,").replace("j < n", "j < m")
    assert offered(generic, "product", "cpp") == []


CHANGED = """void f(int n, int m, double *A, double *B) {{
    for (int i = 0; i < n; i++) {{
        {}
        for (int j = 0; j < m; j++) A[i] += A[n] * B[j];
    }}
}}
"""


@pytest.mark.parametrize(
    ("statement", "is_apart"),
    [
        ("", True),
        ("B[i] = n;", True),
        ("int k = n;", True),
        ("double t;", True),
        ("n = n - 1;", False),
        ("n--;", False),
        ("i++;", False),
        ("int n = m;", False),
        ("unsigned n = m;", False),
        ("shrink();", False),
        ("B[i] = next(m);", False),
        ("if (B[i] > 0) { n -= 2; }", False),
        ("SHRINK;", False),
    ],
)
def test_an_element_behind_the_end_of_a_loop_is_another_only_if_that_end_stays(statement: str, is_apart: bool) -> None:
    macro = "#define SHRINK n = n - 1\n" if "SHRINK" in statement else ""
    assert bool(offered(macro + CHANGED.format(statement), "accumulators")) is is_apart


# ---------------------------------------------------------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("before", "value", "is_free"),
    [
        ("using ours::max;", "max(A[i], 0.0)", False),
        ("using std::max;", "max(A[i], 0.0)", True),
        ("", "max(A[i], 0.0)", True),
        ("", "std::max(A[i], 0.0)", True),
        ("", "::sqrt(A[i])", True),
        ("", "static_cast<int>(A[i])", True),
        ("", "A[i] > (0.5)", True),
        ("", "0 < n && n > (3)", True),
        ("", "next<double>(A, i)", False),
        ("", "next<std::pair<int, int>>(i)", False),
        ("", "ours::max(A, i)", False),
        ("", "max(A, i)", False),  # it may read the elements
        ("", "A[i] > 0 ? A[i] : throw 1", False),
        ("", "A[i] > 0 and *A", False),
        ("int c = 0; auto max = [&](double a, double b) { c++; return a > b ? a : c; };", "max(A[i], 0.0)", False),
    ],
)
def test_a_call_is_seen_in_every_form(before: str, value: str, is_free: bool) -> None:
    text = function(f"{before} for (int i = 0; i < n; i++) A[i] = {value};")
    assert bool(offered(text, "parallel", "cpp")) is is_free


@pytest.mark.parametrize(
    ("define", "value", "is_free"),
    [
        ("#define N 3", "(N) * B[i]", True),
        ("enum { N = 3 };", "(N) * B[i]", True),
        ("", "(n) * B[i]", True),
        ("#define real double", "(real)*A", False),
        ('#include "real.h"', "(real) *A", False),
        ('#include "real.h"\n#define FIRST(p) ((real)*(p))', "FIRST(A)", False),
    ],
)
def test_an_element_behind_a_cast_to_any_type_is_seen(define: str, value: str, is_free: bool) -> None:
    text = f"{define}\n{function(f'for (int i = 1; i < n; i++) A[i] = {value};')}"
    assert bool(offered(text, "parallel")) is is_free


@pytest.mark.parametrize(
    ("outside", "inside", "is_free"),
    [
        ("static double a[9], b[9];", "", True),
        ("extern double *a, *b;", "", True),
        ("", "", True),  # of another file
        ("static union { double a[9]; float b[18]; };", "", False),
        ("", "auto [a, b] = views(A);", False),
        ("", "auto &[a, b] = views;", False),
    ],
)
def test_arrays_that_share_memory_in_other_forms_are_seen(outside: str, inside: str, is_free: bool) -> None:
    text = f"{outside}\n{function(f'{inside} for (int i = 1; i < n; i++) a[i] = b[i - 1];')}"
    assert bool(all_offers(text, "cpp")) is is_free


def test_a_function_inside_another_is_left_alone() -> None:
    inner = "void g(void) { for (int i = 1; i < n; i++) p[i] = A[i - 1]; }"
    assert all_offers(function(f"double *p = A; {inner} g();")) == []


def test_a_declaration_with_an_attribute_stays() -> None:
    loop = "for (int i = 0; i < n; i++) A[i] = t;"
    for kept in ("__attribute__((cleanup(g))) double t = 1;", "[[maybe_unused]] double t = 1;"):
        assert kept in read(function(f"{kept} {loop}"), "cpp")


@pytest.mark.parametrize("word", ["thread_local", "__thread", "_Thread_local"])
def test_a_variable_of_one_thread_is_not_read_by_others(word: str) -> None:
    loop = function("for (int i = 0; i < n; i++) A[i] = w[i % 9];")
    assert offered(f"static double w[9];\n{loop}", "parallel")
    assert offered(f"static {word} double w[9];\n{loop}", "parallel") == []
    assert offered(f"static double w[9];\n#pragma omp threadprivate(w)\n{loop}", "parallel") == []


def test_a_pointer_to_a_function_may_have_the_name_of_a_pure_one() -> None:
    text = "void f(int n, {}double *A) {{ for (int i = 0; i < n; i++) A[i] = pow(A[i], 2.0); }}"
    places = [bool(offered(text.format(given), "parallel")) for given in ("", "double (*pow)(double, double), ")]
    assert places == [True, False]


@pytest.mark.parametrize("kind", ["bool", "char"])
def test_a_vector_of_any_type_may_be_one_of_bits(kind: str) -> None:
    text = f"""template <typename T> void f(int n, std::vector<T> &A, const double *B) {{
    for (int i = 0; i < n; i++) A[i] = B[i] > 0;
}}
int main() {{ std::vector<{kind}> a(9); f(9, a, 0); }}
"""
    assert bool(all_offers(text, "cpp")) == (kind == "char")


def test_a_start_that_is_rounded_otherwise_may_be_below_zero() -> None:
    nest = "for (int i = n / 4 * {}; i < n; i++) for (int j = 0; j < m; j++) A[i] += A[-1] * B[j];"
    assert [bool(offered(function(nest.format(count)), "accumulators")) for count in (4, 8)] == [True, False]


def test_only_a_constant_of_a_step_gets_another_value() -> None:
    """A program may compute something else with pieces of another size, as with blocks at the diagonal."""
    made = taken(function("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[j] += B[i];"), "tile(j in f")
    assert offered(made, "retune")
    assert offered(made.replace(" /* of a step */", ""), "retune") == []


# --------------------------------------------------------------------------------------------------------------- tables


def tabulated(statements: str) -> list[str]:
    nest = f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {statements} }}"
    return offered(function(nest), "tabulate")


@pytest.mark.parametrize(
    ("between", "is_fixed"),
    [
        ("", True),
        ("for (int k = 0; k < n; k++) s += B[k];", True),
        ("for (int k = 0; k < n; k++) if (B[k] > 0) s += B[k];", True),
        ("if (A[i] > 0) s = 2 * s;", False),
        ("for (int k = 0; k < n; k++) if (A[k] > 0) s += A[i];", False),
        ("if (A[i] > 0) { for (int k = 0; k < n; k++) s += B[k]; }", False),
    ],
)
def test_a_value_that_changes_in_a_branch_gets_no_table(between: str, is_fixed: bool) -> None:
    assert bool(tabulated(f"double s = sqrt(B[j]); {between} C[i * m + j] = s;")) is is_fixed


def test_tables_with_names_of_the_program_are_told_apart() -> None:
    sums = "for (int k = 0; k < n; k++) C[i * n + j] += (A[i * n + k] - {}) * (B[j * n + k] + 1.0);"
    text = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ C[i * n + j] = 0.0; {} {} }}"
    made = taken(function(text.format(sums.format("row"), sums.format("k"))).replace("int m", "int row"), "operands(i")
    assert made.count("= (double *)malloc(") == 3


def test_a_function_whose_macro_counts_is_not_tabulated() -> None:
    text = """static int count;
#define NEXT {}
static double g(const double *B, int j) {{ return B[j] + NEXT; }}
void f(int n, const double *B, double *A) {{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{ double s = g(B, j); A[i * n + j] = s; }}
}}
"""
    assert [bool(offered(text.format(value), "tabulate")) for value in ("1", "(count++)")] == [True, False]


# --------------------------------------------------------------------------------------------------- tests and scalars


@pytest.mark.parametrize(
    ("before", "end", "inside", "is_fixed"),
    [
        ("", "n", "A[i] = 0;", True),
        ("auto next = [&]() { m--; };", "n", "next();", False),
        ("", "next(m)", "A[i] = 0;", False),
        ("", "n", "A[i] = DEC(1);", False),
    ],
)
def test_a_test_stays_where_something_hidden_changes_it(before: str, end: str, inside: str, is_fixed: bool) -> None:
    text = function(f"{before} for (int i = 0; i < {end}; i++) {{ if (m > 2) {{ {inside} }} }}")
    assert bool(offered(f"#define DEC(k) (m -= (k))\n{text}", "unswitch", "cpp")) is is_fixed


def test_a_scalar_that_a_macro_uses_is_not_private() -> None:
    loop = "double t; for (int i = 0; i < n; i++) { t = A[i]; B[i] = t; } B[0] = GET(1);"
    for macro, is_private in (("(2 * (k))", True), ("(t += (k))", False)):
        assert bool(offered(f"#define GET(k) {macro}\n{function(loop)}", "privatise")) is is_private


def test_a_name_of_a_row_is_not_hidden_by_another_in_a_loop_of_its_own() -> None:
    text = """void f(int n, int m, double d, double *L, double *W) {{
    for (int i = 0; i < n; i++) {{
        double {} = L[i * n + i];
        for (int p = 0; p < i; p++) for (int j = 0; j < m; j++) W[i * m + j] -= L[i * n + p] * W[p * m + j];
        for (int j = 0; j < m; j++) W[i * m + j] /= d;
    }}
}}
"""
    assert [bool(offered(text.format(name), "block")) for name in ("e", "d")] == [True, False]


# -------------------------------------------------------------------------------------------------------------- pragmas


@pytest.mark.parametrize(
    ("pragma", "is_split"),
    [
        ("parallel for", True),
        ("parallel for private(t) schedule(static)", True),
        ("for", True),
        ("for schedule(dynamic) nowait", False),
        ("parallel for lastprivate(t)", False),
        ("task", False),
        ("taskloop", False),
        ("single nowait", False),
        ("section", False),
    ],
)
def test_a_loop_that_threads_run_once_is_not_split(pragma: str, is_split: bool) -> None:
    loop = f"double t;\n#pragma omp {pragma}\nfor (int i = 0; i < n; i++) {{ A[i] = B[i]; C[i] = A[i]; }}"
    assert bool(offered(function(loop), "distribute")) is is_split
    assert bool(offered(function(loop), "contiguous")) is False


def test_a_sum_of_threads_keeps_its_pragma() -> None:
    inner = "double s = A[i]; for (int j = 0; j < m; j++) s += B[i * m + j]; A[i] = s;"
    loop = f"for (int i = 0; i < n; i++) {{ {inner} }}"
    for pragma in ("", "#pragma omp for", "#pragma omp single", "#pragma omp task"):
        assert bool(offered(function(f"\n{pragma}\n{loop}"), "accumulate")) == (not pragma)


def test_what_stands_before_a_loop_alone_stays_before_it() -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double s = sqrt(B[j]); C[i * m + j] = s; }"
    for alone in ("#pragma omp barrier", "#pragma omp taskwait", "#undef N", "#pragma acc wait", "#pragma pack(pop)"):
        made = taken(function(f"\n{alone}\n{nest}"), "tabulate(i in f")
        assert made.index(alone) < made.index("malloc(")


def test_a_loop_that_holds_one_of_threads_is_not_shared() -> None:
    inner = "for (int j = 0; j < n; j++) A[i * n + j] = B[j];"
    for pragma, is_shared in (("#pragma omp simd", True), ("#pragma omp for", False)):
        text = function(f"for (int i = 0; i < n; i++) {{\n{pragma}\n{inner} }}")
        assert bool([label for label in offered(text, "parallel") if "(i in f" in label]) is is_shared


@pytest.mark.parametrize(
    ("before", "pragma", "value", "is_free"),
    [
        ("", "", "B[i]", True),
        ("#define LAST(k) A[(k) - 1]\n#ifdef X\n#endif\n", "", "LAST(i)", False),
        ("#define TWICE(A) (2 * (A))\n#ifdef X\n#endif\n", "", "TWICE(B[i])", True),
        ("", "\n#pragma omp parallel for reduction(+ : A[:m])\n", "B[i]", False),
        ("", "\n#pragma omp parallel for\n", "B[i]", True),
    ],
)
def test_an_array_gets_no_new_name_that_a_macro_or_a_pragma_does_not_know(
    before: str, pragma: str, value: str, is_free: bool
) -> None:
    text = before + function(f"{pragma}for (int i = 1; i < n; i++) A[i] += {value};")
    assert bool(offered(text, "restrict")) is is_free
