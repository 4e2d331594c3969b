"""What callers show: whether two names of a kernel may mean one array, behind pointers, members and threads."""

from __future__ import annotations

import time

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from tests.policy.test_kernels_declines import offered

ADD = "static void add(int n, double *p, double *q) { for (int i = 0; i < n; i++) p[i] = q[i + 1]; }"
INSIDE = "double *g, *h; static void add(int n) { for (int i = 0; i < n; i++) g[i] = h[i + 1]; }"
ALLOCATED = "g = malloc(80); h = malloc(80);"
SWAP = "double *t = g; g = h; h = t;"
NEXT = "for (int t = 0; t < 9; t++) {{ add(8, {0}, {1}); double *s = {0}; {0} = {1}; {1} = s; }}"


@pytest.mark.parametrize(
    "callers",
    [
        "void run(double *x, double *y) { x = y; add(8, x, y); }",
        "double *g, *h; int main() { g = malloc(80); h = g; add(8, g, h); }",
        "struct W { double *x, *y; }; int main() { struct W w; w.x = malloc(80); w.y = w.x; add(8, w.x, w.y); }",
        "int main() { double a[9]; void (*k)(int, double *, double *) = add; k(8, a, a); }",
        "int main() { double a[9]; std::thread t(add, 8, a, a); }",
        "static double *same(double *p) { return p; } int main() { double a[9], *b = same(a); add(8, a, b); }",
        "int main() { double p[9], q[9], *a = p; for (;;) { double *b = q; " + NEXT.format("a", "b") + " } }",
        "int main() { double p[9], *a = p, *b = p; " + NEXT.format("a", "b") + " }",
        "int main() { double a[9], *b = a, *c = b, *d = c, *e = d, *f = e, *g = f; add(8, a, g); }",
        "int main() { double a[9], *b = static_cast<double *>(a); add(8, a, b); }",
        "int main() { double a[9], *b = __builtin_assume_aligned(a, 64); add(8, a, b); }",
        "typedef double *vec; int main() { vec w = new double[9]; vec v = w; add(8, w, v); }",
        "struct W { double *x; }; int main() { W w, v = w; add(8, w.x, v.x); }",
        "int main() { double a[9]; auto [x, y] = std::pair(a, a); add(8, x, y); }",
        "int main() { std::vector<std::vector<double>> g; for (auto &r : g) add(8, r.data(), g[0].data()); }",
        "void set(double **to, double *from) { *to = from; } int main() { double a[9], *b; set(&b, a); add(8, a, b); }",
        "int main() { double a[9], *rows[2]; rows[0] = a; add(8, rows[0], a); }",
        "struct W { double *x; }; int main() { W w, v; v = w; add(8, w.x, v.x); }",
        "double *g; void keep(double *p) { g = p; } int main() { double a[9]; keep(a); add(8, a, g); }",
        "int main() { double a[9], *b = a + at(2); add(8, a, b); }",
    ],
)
def test_one_array_is_found_behind_pointers_members_and_threads(callers: str) -> None:
    assert offered(f"{ADD}\n{callers}", "parallel", "cpp") == []


@pytest.mark.parametrize(
    "callers",
    [
        "int main() { double *a = malloc(8), *b = malloc(8); " + NEXT.format("a", "b") + " }",
        "void run(int n, double *a, double *b) { " + NEXT.format("a", "b") + " }",
        f"double *g, *h; int main() {{ {ALLOCATED} add(8, g, h); {SWAP} add(8, h, g); }}",
        "static double *alloc(int n) { double *p = malloc(n); return p; } "
        "int main() { int n = 9; double *a = alloc(n), *b = alloc(n); add(8, a, b); }",
        "int main() { double a[9], b[9]; void (*k)(int, double *, double *) = add; k(8, a, b); }",
        "int main() { double *a, *b; int n = 80; make(&a, n); posix_memalign((void **)&b, 64, n); add(8, a, b); }",
        "struct M { std::vector<double> x; }; int main() { M w, v = w; auto u = v; add(8, v.x.data(), u.x.data()); }",
        "int main() { std::vector<double> a(9); auto b = a; add(8, a.data(), b.data()); }",
        "struct M { std::vector<double> x; }; int main() { M w, v; v = w; add(8, v.x.data(), w.x.data()); }",
        "int main() { double **a = rows(9), **b = rows(9); a[0] = malloc(8); b[1] = malloc(8); add(8, a[0], b[1]); }",
        "int main() { std::vector<std::vector<double>> g; for (auto &r : g) add(8, r.data(), other.data()); }",
    ],
)
def test_arrays_that_change_places_are_two(callers: str) -> None:
    assert offered(f"{ADD}\n{callers}", "parallel", "cpp") == ["parallel(i in add)"]


