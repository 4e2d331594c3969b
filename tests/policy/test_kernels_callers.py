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
