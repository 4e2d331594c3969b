"""Programs to which a rule would give another meaning, because what they write stands for something else.

It has a type, an operator or a name of its own, or somebody else sees it: another program, a stream, an object.  A rule
offers nothing on them, and an edit on those that differ in just that.
"""

from __future__ import annotations

import pytest

from tests.policy.test_rewriter_unseen import HEAD
from tests.support.rewriter_help import labels

SUM = "void f(int n, double *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; }\nint main() {}"

# why not: (rule, program, the same without what keeps the rule from it)
CASES = {
    "a whole number in a set of short ones": (
        "set_bound", "int main() { set<char> s{1}; int x = 300; "
        "cout << (lower_bound(s.begin(), s.end(), x) == s.end()); }",
        "int main() { set<char> s{1}; char x = 30; cout << (lower_bound(s.begin(), s.end(), x) == s.end()); }",
    ),
    "the words of an error of a map are printed": (
        "hash_table", "int main() { map<int, int> m; m[3] = 4; try { m.at(5); } catch (exception &e) { "
        "cout << e.what(); } }",
        "int main() { map<int, int> m; m[3] = 4; try { m.at(5); } catch (exception &e) { cout << 1; } }",
    ),
    "the name of a type is printed": (
        "anonymous_namespace", "struct A {};\nint main() { cout << typeid(A).name(); }",
        "struct A {};\nint main() { cout << sizeof(A); }",
    ),
    "the end of a loop has the name that a block would get": (
        "tile", "int a[9][9], b[9][9];\nvoid f(int n, int j_end) { for (int i = 0; i < n; i++) "
        "for (int j = 0; j < j_end; j++) a[i][j] = b[j][i]; }\nint main() { f(9, 9); }",
        "int a[9][9], b[9][9];\nvoid f(int n, int j_last) { for (int i = 0; i < n; i++) "
        "for (int j = 0; j < j_last; j++) a[i][j] = b[j][i]; }\nint main() { f(9, 9); }",
    ),
    "the end of a loop has the name of the blocks": (
        "tile", "int a[9][9], b[9][9];\nvoid f(int n, int tile_j) { for (int i = 0; i < n; i++) "
        "for (int j = 0; j < tile_j; j++) a[i][j] = b[j][i]; }\nint main() { f(9, 9); }",
        "int a[9][9], b[9][9];\nvoid f(int n, int m) { for (int i = 0; i < n; i++) "
        "for (int j = 0; j < m; j++) a[i][j] = b[j][i]; }\nint main() { f(9, 9); }",
    ),
    "an array has the name that the row of sums would get": (
        "expand", "double A[9], s_row[9];\nvoid f(int n) { for (int j = 0; j < n; j++) { double s = 0; "
        "for (int k = 0; k < n; k++) s += s_row[k]; A[j] = s; } }\nint main() { f(9); }",
        "double A[9], row[9];\nvoid f(int n) { for (int j = 0; j < n; j++) { double s = 0; "
        "for (int k = 0; k < n; k++) s += row[k]; A[j] = s; } }\nint main() { f(9); }",
    ),
    "a row of sums up to a fraction": (
        "expand", "double A[9], B[9];\nvoid f(double n) { for (int j = 0; j < n; j++) { double s = 0; "
        "for (int k = 0; k < 9; k++) s += B[k]; A[j] = s; } }\nint main() { f(8.5); }",
        "double A[9], B[9];\nvoid f(int n) { for (int j = 0; j < n; j++) { double s = 0; "
        "for (int k = 0; k < 9; k++) s += B[k]; A[j] = s; } }\nint main() { f(8); }",
    ),
    "an end has the name that the sum in lanes would get": (
        "split_sum", SUM.replace("i < n", "i < i_done").replace("f(int n", "f(int n, int i_done"), SUM,
    ),
    "an addition of its own": (
        "self_append", "string operator+(const string &a, int k) { return a + to_string(k); }\n"
        "int main() { string s; int k = 65; s = s + k; cout << s; }",
        "string operator-(const string &a, int k) { return a + to_string(k); }\n"
        "int main() { string s; char k = 65; s = s + k; cout << s; }",
    ),
    "a pair of its own": (
        "emplace", "pair<int, int> make_pair(int a, int b) { return {min(a, b), max(a, b)}; }\n"
        "int main() { vector<pair<int, int>> v; v.push_back(make_pair(2, 1)); }",
        "int main() { vector<pair<int, int>> v; v.push_back(make_pair(2, 1)); }",
    ),
    "a remainder of its own": (
        "short_mod", "struct A { int n; A &operator%(int k) { n += k; return *this; } };\n"
        "int main() { A a{1}; int k = 2; a % k % k; return a.n; }",
        "struct A { int n; A &operator/(int k) { n += k; return *this; } };\n"
        "int main() { long a = 9; int k = 2; return a % k % k; }",
    ),
    "a stored function copies what the lambda only refers to": (
        "direct_lambda", 'int main() { string s = "a"; function<void(string)> f = [&](const string &x) '
        '{ s = "b"; cout << x; }; f(s); }',
        'int main() { string s = "a"; function<void(const string &)> f = [&](const string &x) '
        '{ s = "b"; cout << x; }; f(s); }',
    ),
    "the size of an array is printed": (
        "pad_rows", "int a[9][8];\nint main() { a[1][2] = 3; cout << sizeof(a); }",
        "int a[9][8];\nint main() { a[1][2] = 3; memset(a, 0, sizeof(a)); }",
    ),
    "the first row stands for the whole array": (
        "pad_rows", "int a[9][8];\nint main() { fill(a[0], a[0] + 72, 1); return a[1][2]; }",
        "int a[9][8];\nint main(int n, char **) { fill(a[n], a[n] + 8, 1); return a[1][2]; }",
    ),
    "something is printed before main": (
        "sync_off", 'struct A { A() { cout << "a"; } } a;\nint main() { cout << "b"; }',
        'struct A { int n = 0; } a;\nint main() { cout << "b"; }',
    ),
    "something is read before main": (
        "stdio_buffer", 'int read_it() { int k; scanf("%d", &k); return k; }\nint n = read_it();\n'
        'int main() { scanf("%d", &n); }',
        'int read_it() { int k; scanf("%d", &k); return k; }\nint n;\nint main() { n = read_it(); scanf("%d", &n); }',
    ),
    "wide letters are printed, too": (
        "sync_off", 'int main() { cout << "a"; wcout << L"b"; }', 'int main() { cout << "a"; cout << "b"; }',
    ),
    "a percent sign is written by its number": (
        "fast_out", 'int main() { printf("100\\x25\\45\\n"); }', 'int main() { printf("100\\x24\\44\\n"); }',
    ),
    "a conversion prints": (
        "interchange", "struct N { double x; operator double() const { cout << x; return x; } };\nN a[9]; "
        "double A[9][9];\n"
        "void f(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = a[i]; }\nint main() {}",
        "struct N { double x; operator double() const { return x; } };\nN a[9]; double A[9][9];\n"
        "void f(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = a[i]; }\nint main() {}",
    ),
    "a subscript counts": (
        "memoise", "int c; struct N { int operator[](int k) { return c++; } } a;\n"
        "int f(int n) { return n < 2 ? a[n] : f(n - 1) + f(n - 2); }\nint main() {}",
        "int c; struct N { int k; } a;\nint f(int n) { return n < 2 ? a.k : f(n - 1) + f(n - 2); }\nint main() {}",
    ),
    "somebody else stops a recursion": (
        "memoise", "volatile int stop;\nint f(int n) { return n < 2 || stop ? n : f(n - 1) + f(n - 2); "
        "}\nint main() {}",
        "int stop;\nint f(int n) { return n < 2 || stop ? n : f(n - 1) + f(n - 2); }\nint main() {}",
    ),
    "another program goes on": (
        "newline", 'int main() { cout << 1 << endl; execve("/bin/true", 0, 0); }', "int main() { cout << 1 << endl; }",
    ),
    "output goes elsewhere": (
        "newline", "#include <unistd.h>\nint main() { cout << 1 << endl; dup2(3, 1); cout << 2 << endl; }",
        "#include <unistd.h>\nint main() { cout << 1 << endl; sleep(0); cout << 2 << endl; }",
    ),
    "two streams append to a file": (
        "newline", 'int main() { ofstream o("x", ios::app), p("x", ios::app); o << 1 << endl; p << 2 << endl; }',
        'int main() { ofstream o("x"), p("y"); o << 1 << endl; p << 2 << endl; }',
    ),
    "the size of a file is asked": (
        "newline", 'int main() { ofstream o("x"); o << 1 << endl; cout << filesystem::file_size("x"); }',
        'int main() { ofstream o("x"); o << 1 << endl; cout << sizeof(o); }',
    ),
    "a stored function says the type of an argument": (
        "direct_lambda", "int main() { function<long(long)> f = [&](auto x) -> long { return x * x; }; "
        "cout << f(100000); }",
        "int main() { function<long(long)> f = [&](long x) -> long { return x * x; }; cout << f(100000); }",
    ),
    "a stored function cuts an argument behind a pair": (
        "direct_lambda", "int main() { function<long(pair<int, int>, int)> f = [&](pair<int, int> p, long x) -> long "
        "{ return x; }; cout << f({1, 2}, 1L << 32); }",
        "int main() { function<long(pair<int, int>, int)> f = [&](pair<int, int> p, int x) -> long "
        "{ return x; }; cout << f({1, 2}, 1 << 3); }",
    ),
    "ends of elements of a set are printed": (
        "flat_set", "struct A { int k; ~A() { cout << k; } bool operator<(const A &o) const { return k < o.k; } };\n"
        "int main() { set<A> s; s.insert(A{2}); s.insert(A{1}); }",
        "struct A { int k; bool operator<(const A &o) const { return k < o.k; } };\n"
        "int main() { set<A> s; s.insert(A{2}); s.insert(A{1}); }",
    ),
    "a template holds an element of a vector of flags": (
        "byte_flags", "template <class T> void f(T &x) { auto y = x[0]; y = true; }\n"
        "int main() { vector<bool> v(9); f(v); cout << v[0]; }",
        "template <class T> void f(T &x) { x[0] = true; }\nint main() { vector<bool> v(9); f(v); cout << v[0]; }",
    ),
    "the size of a vector of flags is printed": (
        "byte_flags", "int main() { vector<bool> v(9); cout << sizeof(v); }",
        "int main() { vector<bool> v(9); int capacity = 3; cout << v.size() + capacity; }",
    ),
    "many large elements would not fit": (
        "reserve", "struct A { int a[9999]; };\n"
        "int main() { vector<A> v; string s; while (cin >> s) v.push_back(A()); cout << v.size(); }",
        "struct A { int a; };\n"
        "int main() { vector<A> v; string s; while (cin >> s) v.push_back(A()); cout << v.size(); }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", CASES)
def test_a_rule_declines_what_it_would_misread(why: str) -> None:
    rule, text, near = CASES[why]
    assert labels(rule, HEAD + near) != []
    assert labels(rule, HEAD + text) == []