@pytest.mark.parametrize(
    ("main", "is_free"),
    [
        (f"{ALLOCATED} add(8); {SWAP} add(8);", True),
        ("g = malloc(80); h = g; add(8);", False),
        ("double w[99]; g = w; h = w + 1; add(8);", False),
    ],
)
def test_pointers_of_the_whole_program_are_followed(main: str, is_free: bool) -> None:
    assert bool(offered(f"{INSIDE}\nint main() {{ {main} }}", "parallel")) is is_free


def test_many_calls_that_pass_arrays_on_cost_little() -> None:
    text = ADD + "void f0(int n, double *x, double *y) { add(n, x, y); }"
    for at in range(1, 60):
        text += f"\nvoid f{at}(int n, double *x, double *y) {{ f{at - 1}(n, x, y); f{at - 1}(n, y, x); }}"
    start = time.process_time()
    assert len(kernels(Unit("c", text))) == 1
    assert len(kernels(Unit("c", f"{text}\nint main() {{ double a[9]; f59(8, a, a); }}"))) == 0
    assert time.process_time() - start < 10


OWN = [
    "auto A = std::vector<double>(n);",
    "auto A = std::make_unique<double[]>(n);",
    "std::vector<double> B(n); const auto A = B;",
    "double *A = new double[n];",
]


@pytest.mark.parametrize("made", OWN)
def test_an_array_that_auto_makes_is_one_of_its_own(made: str) -> None:
    text = f"void f(int n, double *C) {{ {made} for (int i = 0; i < n; i++) C[i] = A[i + 1]; }}"
    assert offered(text, "parallel", "cpp") == ["parallel(i in f)"]
    assert offered(text.replace(made, "auto A = C;"), "parallel", "cpp") == []
    assert offered(text.replace(made, "double *A = new (C) double[n];"), "parallel", "cpp") == []


@pytest.mark.parametrize(
    ("kept", "is_free"),
    [("", True), ("use(n, q);", True), ("keep(q);", False), ("g = q + 1;", False), ("choose(&q, A);", False)],
)
def test_memory_of_its_own_has_a_second_name_if_a_call_keeps_it(kept: str, is_free: bool) -> None:
    text = f"""#include <stdlib.h>
static double *g;
static void keep(double *p) {{ g = p; }}
void f(int n, double *A) {{
    double *q = malloc(8 * n);
    {kept}
    for (int i = 1; i < n; i++) {{ g[i] = q[i - 1]; A[i] = q[i - 1]; }}
}}
"""
    assert bool(offered(text, "parallel")) is is_free


@pytest.mark.parametrize(
    ("macro", "value", "is_free"),
    [
        ("#define N 9", "B[i - 1]", True),
        ("#define TAIL (A + 1)", "TAIL[i]", False),
        ("#define SAME A", "SAME[i - 1]", False),
        ("#define OTHER B", "OTHER[i - 1]", True),
        ("#ifdef X\n#endif\n#define SAME A", "SAME[i - 1]", False),
        ("#define FIRST (*p)", "FIRST", False),
    ],
)
def test_a_macro_for_an_array_of_the_whole_program_is_that_array(macro: str, value: str, is_free: bool) -> None:
    head = f"static double A[9], B[9], *p = A;\n{macro}\nvoid f(int n) {{"
    assert bool(offered(f"{head} for (int i = 1; i < n; i++) A[i] = {value}; }}", "parallel")) is is_free


def test_text_and_pi_and_other_numbers_are_no_obstacles() -> None:
    text = """#ifndef N
#define N 100
#endif
#define PI acos(-1.0)
void g(double n) { use(n); }
void f(int n, const std::string &s, double *A) { for (int i = 0; i <= END; i++) A[i] = s[i] * PI; }
"""
    for end in ("n", "(int)s.size() - 1", "abs(n)", "(int)sqrt(n)"):
        assert any("(i in f" in label for label in offered(text.replace("END", end), "unroll", "cpp")), end


def test_a_nest_that_a_pragma_binds_holds_no_other_nest() -> None:
    nest = "for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++) A[j] += B[i];\n"
    text = f"void f(int n, double *A, const double *B) {{\n#pragma omp parallel for collapse(2)\n{nest}{nest}}}"
    assert offered(text, "interchange") == ["interchange(i in f, inner=j)"]
