"""Programs that a rule would break: it offers nothing on them.  benchmarks/rules_hold.py tries many more."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.errors import InputError
from maxcode.policy.rules.rewriter import RULES, USUAL_RULES, chosen_rules, edits
from maxcode.policy.rules.rewriter.runtime import applied

EVERY = [rule.name for rule in RULES]
LOOP = "for (int i = 0; i < n; i++) x[i] = x[i] + i;"
SIZES = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[j][i];"


def offered(text: str, language: str = "cpp", others: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> set[str]:
    """The rules with edits on a program, and those with a variant (``attribute always_inline``)."""
    found = {rule.name: made for rule, made in edits(Unit(language, text, others, flags), True, EVERY)}
    return set(found) | {f"{name} {value}" for name, made in found.items() for e in made for _, value in e.params}


@pytest.mark.parametrize(
    "before",
    [
        "#pragma omp for\n",
        "#pragma omp simd\n// a comment\n",
        "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n",
        '_Pragma("omp parallel for") ',
        "PARALLEL ",
        "again: for (int r = 0; r < 2; r++) if (n < 0) goto again; else\n#pragma omp for\n",
    ],
)
def test_no_rule_comes_between_a_pragma_and_its_loop(before: str) -> None:
    head = '#define PARALLEL _Pragma("omp parallel for")\nint x[9];\n'
    text = f"{head}int main() {{ int n = 9;\n{before}{LOOP}\nreturn x[2]; }}\n"
    assert not offered(text) & {"unroll", "ivdep", "hoist", "local_sum", "tile"}
    assert "unroll" in offered(text.replace(before, ""))


def test_loops_that_a_pragma_collapses_stay_together() -> None:
    text = f"double a[9][9], b[9][9];\nint main() {{ int n = 9;\n#pragma omp parallel for collapse(2)\n{SIZES}\n}}\n"
    assert not offered(text) & {"unroll", "interchange", "tile", "ivdep"}
    assert {"unroll", "interchange", "tile"} <= offered(text.replace("#pragma omp parallel for collapse(2)\n", ""))


def test_a_loop_into_which_a_jump_leads_stays_as_it_is() -> None:
    text = (
        f"int x[9];\nint main(int n, char **v) {{ if (n > 1) goto in; for (int k = 0; k < n; k++) {{ in: {LOOP} }} }}\n"
    )
    assert "unroll 4" in offered(text), "the inner loop holds no label"
    assert not offered(text.replace(f"in: {LOOP}", "in: x[0] += k;")) & {"unroll", "hoist"}


SHARED = """#include <cstdio>
#include <map>
#include <vector>
int width = 4;
int board[8][9];
std::map<int, int> counts;
int total(std::vector<int> v) { int s = 0; for (auto x : v) s += x; return s + width; }
void add(int *to, int *from) { to[0] += from[0]; }
int main() {
    int a[1] = {1}, b[1] = {2};
    counts[3]++; board[1][2] = 3; add(a, b);
    printf("%d\\n", total({1, 2}) + board[1][2] % width + a[0]);
}
"""
CHANGED = {"const_global", "const_ref", "hash_table", "paged_map", "pad_rows", "swap_dimensions", "restrict",
           "attribute always_inline", "anonymous_namespace"}  # fmt: skip


def test_what_another_file_uses_keeps_its_type_and_its_linkage() -> None:
    header = "extern int width, board[8][9]; extern std::map<int, int> counts; int total(std::vector<int> v);"
    assert offered(SHARED) >= CHANGED - {"hash_table"}
    assert not offered(SHARED, others=(header, "void f(int *p) { add(p, p); }")) & CHANGED


def test_output_of_two_files_is_not_collected_in_one_of_them() -> None:
    text = "#include <iostream>\nint main() { std::cout << 1 << std::endl; say(); }\n"
    assert "fast_out" in offered(text)
    assert not offered(text, others=('#include <cstdio>\nvoid say() { printf("2"); }',)) & {"fast_out", "sync_off"}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("const_ref", "int f(std::vector<int> v) { return v[0]; }\nint (*p)(std::vector<int>) = f;"),
        ("const_ref", "int f(std::map<int, int> m) { return m[3]; }\nint g() { return f({}); }"),
        ("const_ref", "struct P { int x; int get() { return x; } };\nint f(P p) { return p.get(); }"),
        ("const_ref", "std::vector<int> a;\nint f(std::vector<int> v) { a.clear(); return v.size(); }\n"
                      "int h(const std::vector<int> &w) { return f(w); }\nint g = h(a);"),
        ("const_global", "int t[3] = {1, 2, 3};\nint *f() { return t; }"),
        ("const_global", "int w = 3;\nint f() {\n#pragma omp parallel private(w)\n{ }\nreturn 1 % w; }"),
        ("hash_table", "std::map<int, int> m;\nint f() { std::map<int, int>::iterator i = m.find(1); }"),
        ("ring", "struct J { int i; J(int k) : i(k) {} };\nvoid f() { std::queue<J> q; q.push(J(1)); }"),
        ("heap", "struct C { int v; bool operator<(C o) const; };\nstd::priority_queue<C> q;\nvoid f() { q.pop(); }"),
        ("emplace", "struct B { void push(std::pair<int, int>); };\nvoid f() { B b; b.push(std::make_pair(1, 2)); }"),
        ("direct_lambda", "void f() { std::function<int(int)> g = [&](int x) { return x; }; g = nullptr; }"),
        ("memoise", "int f(int n, int k = 1) { return n < 2 ? k : f(n - 1) + f(n - 2); }"),
        ("memoise", "constexpr int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }"),
        ("hoist", "int f(int n) { int t = 0; for (int i = 0; i < n; i++) { std::string s; t += s.size(); } }"),
        ("hoist", "int f(const char *p) { int t = 0; for (int i = 0; p && i < strlen(p); i++) t++; return t; }"),
        ("substr_compare", 'struct T { T substr(int, int); };\nbool f(T t) { return t.substr(0, 1) == "a"; }'),
        ("newline", "#include <unistd.h>\nvoid f() { std::cout << 1 << std::endl; _exit(1); }"),
        ("fast_in", "#define getchar getchar_unlocked\nint f() { return getchar(); }"),
        ("short_mod", "#if 7 % WIDTH\nint f() { return 1; }\n#endif"),
        ("newline", 'void f() { std::ofstream o("x"); o << 1 << std::endl; std::ifstream i("x"); }'),
        ("fast_out", 'void f() { std::cout << 1; std::println("2"); }'),
        ("fast_out", "void f() { std::thread t([] { std::cout << 1; }); t.join(); }"),
        ("fast_out", "__attribute__((constructor)) void f() { std::cout << 1; }"),
        ("fast_out", 'void f() { setlocale(LC_ALL, "de_DE"); double x = 1.5; std::cout << x; }'),
        ("fast_in", 'void f() { int n; std::cin >> n; system("cat"); }'),
        ("pool_alloc", "void f() { std::set_new_handler(0); new int; }"),
        ("pragma_optimize no-math-errno+no-trapping-math", "bool f(double x) { return sqrt(x) < 1 && errno == 0; }"),
        ("const_ref", "struct P { virtual int g() const; int x; };\nint f(P p) { return p.x; }\nint h = f(P());"),
        ("flat_set", "void f() { std::set<int> s; for (auto i = s.begin(); i != s.end(); ++i) s.insert(*i); }"),
        ("ring", "void f() { std::queue<std::string> q; for (char c : q.front()) q.push(q.front() + c); }"),
        ("anonymous_namespace", "int g();\nint main() { return g(); }\nint g() { return 0; }"),
    ],
)  # fmt: skip
def test_a_rule_declines_what_it_would_break(rule: str, text: str) -> None:
    assert rule not in offered(text if "main" in text else f"{text}\nint main() {{ return 0; }}\n")


def test_a_class_that_is_only_compared_shows_nothing_else() -> None:
    edge = "struct Edge { int to, w; bool operator<(const Edge &o) const { return w > o.w; } };\n"
    walk = "for (auto x : g[e.to]) if (d[x.to] > x.w) { d[x.to] = x.w; q.push(x); n++; }"
    text = f"""#include <bits/stdc++.h>\nusing namespace std;\n{edge}vector<vector<Edge>> g;
    int main() {{ vector<int> d(9); priority_queue<Edge> q; int n = 0; Edge e = q.top(); {walk} return n; }}\n"""
    assert "range_ref" in offered(text)
    assert "range_ref" not in offered(text.replace("int to,", "vector<Edge> &all; int to,"))


@pytest.mark.parametrize("flags", [("-std=c++98",), ("-std=c++11",), ("-DT=4", "-fno-exceptions")])
def test_the_flags_decide_which_runtime_builds(flags: tuple[str, ...]) -> None:
    text = "#include <queue>\nint main() { std::queue<int> q; q.push(1); return q.front(); }\n"
    assert "ring" in offered(text)
    assert "ring" not in offered(text, flags=flags)


def test_inserted_lines_are_indented_as_the_program_is() -> None:
    text = "#include <iostream>\nint main() {\n\tint n;\n\tstd::cin >> n;\n\treturn 0;\n}\n"
    unit = Unit("cpp", text)
    made = {rule.name: applied(unit, found[0]) for rule, found in edits(unit, names=EVERY)}
    assert "\n\tstd::ios::sync_with_stdio(false);\n\tstd::cin.tie(nullptr);\n" in made["sync_off"]
    windows = Unit("cpp", text.replace("\n", "\r\n"))
    for rule, found in edits(windows, names=EVERY):
        changed = applied(windows, found[0])
        assert changed.count("\n") == changed.count("\r\n"), rule.name


def test_rules_can_be_chosen_and_the_one_that_changes_the_end_is_only_on_request() -> None:
    assert "skip_teardown" not in USUAL_RULES
    assert chosen_rules(["skip_teardown"], ["unroll"]) == (USUAL_RULES | {"skip_teardown"}) - {"unroll"}
    with pytest.raises(InputError, match="unknown rule 'unrol'; did you mean unroll"):
        chosen_rules([], ["unrol"])
    with pytest.raises(InputError, match="both name unroll"):
        chosen_rules(["unroll"], ["unroll"])
