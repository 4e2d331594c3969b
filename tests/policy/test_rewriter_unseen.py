"""Programs in which something changes that the text of a place does not show: a rule offers nothing on them.

What changes it: code that no call names (callbacks, constructors, operators), pointers, variables that last from one
call to the next, and threads.
"""

from __future__ import annotations

import pytest

from tests.support.rewriter_help import labels

HEAD = "#include <bits/stdc++.h>\nusing namespace std;\n"
CLEARS = "vector<int> g{1, 2, 3};\nint f(vector<int> v) { g.clear(); return v.size(); }\n"

# why not: (rule, program, the same without what keeps the rule from it)
CASES = {
    "an argument is reached through a pointer": (
        "const_ref", CLEARS + "int main() { auto *p = &g; return f(*p); }",
        CLEARS + "int main() { vector<int> p; return f(p); }",
    ),
    "an argument is reached through an iterator": (
        "const_ref", CLEARS.replace("> g{1, 2, 3}", "> h; map<int, vector<int>> g")
        + "int main() { auto it = g.begin(); return f(it->second); }",
        CLEARS + "int main() { vector<int> p; return f(p); }",
    ),
    "the function changes what a pointer of the program points to": (
        "const_ref", "vector<int> *g;\nint f(vector<int> v) { g->clear(); return v.size(); }\n"
        "int main() { vector<int> a(3); g = &a; return f(a); }",
        "vector<int> *g;\nint f(vector<int> v) { g->clear(); return v.size(); }\n"
        "int main() { vector<int> a(3), b; g = &b; return f(a); }",
    ),
    "an argument lasts from one call to the next": (
        "const_ref", "int g(int k);\nint f(vector<int> v, int k) { if (k) g(k - 1); return v.size(); }\n"
        "int g(int k) { static vector<int> b; b.push_back(k); return f(b, k); }\nint main() { return g(3); }",
        "int g(int k);\nint f(vector<int> v, int k) { if (k) g(k - 1); return v.size(); }\n"
        "int g(int k) { vector<int> b; b.push_back(k); return f(b, k); }\nint main() { return g(3); }",
    ),
    "a callback changes an argument": (
        "const_ref", "vector<int> g{1}, w;\nvoid add(int k) { g.push_back(k); }\n"
        "int f(vector<int> v) { for_each(w.begin(), w.end(), add); return v.size(); }\nint main() { return f(g); }",
        "vector<int> g{1}, w;\nvoid add(int k) { w[0] = k; }\n"
        "int f(vector<int> v) { for_each(w.begin(), w.end(), add); return v.size(); }\nint main() { return f(g); }",
    ),
    "a thread changes an argument": (
        "const_ref", "vector<int> g{1}, w;\nvoid work() { g.clear(); }\n"
        "int f(vector<int> v) { thread t(work); t.join(); return v.size(); }\nint main() { vector<int> *p = &g; "
        "return f(*p); }",
        "vector<int> g{1}, w;\nvoid work() { w.clear(); }\n"
        "int f(vector<int> v) { thread t(work); t.join(); return v.size(); }\nint main() { vector<int> p; "
        "return f(p); }",
    ),
    "a pointer that a loop makes shows the text": (
        "hoist", "void f(char *s) { for (int i = 0; i < (int)strlen(s); i++) { char *p; p = s; p[i] = 0; } }\n"
        "int main() {}",
        "void f(char *s) { char t[9]; for (int i = 0; i < (int)strlen(s); i++) { char *p; p = t; p[i] = 0; } }\n"
        "int main() { char u[9]; f(u); }",
    ),
    "the first letter of a text changes": (
        "hoist", "char s[9];\nint main() { for (int i = 0; i < (int)strlen(s); i++) --*s; }",
        "char s[9];\nint main() { int k = 0; for (int i = 0; i < (int)strlen(s); i++) --k; }",
    ),
    "the first letter of a text is read": (
        "hoist", "char s[9];\nint main() { for (int i = 0; i < (int)strlen(s); i++) cin >> *s; }",
        "char s[9];\nint main() { char t; for (int i = 0; i < (int)strlen(s); i++) cin >> t; }",
    ),
    "a lambda has a second name for a vector": (
        "hoist", "int main() { vector<int> v(1); for (int i = 0; i < v.size() && i < 9; i++) "
        "[&r = v]() { r.push_back(1); }(); }",
        "int main() { vector<int> v(1), w; for (int i = 0; i < v.size() && i < 9; i++) [&r = w]() { "
        "r.push_back(1); }(); }",
    ),
    "a member is named by this": (
        "hoist", "struct V { vector<int> v, w; void g() { for (int i = 0; i < v.size() && i < 9; i++) "
        "this->v.push_back(i); } };\nint main() {}",
        "struct V { vector<int> v, w; void g() { for (int i = 0; i < v.size() && i < 9; i++) "
        "this->w.push_back(i); } };\nint main() {}",
    ),
    "a member is given as an argument, too": (
        "hoist", "struct V { vector<int> v; void g(vector<int> &w) { for (int i = 0; i < v.size() && i < 9; i++) "
        "w.push_back(i); } };\nint main() { V a; a.g(a.v); }",
        "struct V { vector<int> v; void g(vector<int> w) { for (int i = 0; i < v.size() && i < 9; i++) "
        "w.push_back(i); } };\nint main() { V a; a.g(a.v); }",
    ),
    "a member is a reference to another one": (
        "hoist", "struct V { vector<int> v; vector<int> &w; V() : w(v) {} void g() "
        "{ for (int i = 0; i < v.size() && i < 9; i++) w.push_back(i); } };\nint main() {}",
        "struct V { vector<int> v; vector<int> w; V() : w(v) {} void g() "
        "{ for (int i = 0; i < v.size() && i < 9; i++) w.push_back(i); } };\nint main() {}",
    ),
    "a function returns a reference to what it reads": (
        "hoist", "vector<int> &all() { static vector<int> a(1); return a; }\n"
        "int main() { auto &v = all(); for (int i = 0; i < v.size() && i < 9; i++) all().push_back(1); }",
        "vector<int> &all() { static vector<int> a(1); return a; }\n"
        "int main() { vector<int> v; for (int i = 0; i < v.size() && i < 9; i++) all().push_back(1); }",
    ),
    "a function returns a reference to a global": (
        "hoist", "vector<int> a(1), b; vector<int> &all() { return a; }\n"
        "int main() { for (int i = 0; i < a.size() && i < 9; i++) all().push_back(1); }",
        "vector<int> a(1), b; vector<int> &all() { return b; }\n"
        "int main() { for (int i = 0; i < a.size() && i < 9; i++) all().push_back(1); }",
    ),
    "a method copies a text into another": (
        "hoist", 'int main() { string t; char s[9] = "abc"; for (int i = 0; i < (int)strlen(s); i++) t.copy(s, 2); }',
        'int main() { string t; char s[9] = "abc"; for (int i = 0; i < (int)strlen(s); i++) t.assign(s, 2); }',
    ),
    "a lambda adds up": (
        "hoist", "int main() { vector<int> v(1), w(2); auto add = [&](int a, int b) { v.push_back(1); "
        "return a + b; };\n"
        "for (int i = 0; i < v.size() && i < 9; i++) accumulate(w.begin(), w.end(), 0, add); }",
        "int main() { vector<int> v(1), w(2); auto add = [&](int a, int b) { w[0] = 1; return a + b; };\n"
        "for (int i = 0; i < v.size() && i < 9; i++) accumulate(w.begin(), w.end(), 0, add); }",
    ),
    "a view is given by value": (
        "range_ref", 'void z(span<string> s) { s[0] = "b"; }\n'
        "int main() { vector<string> v(3); for (auto x : v) { z(v); cout << x; } }",
        'void z(vector<string> s) { s[0] = "b"; }\n'
        "int main() { vector<string> v(3); for (auto x : v) { z(v); cout << x; } }",
    ),
    "iterators are given by value": (
        "range_ref", 'template <class It> void z(It a) { *a = "b"; }\n'
        "int main() { vector<string> v(3); for (auto x : v) { z(v.begin()); cout << x; } }",
        "template <class T> void z(T a) { cout << a.size(); }\n"
        "int main() { vector<string> v(3); for (auto x : v) { z(v); cout << x; } }",
    ),
    "a pointer into an argument is given beside it": (
        "const_ref", "int f(vector<int> v, int *p) { p[0] = 5; return v[0]; }\n"
        "int main() { vector<int> a(3); int *p = a.data(); return f(a, p); }",
        "int f(vector<int> v, int *p) { p[0] = 5; return v[0]; }\n"
        "int main() { vector<int> a(3), b(3); int *p = b.data(); return f(a, p); }",
    ),
    "a second name of an argument is given beside it": (
        "const_ref", "int f(vector<int> v, vector<int> &w) { w.clear(); return v.size(); }\n"
        "int main() { vector<int> a(3); auto &b = a; return f(a, b); }",
        "struct N { N *down[9]; };\nvoid put(N *&root, string key) { if (!root) root = new N(); "
        "if (key.size() > 3) put(root->down[0], key); }\nint main() { N *r = 0; string s; put(r, s); }",
    ),
    "a text is kept in a tree": (
        "const_ref", "struct N { N *l; string_view k; }; string_view kept;\nvoid put(N *t, string k) { t->k = k; "
        "if (k.size()) put(t->l, k); else t->l = new N; }\nint main() { N n; string s; put(&n, s); }",
        "struct N { N *l; string k; };\nvoid put(N *t, string k) { t->k = k; "
        "if (k.size()) put(t->l, k); else t->l = new N; }\nint main() { N n; string s; put(&n, s); }",
    ),
    "a pointer to a function is called": (
        "hoist", "vector<int> v(1);\nvoid add(int k) { v.push_back(k); }\nvoid (*g)(int) = add;\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) g(i); }",
        "vector<int> v(1);\nvoid add(int k) { v.push_back(k); }\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) abs(i); }",
    ),
    "an element of a vector of functions is called": (
        "hoist", "vector<int> v(1); vector<function<void(int)>> fs;\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) fs[i](i); }",
        "vector<int> v(1), fs;\nint main() { for (int i = 0; i < v.size() && i < 9; i++) fs[i] = i; }",
    ),
    "a member that holds a function is called": (
        "hoist", "vector<int> v(1); struct A { function<void(int)> f; } a;\n"
        "int main() { a.f = [](int k) { v.push_back(k); }; for (int i = 0; i < v.size() && i < 9; i++) a.f(i); }",
        "vector<int> v(1); struct A { int f; } a;\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) a.f = i; }",
    ),
    "a parameter that is a function is handed on": (
        "hoist", "vector<int> v(1), w(2);\ntemplate <class F> void f(F add) { for (int i = 0; i < v.size() && i < 9; "
        "i++) for_each(w.begin(), w.end(), add); }\nint main() { f([](int k) { v.push_back(k); }); }",
        "vector<int> v(1), w(2);\nvoid f(int k) { for (int i = 0; i < v.size() && i < 9; "
        "i++) fill(w.begin(), w.end(), k); }\nint main() { f(3); }",
    ),
    "an object for one call refers to what is asked for its length": (
        "hoist", "struct Add { vector<int> &v; void operator()(int k) { v.push_back(k); } };\n"
        "int main() { vector<int> v(1), w(2); for (int i = 0; i < v.size() && i < 9; i++) "
        "for_each(w.begin(), w.end(), Add{v}); }",
        "struct Add { vector<int> &v; void operator()(int k) { v.push_back(k); } };\n"
        "int main() { vector<int> v(1), w(2), u; for (int i = 0; i < v.size() && i < 9; i++) "
        "for_each(w.begin(), w.end(), Add{u}); }",
    ),
    "a callback changes a length": (
        "hoist", "vector<int> v(1), w(2);\nvoid add(int k) { v.push_back(k); }\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) for_each(w.begin(), w.end(), add); }",
        "vector<int> v(1), w(2);\nvoid add(int k) { w[0] = k; }\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) for_each(w.begin(), w.end(), add); }",
    ),
    "a lambda that is handed on changes a length": (
        "hoist", "int main() { vector<int> v(1), w(2); auto add = [&](int k) { v.push_back(k); };\n"
        "for (int i = 0; i < v.size() && i < 9; i++) for_each(w.begin(), w.end(), add); }",
        "int main() { vector<int> v(1), w(2); auto add = [&](int k) { w[0] = k; };\n"
        "for (int i = 0; i < v.size() && i < 9; i++) for_each(w.begin(), w.end(), add); }",
    ),
    "a constructor changes a length": (
        "hoist", "vector<int> v(1); struct A { A() { v.push_back(1); } };\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) { A a; } }",
        "vector<int> v(1); struct A { A() { puts(\"\"); } };\n"
        "int main() { for (int i = 0; i < v.size() && i < 9; i++) { A a; } }",
    ),
    "an operator changes a length": (
        "hoist", "vector<int> v(1); struct A { void operator()(int k) { v.push_back(k); } };\n"
        "int main() { A a; for (int i = 0; i < v.size() && i < 9; i++) a(i); }",
        "vector<int> v(1), w; struct A { void operator()(int k) { w.push_back(k); } };\n"
        "int main() { A a; int b[3]; for (int i = 0; i < v.size() && i < 9; i++) b[i] = i; }",
    ),
    "a call of itself changes a variable that lasts": (
        "range_ref", "int g(int k) { static vector<string> s{\"a\", \"b\"}; int n = 0;\n"
        "if (k) { s[0] += 'x'; return 0; } for (auto x : s) { g(1); n += x.size(); } return n; }\n"
        "int main() { return g(0); }",
        "int g(int k) { vector<string> s{\"a\", \"b\"}; int n = 0;\n"
        "if (k) { s[0] += 'x'; return 0; } for (auto x : s) { g(1); n += x.size(); } return n; }\n"
        "int main() { return g(0); }",
    ),
    "a constructor counts the calls": (
        "memoise", "int n; struct A { A() { n++; } };\n"
        "int f(int k) { A a; return k < 2 ? k : f(k - 1) + f(k - 2); }\nint main() { f(9); return n; }",
        "int n; int f(int k) { int a = 1; return k < 2 ? k : f(k - 1) + f(k - 2) + a; }\n"
        "int main() { f(9); return n; }",
    ),
    "another thread fills what is asked for its length": (
        "hoist", "mutex m; vector<int> q; void work() { lock_guard<mutex> l(m); q.push_back(1); }\n"
        "int main() { thread t(work); for (int k = 0; k < 1;) { lock_guard<mutex> l(m); k = q.size(); } t.join(); }",
        "mutex m; vector<int> q; void work() { lock_guard<mutex> l(m); q.push_back(1); }\n"
        "int main() { for (int k = 0; k < 1;) { lock_guard<mutex> l(m); k = q.size(); } }",
    ),
    "a pointer into the string that grows": (
        "self_append", 'int main() { string s = "a"; const char *p = s.c_str(); s = s + "x" + p; cout << s; }',
        'int main() { string s = "a"; const char *p = "b"; s = s + "x" + p; cout << s; }',
    ),
    "a reference to an element of a set": (
        "flat_set",
        'int main() { set<string> s; s.insert("b"); const string &x = *s.begin(); s.insert("a"); cout << x; }',
        'int main() { set<string> s; s.insert("b"); string x = *s.begin(); s.insert("a"); cout << x; }',
    ),
    "a reference through an iterator into a set": (
        "flat_set",
        'int main() { set<string> s; s.insert("b"); auto it = s.find("b"); const string &x = *it; s.insert("a"); '
        "cout << x; }",
        'int main() { set<string> s; s.insert("b"); auto it = s.find("b"); string x = *it; s.insert("a"); cout << x; }',
    ),
    "an element of a set is handed on": (
        "flat_set", 'set<string> s; void f(const string &x) { s.insert("a"); cout << x; }\n'
        'int main() { s.insert("b"); f(*s.begin()); }',
        'set<string> s; void f(string x) { s.insert("a"); cout << x; }\nint main() { s.insert("b"); f(*s.begin()); }',
    ),
    "a callee reads the array that a pointer points to": (
        "restrict", "double G[9], H[9], t;\nvoid see() { t += G[1]; }\nvoid f(double *x, double *y, int n) "
        "{ for (int i = 0; i < n; i++) { x[i] = y[i]; see(); } }\nint main() { f(G, H, 9); }",
        "double G[9], H[9], t;\nvoid see() { t += 1; }\nvoid f(double *x, double *y, int n) "
        "{ for (int i = 0; i < n; i++) { x[i] = y[i]; see(); } }\nint main() { f(G, H, 9); }",
    ),
    "a vector is given beside a pointer to it": (
        "restrict", "void f(double *x, double *y, vector<double> &v) "
        "{ for (int i = 1; i < 9; i++) x[i] = y[i] + v[i - 1]; }\n"
        "int main() { vector<double> v(9); double b[9]; f(v.data(), b, v); }",
        "void f(double *x, double *y, vector<double> &v) { for (int i = 1; i < 9; i++) x[i] = y[i] + v[i - 1]; }\n"
        "int main() { vector<double> v(9); double a[9], b[9]; f(a, b, v); }",
    ),
    "two threads read": (
        "fast_in", 'atomic<int> t; void work() { int k; while (scanf("%d", &k) == 1) t += k; }\n'
        'int main() { thread a(work), b(work); a.join(); b.join(); printf("%d", (int)t); }',
        'atomic<int> t; void work() { int k; while (scanf("%d", &k) == 1) t += k; }\n'
        'int main() { work(); printf("%d", (int)t); }',
    ),
    "threads of OpenMP print": (
        "fast_out", 'int main() {\n#pragma omp parallel for\nfor (int i = 0; i < 9; i++) puts("a");\n}',
        'int main() {\n#pragma omp simd\nfor (int i = 0; i < 9; i++) puts("a");\n}',
    ),
    "a function returns what is walked": (
        "range_ref", "vector<string> g(3), h(3); vector<string> &get() { return g; }\n"
        'int main() { for (auto x : get()) { g[0] = "b"; cout << x; } }',
        "vector<string> g(3), h(3); vector<string> &get() { return g; }\n"
        'int main() { for (auto x : get()) { h[0] = "b"; cout << x; } }',
    ),
    "a method returns an argument": (
        "const_ref", "vector<int> g{1}; struct O { vector<int> &items() { return g; } };\n"
        "int f(vector<int> v) { g.clear(); return v.size(); }\nint main() { O o; return f(o.items()); }",
        "vector<int> g{1}, h; struct O { vector<int> &items() { return h; } };\n"
        "int f(vector<int> v) { g.clear(); return v.size(); }\nint main() { O o; return f(o.items()); }",
    ),
    "a function returns the top of a stack": (
        "vector_stack", "stack<string> s; string &top() { return s.top(); }\n"
        'int main() { s.push("a"); auto &t = top(); s.push("b"); cout << t; }',
        "stack<string> s; string top() { return s.top(); }\n"
        'int main() { s.push("a"); auto t = top(); s.push("b"); cout << t; }',
    ),
    "a function returns the first of a set": (
        "flat_set", "set<string> s; const string &first() { return *s.begin(); }\n"
        'int main() { s.insert("b"); auto &t = first(); s.insert("a"); cout << t; }',
        "set<string> s; string first() { return *s.begin(); }\n"
        'int main() { s.insert("b"); auto t = first(); s.insert("a"); cout << t; }',
    ),
    "the end of an object changes an argument": (
        "const_ref", "vector<int> g{1}, h; struct A { ~A() { g.clear(); } };\n"
        "int f(vector<int> v) { { A a; } return v.size(); }\nint main() { return f(g); }",
        "vector<int> g{1}, h; struct A { ~A() { h.clear(); } };\n"
        "int f(vector<int> v) { { A a; } return v.size(); }\nint main() { return f(g); }",
    ),
    "a member is the string that grows": (
        "self_append", 'struct S { string t; void f(string &s) { s = s + "x" + t; } };\nint main() { S s; s.f(s.t); }',
        'struct S { string t; void f(string s) { s = s + "x" + t; } };\nint main() { S s; s.f(s.t); }',
    ),
    "a copy is made for another thread": (
        "range_ref", "mutex m; vector<string> v(3); void work() { lock_guard<mutex> l(m); v[0] = \"b\"; }\n"
        "int main() { thread t(work); m.lock(); for (auto x : v) { m.unlock(); cout << x; m.lock(); "
        "} m.unlock(); t.join(); }",
        "mutex m; vector<string> v(3); void work() { lock_guard<mutex> l(m); v[0] = \"b\"; }\n"
        "int main() { m.lock(); for (auto x : v) { m.unlock(); cout << x; m.lock(); } m.unlock(); }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", CASES)
def test_a_rule_declines_what_it_does_not_see(why: str) -> None:
    rule, text, near = CASES[why]
    assert labels(rule, HEAD + near) != []
    assert labels(rule, HEAD + text) == []


LOOP = "for (int i = 0; i < n; i++) "
# a number that is read may be an element of what is written: (rule, program with @, what makes it one, and what not)
NUMBERS = [
    ("interchange", f"void f(int n) {{ double A[9], B[9]; double &x = @; {LOOP} for (int j = 0; j < n; j++) "
     "A[j] += x * i; } int main() {}", "A[2]", "B[2]"),
    ("local_sum", f"void f(int n, double *A, const double &x) {{ {LOOP} A[0] += x * i; }}\n"
     "int main() { double A[9], B[9]; f(9, A, @); }", "A[0]", "B[0]"),
    ("ivdep", f"void f(int n, double *A, const double &x) {{ {LOOP} A[i] = x * i; }}\n"
     "int main() { double A[9], B[9]; f(9, A, @); }", "A[0]", "B[0]"),
    ("local_sum", f"double x, y; void f(int n, double *A) {{ {LOOP} A[0] += x * i; }} int main() {{ f(1, @); }}",
     "&x", "&y"),
    ("tile", f"void f(int &m, int *A, int n) {{ {LOOP} for (int j = 0; j < m; j++) A[j] += i; }}\n"
     "int main() { int a[9], b[9]; f(@, a, 9); }", "a[8]", "b[8]"),
    ("split_sum", f"void f(int n, double *a, double &s) {{ {LOOP} s += a[i]; }}\n"
     "int main() { double a[9], b[9]; f(9, a, @); }", "a[3]", "b[3]"),
    ("expand", "double A[9], B[9], C[9]; void f(int n, double &x) { for (int j = 0; j < n; j++) "
     f"{{ double s = 0; {LOOP} s += B[i] * x; A[j] = s; }} }} int main() {{ f(9, @); }}", "A[2]", "C[2]"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "one", "other"), NUMBERS)
def test_a_number_that_may_be_an_element_is_seen(rule: str, text: str, one: str, other: str) -> None:
    assert labels(rule, HEAD + text.replace("@", other)) != []
    assert labels(rule, HEAD + text.replace("@", one)) == []


GROWS = "for (size_t i = 0; i < v.size() && i < 9; i++) "
# code that is called in an unusual way: (before main, what a loop does); with @, the vector that grows
CALLS = [
    ("#define FN(name) void name() { @.push_back(1); }\nFN(add)", "add();"),
    ("#define FN(name) void do_##name() { @.push_back(1); }\nFN(add)", "do_add();"),
    ("template <class T> void add(T k) {}\ntemplate <> void add<int>(int k) { @.push_back(k); }", "add(3);"),
    ("void add() try { @.push_back(1); } catch (...) {}", "add();"),
    ("void add() { @.push_back(1); }\nvoid (*t[])() = {add};", "t[0]();"),
    ("struct A { function<void()> f; } a; void set_it() { a.f = [] { @.push_back(1); }; }", "a.f();"),
    ("auto add = [](int k) { @.push_back(k); }; auto copy_of = add; vector<int> w(2);",
     "for_each(w.begin(), w.end(), copy_of);"),
    ("void add(int) { @.push_back(1); } auto bound = bind(add, placeholders::_1); vector<int> w(2);",
     "for_each(w.begin(), w.end(), bound);"),
    ("int add() { @.push_back(1); return 1; } void g(int k = add()) { printf(\"%d\", k); }", "g();"),
    ("int add() { @.push_back(1); return 1; } struct A { int k = add(); };", "A a;"),
    ("struct G { bool await_ready(); void await_suspend(); void await_resume() { @.push_back(1); } };",
     "co_await G();"),
]  # fmt: skip


METHODS = [  # (what a class has, what a loop of a method of it does)
    ("void add() { v.push_back(1); }", "this->add();"),
    ("S &operator+=(int k) { v.push_back(k); return *this; }", "*this += 1;"),
    ("void operator()(int k) { v.push_back(k); }", "(*this)(1);"),
    ("void add() { v.push_back(1); }", "see(this);"),
    ("int k = 0; S *self() { return this; } void add() { v.push_back(1); }", "self()->add();"),
]


@pytest.mark.parametrize(("has", "does"), METHODS)
def test_a_method_that_changes_its_object_is_seen(has: str, does: str) -> None:
    text = f"{HEAD}struct S {{ vector<int> v, u; {has} void f(); }};\nvoid see(S *s) {{ s->v.push_back(1); }}\n"
    text += f"void S::f() {{ {GROWS} {{ $ }} }}\nint main() {{}}\n"
    assert labels("hoist", text.replace("$", "this->u.push_back(1);")) != []
    assert labels("hoist", text.replace("$", does)) == []


@pytest.mark.parametrize(("before", "does"), CALLS)
def test_code_that_is_called_in_an_unusual_way_is_seen(before: str, does: str) -> None:
    text = f"{HEAD}vector<int> v(1), u;\n{before}\nvoid g();\nint main() {{ {GROWS} {{ $ }} }}\n"
    assert labels("hoist", text.replace("@", "u").replace("$", "u.push_back(1);")) != []
    assert labels("hoist", text.replace("@", "v").replace("$", does)) == []


def test_an_old_function_without_a_type_is_seen() -> None:
    text = "char s[9], t[9];\n# { @[0] = 0; }\nvoid f() { for (int i = 0; i < (int)strlen(s); i++) cut(0); }\n"
    for head in ("cut(k)", "void cut(k) int k;", "static void cut(int k)"):
        assert labels("hoist", text.replace("#", head).replace("@", "s"), "c") == []
    assert labels("hoist", text.replace("#", "static void cut(int k)").replace("@", "t"), "c") != []
