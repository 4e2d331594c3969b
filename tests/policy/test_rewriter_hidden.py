"""Loops whose order or places C keeps in ways that their text does not show: the rules for loops leave them alone."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.rewriter.rules import edits

LOOPS = frozenset({"interchange", "tile", "expand", "hoist", "local_sum", "split_sum", "ivdep"})
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "


def rules(text: str, language: str = "cpp") -> set[str]:
    """The rules for loops that have an edit on a program."""
    return {rule.name for rule, _ in edits(Unit(language, text), True, LOOPS)}


@pytest.mark.parametrize(
    ("before", "given"),
    [
        ("auto p = A + 1;", "double *A"),
        ("vec p = A + 1;", "double *A"),
        ("std::span<double> p(A, n);", "double *A"),
        ("std::vector<double>::iterator p = A.begin();", "std::vector<double> &A"),
        ("", "It p, It A"),
        ("", "std::span<double> p, std::span<double> A"),
    ],
)
def test_a_name_that_shows_elements_of_another_object_is_not_apart_from_it(before: str, given: str) -> None:
    text = f"""typedef double *vec;
template <class It> void f(int n, {given}) {{ {before} {NEST} p[j] += A[i]; }}
"""
    assert rules(text) == set()
    own = text.replace(given, "double *A").replace(f"{{ {before}", "{ double p[9];")
    assert rules(own) == {"interchange", "tile", "ivdep"}


@pytest.mark.parametrize(
    ("declared", "is_free"),
    [
        ("volatile double A[9][9];", False),
        ("typedef volatile double port; port A[9][9];", False),
        ("std::atomic<int> A[9][9];", False),
        ("std::unordered_map<int, std::unordered_map<int, int>> A;", False),  # it keeps the order of insertions
        ("struct Grid { double *operator[](int i); }; Grid A;", False),
        ("std::vector<std::vector<double>> A;", True),
        ("double A[9][9];", True),
    ],
)
def test_stores_that_are_more_than_stores_keep_their_order(declared: str, is_free: bool) -> None:
    assert bool(rules(f"{declared} void f(int n) {{ {NEST} A[i][j] = 1; }}")) is is_free


def test_an_element_in_a_macro_is_seen() -> None:
    text = f"double A[9][9];\n#define NEAR {{}}\nvoid f(int n, double x) {{{{ {NEST} {{{{ A[i][j] = NEAR; }}}} }}}}"
    assert rules(text.format("A[i - 1][j + 1]")) == set()
    assert rules(text.format("(x + 1)")) == {"interchange", "tile", "ivdep"}


@pytest.mark.parametrize(
    ("bound", "is_free"),
    [("x", False), ("x / 2", False), ("0.5 * n", False), ("s.x", False), ("s.m", True), ("n", True), ("n / 2", True)],
)
def test_a_loop_up_to_a_fraction_is_not_cut(bound: str, is_free: bool) -> None:
    nest = NEST.replace("j < n", f"j < {bound}")
    text = f"double A[9][9]; struct s {{ double x; int m; }} s; void f(int n, double x) {{ {nest} A[i][j] += i; }}"
    assert rules(text, "c") == {"interchange", "ivdep"} | ({"tile"} if is_free else set())


def test_a_volatile_number_is_read_every_time() -> None:
    text = "{} double v; double f(int n) {{ double s = 0; for (int i = 0; i < n; i++) s += sqrt(v); return s; }}"
    assert [rules(text.format(word), "c") for word in ("volatile", "static")] == [set(), {"hoist", "split_sum"}]


def test_a_sum_with_a_second_name_is_not_split() -> None:
    text = "double f(int n, double *a) {{ double s = 0; {} for (int i = 0; i < n; i++) s += a[i]{}; return s; }}"
    for second, use in (("double *p = &s;", " * p[0]"), ("double &p = s;", " * p"), ("double &p{s};", " * p")):
        assert rules(text.format(second, use)) == set()
    assert rules(text.format("", "")) == {"split_sum"}


def test_an_auto_that_copies_is_apart_and_one_that_shows_is_not() -> None:
    text = f"void f(int n) {{{{ std::vector<double> A(9); auto p = {{}}; {NEST} p[j] += A[i]; }}}}"
    for value, is_free in (("A", True), ("std::vector<double>(9)", True), ("A.begin()", False), ("A.data()", False)):
        assert bool(rules(text.format(value))) is is_free, value


TEXT = """char s[9], t[9], w[2][9], v[2][9]; struct Named { char *name; };
struct Keeps { char *p; Keeps(char *q, int) : p(q) {} };
"""
WALK = "for (int i = 0; i < (int)strlen({}); i++) "


@pytest.mark.parametrize(
    ("before", "read", "body", "apart"),
    [
        ("char *g; void keep(char *p) { g = p; } void f() { keep(s);", "s", "g[i] = 0;", ("keep(s)", "keep(t)")),
        ("char *g = s; void cut() { g[0] = 0; } void f() {", "s", "cut();", ("g = s", "g = t")),
        ("void cut() { s[0] = 0; } void f() { char *p = s;", "p", "cut();", ("p = s", "p = t")),
        ("void f() { auto p = w[0];", "w[0]", "p[i] = 0;", ("p = w[0]", "p = &t[0]")),
        ("void f(Named *p) { char x[9]; p->name = x;", "x", "p->name[i] = 0;", ("p->name = x", "p->name = t")),
        ("void f() { Keeps k(s, 1);", "s", "k.p[i] = 0;", ("k(s", "k(t")),
        ("void f() { for (auto &p : w) {", "w[0]", "p[i] = 0; }", ("p : w", "p : v")),
    ],
)
def test_an_object_is_found_behind_calls_members_and_bindings(
    before: str, read: str, body: str, apart: tuple[str, str]
) -> None:
    text = f"{TEXT} {before} {WALK.format(read)} {body} }}"
    assert [rules(one) & {"hoist"} for one in (text, text.replace(*apart))] == [set(), {"hoist"}]


@pytest.mark.parametrize(
    ("before", "apart"),
    [
        ("double **p = (double **)malloc(16); double A[9]; p[0] = A; #[0][j]", ("p[0] = A", "p[0] = new double[9]")),
        ("double A[9]; double *p = new (A) double[9]; #[j]", ("new (A)", "new")),
        ("double A[9]; double *p = A; #[j]", ("*p = A", "p[9]")),
        ("double A[9], B[9], *p; p = B; p = A; #[j]", ("p = A;", "")),
        ("double A[9], *p = new double[9], **q = &p; *q = A; #[j]", (", **q = &p; *q = A", "")),
    ],
)
def test_a_pointer_is_apart_from_what_no_store_gives_it(before: str, apart: tuple[str, str]) -> None:
    before, _, after = before.partition("#")
    text = f"void f(int n) {{ {before} {NEST} p{after} += A[i]; }}"
    assert [bool(rules(one)) for one in (text, text.replace(*apart))] == [False, True]


@pytest.mark.parametrize(
    ("calls", "is_free"),
    [("", False), ("f(b);", True), ("f(f(b));", False), ("g(b);", True), ("g(b); g(A);", False), ("f(q);", False)],
)
def test_an_array_that_lasts_may_come_back_as_an_argument(calls: str, is_free: bool) -> None:
    text = f"""double A[9], *q = A;
static double *f(double *p) {{ static double own[9]; {NEST.replace("< n", "< 9")} {{ A[j] += p[i]; }} return own; }}
{"static void g(double *p) { f(p); }" if "g(" in calls else ""}
int main() {{ double b[9]; {calls} }}
"""
    if "f(f" in calls:
        text = text.replace("A[j]", "own[j]")
    assert bool(rules(text)) is is_free
