"""Near misses: programs one step away from those a rule is for, which it must leave alone."""

from __future__ import annotations

import pytest

from tests.policy.test_listed_rule import DECLINES as OF_LISTS
from tests.policy.test_python_rules import DECLINES as OF_PYTHON
from tests.support.rewriter_help import labels, names_of_rules

HEAD = "#include <bits/stdc++.h>\nusing namespace std;\n"


def inside(body: str, before: str = "") -> str:
    """A whole program around some statements."""
    return f"{HEAD}{before}\nint main() {{ int n; cin >> n; {body} }}\n"


# rule -> {why not: program}
DECLINES = {
    "fast_in": {
        "another function reads, too": inside("char b[9]; fread(b, 1, 9, stdin);"),
        "the program flushes, so someone may wait": inside("cout << n << flush; cin >> n;"),
        "a macro hides scanf": inside("in(n);", '#define in(x) scanf("%d", &x)'),
        "input is redirected": inside('freopen("in.txt", "r", stdin);'),
        "the stream is passed on": inside(
            "", "struct P { int x; }; istream& operator>>(istream& s, P& p) { return s >> p.x; }"
        ),
        "a format with a width": inside('scanf("%2d", &n);'),
        "a format that skips": inside('scanf("%*d%d", &n);'),
        "a format that is no literal": inside("scanf(format, &n);", 'const char* format = "%d";'),
        "the buffer is taken": inside("stringstream s; s << cin.rdbuf();"),
        "descriptor 0 is read": inside("char b; read(0, &b, 1);", "#include <unistd.h>"),
        "a method the reader lacks": inside("char b[9]; cin.getline(b, 9);"),
        "lines of another file": inside('FILE* f = fopen("x", "r"); char b[9]; fgets(b, 9, f); fgets(b, 9, stdin);'),
    },
    "fast_out": {
        "widths are set": inside("cout << setw(5) << n;"),
        "a manipulator that stays": inside("cout << left << n;"),
        "the result of printf is used": inside('int k = printf("%d", n); n = k;'),
        "output goes through a file, too": inside('fprintf(stdout, "%d", n); printf("x");'),
        "the program leaves without cleaning up": inside("cout << n; _exit(0);"),
        "a width given as an argument": inside('printf("%*d", 5, n);'),
        "the stream is passed on": inside("print(cout);", "void print(ostream& o) { o << 1; }"),
        "flags beyond fixed are set": inside("cout.setf(ios::showpos); cout << n;"),
        "a function pointer to puts": inside('auto say = puts; say("x");'),
    },
    "sync_off": {
        "C stdio is used": inside('printf("%d", n);'),
        "it is off already": inside("ios::sync_with_stdio(false); cin >> n;"),
    },
    "newline": {
        "endl is a macro": inside("cout << n << endl;", "#define endl '\\n'"),
        "the program flushes": inside("cout << n << endl; cout.flush();"),
    },
    "stdio_buffer": {
        "buffers are set already": inside('setvbuf(stdin, 0, _IONBF, 0); scanf("%d", &n);'),
        "no C stdio": inside("cout << n;"),
    },
    "unlocked": {"threads": inside("thread t; int c = getchar();"), "no such call": inside("cout << n;")},
    "hash_table": {
        "the map is walked": inside("map<int, int> m; m[n]++; for (auto& p : m) cout << p.first;"),
        "order is asked for": inside("map<int, int> m; m[n]++; cout << m.begin()->first;"),
        "a bound is asked for": inside("set<int> s; s.insert(n); cout << *s.lower_bound(1);"),
        "an order is given": inside("map<int, int, greater<int>> m; m[n]++;"),
        "it is passed on": inside("map<int, int> m; f(m);", "void f(map<int, int>& m) { m[1]++; }"),
        "an iterator is moved": inside("set<int> s; s.insert(n); auto it = s.find(n); ++it;"),
        "a neighbour is taken": inside("set<int> s; s.insert(n); auto it = s.find(n); cout << *next(it);"),
        "it is copied": inside("map<int, int> m, k; m[n]++; k = m;"),
        "it starts with values": inside("map<int, int> m = {{1, 2}}; m[n]++;"),
        "keys without a hash": inside("map<vector<int>, int> m; m[{n}]++;"),
        "a macro walks it": inside("map<int, int> m; each(m) cout << p.first;", "#define each(c) for (auto& p : c)"),
    },
    "paged_map": {
        "keys are strings": inside('map<string, int> m; m["x"]++;'),
        "values own memory": inside("map<int, string> m; m[n] += 'x';"),
        "an array of maps": inside("map<int, int> m[9]; m[n][n]++;"),
    },
    "flat_set": {
        "an iterator outlives a change": inside("set<int> s; auto it = s.insert(n).first; s.insert(2); cout << *it;"),
        "it changes while it is walked": inside("set<int> s; s.insert(n); for (int x : s) { s.insert(x - 1); }"),
        "a callee may change what an iterator points into": inside(
            "auto it = s.begin(); f(); cout << *it;", "set<int> s; void f() { s.insert(0); }"
        ),
        "a callee may change what is walked": inside(
            "for (int x : s) f(x);", "set<int> s; void f(int x) { s.insert(-x); }"
        ),
        "it changes later in a loop": inside(
            "set<int> s; s.insert(n); auto it = s.begin(); while (n--) { cout << *it; s.insert(n); }"
        ),
    },
    "set_bound": {
        "a vector": inside("vector<int> v(n); cout << *lower_bound(v.begin(), v.end(), 1);"),
        "an order is given": inside(
            "set<int, greater<int>> s; cout << *lower_bound(s.begin(), s.end(), 1, greater<int>());"
        ),
        "only part of the set": inside("set<int> s; cout << *lower_bound(next(s.begin()), s.end(), 1);"),
        "two sets": inside("set<int> s[2]; cout << *lower_bound(s[0].begin(), s[1].end(), 1);"),
    },
    "ring": {
        "a reference to an element is kept": inside("queue<int> q; q.push(n); auto& x = q.front(); q.push(2); x = 3;"),
        "it is walked": inside("deque<int> q; q.push_back(n); for (int x : q) cout << x;"),
        "the middle is erased": inside("deque<int> q; q.erase(q.begin());"),
        "flags": inside("queue<bool> q; q.push(n);"),
    },
    "vector_stack": {
        "a reference to the top is kept": inside("stack<int> s; s.push(n); int& x = s.top(); s.push(2); x = 3;"),
        "it is passed on": inside("stack<int> s; f(s);", "void f(stack<int>& s) { s.push(1); }"),
    },
    "heap": {
        "an order of its own": inside(
            "priority_queue<int, vector<int>, cmp> q;",
            "struct cmp { bool operator()(int a, int b) { return a < b; } };",
        ),
        "it starts with values": inside("vector<int> v; priority_queue<int> q(v.begin(), v.end());"),
    },
    "byte_flags": {
        "auto holds a proxy": inside("vector<bool> v(n); auto x = v[0]; x = true;"),
        "auto walks proxies": inside("vector<bool> v(n); for (auto x : v) x = true;"),
    },
    "flat_2d": {
        "rows are used whole": inside("vector<vector<int>> v(n, vector<int>(n)); sort(v[0].begin(), v[0].end());"),
        "it grows": inside("vector<vector<int>> v(n, vector<int>(n)); v.push_back({});"),
        "flags": inside("vector<vector<bool>> v(n, vector<bool>(n)); v[0][0] = 1;"),
        "it is passed on": inside(
            "vector<vector<int>> v(n, vector<int>(n)); f(v);", "void f(vector<vector<int>>& v) {}"
        ),
    },
    "reserve": {
        "it is filled elsewhere": inside("vector<int> v; v.push_back(1); for (int i = 0; i < n; i++) v.push_back(i);"),
        "it starts with values": inside("vector<int> v(3); for (int i = 0; i < n; i++) v.push_back(i);"),
        "nothing is added": inside("vector<int> v; for (int i = 0; i < n; i++) cout << v.size();"),
    },
    "emplace": {
        "not made in place": inside("auto p = make_pair(1, 2); vector<pair<int, int>> v; v.push_back(p);"),
        "two arguments": inside("vector<pair<int, int>> v; v.insert(v.begin(), make_pair(1, 2));"),
    },
    "radix_sort": {
        "an order of its own": inside(
            "vector<int> v(n); sort(v.begin(), v.end(), [](int a, int b) { return a % 9 < b % 9; });"
        ),
        "an order behind a macro": inside(
            "vector<int> v(n); sort(all(v), less);",
            "#define all(v) v.begin(), v.end()\nbool less(int a, int b) { return a < b; }",
        ),
        "its own sort": inside("sort(1, 2);", "void sort(int a, int b) {}"),
    },
    "inline_compare": {
        "a lambda": inside("vector<int> v(n); sort(v.begin(), v.end(), [](int a, int b) { return a > b; });"),
        "overloaded": inside(
            "vector<int> v(n); sort(v.begin(), v.end(), more);",
            "bool more(int a, int b) { return a > b; } bool more(long a, long b) { return a > b; }",
        ),
    },
    "const_ref": {
        "it is changed": inside("f({1});", "int f(vector<int> v) { v[0] = 1; return v[0]; }"),
        "it is sorted": inside("f({1});", "int f(vector<int> v) { sort(v.begin(), v.end()); return v[0]; }"),
        "a macro changes it": inside(
            "f({1});", "#define drop(x) x.pop_back()\nint f(vector<int> v) { drop(v); return v[0]; }"
        ),
        "a loop changes its elements": inside(
            "f({1});", "int f(vector<int> v) { for (auto& x : v) x++; return v[0]; }"
        ),
        "it is passed to one who changes it": inside(
            "f({1});", "void g(vector<int>& v) { v.clear(); } int f(vector<int> v) { g(v); return v.size(); }"
        ),
        "the global given is changed": inside(
            "f(a);", "vector<int> a; int f(vector<int> v) { a.clear(); return v.size(); }"
        ),
        "a callee changes the global given": inside(
            "f(a);", "vector<int> a; void g() { a.clear(); } int f(vector<int> v) { g(); return v.size(); }"
        ),
        "the same vector is given for change": inside(
            "vector<int> a(n); f(a, a);", "int f(vector<int> v, vector<int>& w) { w.clear(); return v.size(); }"
        ),
        "it is moved from": inside("f({1});", "vector<int> k; int f(vector<int> v) { k = move(v); return 1; }"),
        "cheap": inside("f(n);", "int f(int v) { return v; }"),
    },
    "range_ref": {
        "the element is changed": inside("vector<string> v(n); for (auto x : v) { x += 'a'; cout << x; }"),
        "the container is changed": inside("vector<string> v(n); for (auto x : v) { v[0] = x + 'a'; }"),
        "a callee changes the container": inside(
            "for (auto x : v) { g(); cout << x; }", "vector<string> v(3); void g() { v[0] = 'a'; }"
        ),
        "a reference already": inside("vector<string> v(n); for (auto& x : v) cout << x;"),
    },
    "restrict": {
        "a call passes the same array twice": inside(
            "f(a, a, n);",
            "double a[9]; void f(double* x, double* y, int n) { for (int i = 0; i < n; i++) x[i] += y[i]; }",
        ),
        "called through a pointer": inside(
            "auto g = f; g(a, b, n);",
            "double a[9], b[9]; void f(double* x, double* y, int n) { for (int i = 0; i < n; i++) x[i] += y[i]; }",
        ),
        "a pointer moves": inside(
            "f(a, b, n);", "double a[9], b[9]; void f(double* x, double* y, int n) { x = y; *x = n; }"
        ),
    },
    "direct_lambda": {
        "captures a copy": inside("function<int(int)> f = [=](int k) { return k + n; }; f(1);"),
        "no lambda": inside("function<int(int)> f = g; f(1);", "int g(int k) { return k; }"),
        "another result": inside("function<long(int)> f = [&](int k) -> int { return k; }; f(1);"),
    },
    "self_append": {
        "what is added uses the string": inside("string s; s = s + s.substr(0, 1);"),
        "numbers": inside("int s = 1; s = s + n;"),
        "put in front": inside("string s; s = 'x' + s;"),
        "what is added has effects": inside("string s; s = s + f();", "string g; string f() { g = 'x'; return g; }"),
    },
    "substr_compare": {
        "both are cut": inside("string s; cout << (s.substr(0, 1) == s.substr(1, 1));"),
        "less than": inside('string s; cout << (s.substr(0, 1) < "x");'),
    },
    "memoise": {
        "it changes a global": inside(
            "f(n);", "int calls; int f(int k) { calls++; return k < 2 ? k : f(k - 1) + f(k - 2); }"
        ),
        "it prints": inside("f(n);", "int f(int k) { cout << k; return k < 2 ? k : f(k - 1) + f(k - 2); }"),
        "it reads": inside("f(n);", "int f(int k) { int x; cin >> x; return k < 2 ? x : f(k - 1) + f(k - 2); }"),
        "it calls itself once": inside("f(n);", "int f(int k) { return k < 2 ? k : f(k - 1) + k; }"),
        "a reference": inside("f(n);", "int f(int& k) { return k < 2 ? k : f(k) + f(k); }"),
        "a static variable": inside(
            "f(n);", "int f(int k) { static int c = 0; return k < 2 ? c : f(k - 1) + f(k - 2); }"
        ),
        "it calls another function": inside(
            "f(n);", "int g(int k) { return rand(); } int f(int k) { return k < 2 ? g(k) : f(k - 1) + f(k - 2); }"
        ),
    },
    "binary_gcd": {
        "something else": inside("f(n, 2);", "int f(int a, int b) { return b == 0 ? a : f(b, a - b); }"),
        "real numbers": inside("f(n, 2);", "double f(double a, double b) { return b == 0 ? a : f(b, fmod(a, b)); }"),
    },
    "int_pow": {"its own pow": inside("pow(2, n);", "int pow(int a, int b) { return a; }")},
    "short_mod": {
        "a constant": inside("cout << n % 7;"),
        "a named constant": inside("cout << n % M;", "const int M = 7;"),
    },
    "const_global": {
        "it is read": inside("cin >> m;", "int m = 3;"),
        "a callee changes it": inside("f(); cout << m;", "int m = 3; void f() { m++; }"),
        "a macro changes it": inside("bump(m);", "#define bump(x) ++x\nint m = 3;"),
        "its address is taken": inside("int* p = &m; *p = 4;", "int m = 3;"),
        "no value": inside("cout << m;", "int m;"),
        "a constant already": inside("cout << m;", "const int m = 3;"),
    },
    "product_pow": {"a square, which the compiler does": inside("cout << pow(n, 2);")},
    "split_sum": {
        "integers": inside("int s = 0; for (int i = 0; i < n; i++) s += i * i; cout << s;"),
        "the sum is read": inside("double s = 0; for (int i = 0; i < n; i++) s += s * 0.5; cout << s;"),
        "it prints": inside("double s = 0; for (int i = 0; i < n; i++) { s += i; cout << s; }"),
        "its end is called": inside(
            "double s = 0; for (int i = 0; i < f(); i++) s += i; cout << s;", "int k = 9; int f() { return k--; }"
        ),
    },
    "interchange": {
        "an inner bound depends on the outer loop": inside(
            "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i][j] = i;", "int a[9][9];"
        ),
        "elements depend on each other": inside(
            "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i - 1][j] + 1;", "int a[9][9];"
        ),
        "all pairs of paths": inside(
            "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
            "a[i][j] = min(a[i][j], a[i][k] + a[k][j]);",
            "int a[9][9];",
        ),
        "several iterations meet in one element": inside(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i + j] += 0.1 * i;", "double a[99];"
        ),
        "one sum": inside(
            "double s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += a[i][j]; cout << s;",
            "double a[9][9];",
        ),
        "a call with effects": inside(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = rand();", "int a[9][9];"
        ),
        "pointers that may overlap": inside(
            "f(a, a + 1, n);",
            "double a[99]; void f(double* x, double* y, int n) "
            "{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i * n + j] = y[i * n + j]; }",
        ),
        "an inner bound that may not be there": inside(
            "for (int i = 0; i < a.size(); i++) for (int j = 0; j < a[0].size(); j++) a[i][j] = i;",
            "vector<vector<int>> a;",
        ),
        "an inner bound that divides": inside(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 9 / n; j++) a[i][j] = i;", "int a[9][9];"
        ),
        "the outer loop does more": inside(
            "for (int i = 0; i < n; i++) { cout << i; for (int j = 0; j < n; j++) a[i][j] = i; }", "int a[9][9];"
        ),
    },
    "tile": {
        "two loops add to one element": inside(
            "for (int p = 0; p < n; p++) for (int q = 0; q < n; q++) a[0] += p * 0.1 + q;", "double a[9];"
        ),
        "downwards": inside("for (int i = 0; i < n; i++) for (int j = n; j > 0; j--) a[i][j] = i;", "int a[9][9];"),
        "a bound that may not be there": inside(
            "for (int i = 0; i < n; i++) for (int j = 0; j < a.front().size(); j++) a[i][j] = i;",
            "vector<vector<int>> a;",
        ),
    },
    "expand": {
        "the sum reads what is stored": inside(
            "for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[k]; a[j] = s; }",
            "double a[9];",
        ),
        "the sum depends on itself": inside(
            "for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += s * b[k]; a[j] = s; }",
            "double a[9], b[9];",
        ),
        "the end of the inner loop is called": inside(
            "for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < f(); k++) s += b[k]; a[j] = s; }",
            "double a[9], b[9]; int k = 9; int f() { return k--; }",
        ),
        "the inner loop depends on the outer": inside(
            "for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < j; k++) s += b[k]; a[j] = s; }",
            "double a[9], b[9];",
        ),
    },
    "unroll": {"not innermost": inside("while (n--) { for (int x : v) cout << x; }", "vector<int> v;")},
    "ivdep": {
        "a neighbour is read": inside("for (int i = 1; i < n; i++) a[i] = a[i - 1];", "int a[9];"),
        "pointers that may overlap": inside(
            "f(a, a);", "int a[9]; void f(int* x, int* y) { for (int i = 0; i < 9; i++) x[i] = y[i]; }"
        ),
    },
    "hoist": {
        "the text is changed": inside("for (int i = 0; i < strlen(s); i++) s[i] = 0;", "char s[9];"),
        "a callee changes it": inside("for (int i = 0; i < strlen(s); i++) f();", "char s[9]; void f() { s[0] = 0; }"),
        "a macro changes it": inside(
            "for (int i = 0; i < strlen(s); i++) cut(s);", "#define cut(x) x[0] = 0\nchar s[9];"
        ),
        "it may be changed through another name": inside(
            "f(s, s);", "char s[9]; void f(char* a, char* b) { for (int i = 0; i < strlen(a); i++) b[i] = 0; }"
        ),
        "it depends on the loop": inside("for (int i = 0; i < sqrt(i + n); i++) cout << i;"),
        "it divides by what may be 0": inside("for (int i = 0; i < 9; i++) if (n) cout << sqrt(9 / n);"),
        "the vector grows": inside("vector<int> v(1); for (int i = 0; i < v.size(); i++) if (i < n) v.push_back(i);"),
        "a lambda changes it": inside(
            "vector<int> v(1); auto f = [&]() { v.push_back(1); }; for (int i = 0; i < v.size(); i++) f();"
        ),
    },
    "local_sum": {
        "it moves": inside("for (int i = 0; i < n; i++) a[i] += i;", "double a[9];"),
        "it is read": inside("for (int i = 0; i < n; i++) a[0] += a[i];", "double a[9];"),
        "a map": inside("map<int, double> a; for (int i = 0; i < n; i++) a[0] += i;"),
        "its end is called": inside(
            "for (int i = 0; i < f(); i++) a[0] += i;", "double a[9]; int k = 9; int f() { return k--; }"
        ),
    },
    "swap_dimensions": {
        "it is passed on": inside("f(a);", "int a[9][8]; void f(int (*x)[8]) { a[0][0] = 1; }"),
        "rows are used": inside("int* r = a[1]; a[0][0] = *r;", "int a[9][8];"),
        "it starts with values": inside("cout << a[n][n];", "int a[2][2] = {{1, 2}, {3, 4}};"),
        "a macro uses it": inside("cout << at(1);", "#define at(i) a[i][0]\nint a[9][8];"),
    },
    "pad_rows": {
        "it is taken as one block": inside("fill(&a[0][0], &a[0][0] + 72, 1);", "int a[9][8];"),
        "part of it is cleared": inside("memset(a, 0, n * sizeof(a[0])); a[0][0] = 1;", "int a[9][8];"),
        "one dimension": inside("a[0] = n;", "int a[9];"),
    },
    "pool_alloc": {
        "threads": inside("thread t; vector<int> v(n);"),
        "its own operator new": inside("vector<int> v(n);", "void* operator new(size_t n) { return malloc(n); }"),
    },
    "malloc_tuning": {"nothing is allocated": "int main() { return 0; }"},
    "skip_teardown": {
        "a destructor that may speak": inside("vector<int> v(n); return 0;", "struct S { ~S() { cout << 1; } };"),
        "another result": inside("vector<int> v(n); return 1;"),
        "something runs at exit": inside("vector<int> v(n); atexit(f); return 0;", "void f() {}"),
    },
    "retune": {"nothing to tune": inside("cout << n;")},
    "attribute": {"only main": inside("cout << n;"), "a method": inside("S().f();", "struct S { void f() {} };")},
    "pragma_target": {"there is one": '#pragma GCC target("avx2")\n' + inside("")},
    "pragma_optimize": {"there is one": '#pragma GCC optimize("O3")\n' + inside("")},
    "fast_math": {"no real numbers": inside("cout << n;")},
    "anonymous_namespace": {
        "C linkage": inside("f();", 'extern "C" void f() {}'),
        "a header in between": inside("f();", "void f() {}\n#include <cmath>\n"),
        "its own operator new": inside("", "void* operator new(size_t n) { return malloc(n); }"),
        "a specialisation in std": inside("", "struct S {}; namespace std { template <> struct hash<S> {}; }"),
    },
}


def test_every_rule_has_a_near_miss() -> None:
    missed = {**DECLINES, **OF_PYTHON, "nest_on_lists": OF_LISTS}
    assert missed.keys() == names_of_rules() and all(missed.values())


@pytest.mark.parametrize(("rule", "why"), [(rule, why) for rule, misses in DECLINES.items() for why in misses])
def test_a_rule_declines(rule: str, why: str) -> None:
    assert labels(rule, DECLINES[rule][why]) == []


@pytest.mark.parametrize("rule", ["fast_in", "hash_table", "unroll", "attribute"])
def test_nothing_is_offered_for_python(rule: str) -> None:
    assert labels(rule, "n = int(input())\nfor i in range(n):\n    print(i)\n", "python") == []
