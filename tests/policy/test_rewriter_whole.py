"""Programs whose input, output and objects behave in unusual ways say the same after each rule that fires."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.rewriter_help import labels, rewritten

pytestmark = pytest.mark.sandbox
HEAD = "#include <bits/stdc++.h>\nusing namespace std;\n"
C_HEAD = "#include <stdio.h>\n#include <string.h>\n"

LINES = "\n".join(f"{k * 7919} {k / 7:.9f} w{'x' * (k % 11)} {k}.5+{k}" for k in range(9000))  # many buffers

# what is unusual: (rule, program, input)
CPP = {
    "a function that prints is called in an argument": (
        "fast_out",
        'int f(int k) { printf("in %d, ", k); return k * 2; }\nint main() { printf("f is %d\\n", f(2)); }',
        "",
    ),
    "a letter of several bytes": ("fast_out", 'int main() { printf("%d°%d", 20, 30); printf("é"); }', ""),
    "manipulators of what is so already": (
        "fast_out",
        'int main() { cout << dec << 2.5 << " " << noshowpos << 1e7 << fixed << 2.5; }',
        "",
    ),
    "a format of another system": ("fast_out", 'int main() { printf("%I64d|", 5); }', ""),
    "a sign is all that is left": (
        "fast_in",
        'int main(void) { int x = 0, got, k = 0; while ((got = scanf("%d", &x)) != EOF && k++ < 9) '
        'printf("%d %d ", got, x); double y = 0; printf("%d", scanf("%lf", &y)); return 0; }',
        "5 -",
    ),
    "a real number that only begins": (
        "fast_in",
        'int main(void) { double x = 0; int a = scanf("%lf", &x), b = scanf("%lf", &x); printf("%d %d", a, b); '
        "return 0; }",
        "7 +",
    ),
    "numbers without blanks between": (
        "fast_in",
        "int main() { double a, b; char op; while (cin >> a >> op >> b) cout << a << op << b << endl; }",
        "3+4 5.5-2 1e3*2e-1 1.2.3 +5/-6",
    ),
    "numbers without blanks between, by scanf": (
        "fast_in",
        'int main() { double a, b; char op; while (scanf("%lf%c%lf", &a, &op, &b) == 3) '
        'printf("%g %c %g\\n", a, op, b); }',
        "3+4 5.5-2 1e3*2e-1 1.2.3 +5/-6",
    ),
    "real numbers that are none": (
        "fast_in",
        "int main() { for (int k = 0; k < 12; k++) { double x = 7; if (!(cin >> x)) { cout << '!'; cin.clear(); "
        "string s; cin >> s; cout << s; } cout << ' ' << x << '\\n'; } }",
        "5e 1e999 -1e999 inf nan 0x10 . - 1e-999 1e+ 5e1x",
    ),
    "real numbers that are none, by scanf": (
        "fast_in",
        'int main() { double x; float y; char s[99]; for (int k = 0; k < 14; k++) { x = 7; '
        'int got = scanf("%lf", &x); printf("%d %g ", got, x); if (got == 0 && scanf("%s", s) == 1) printf("%s", s); '
        'printf("\\n"); } }',
        "5e 1e999 -1e999 inf -nan 0x10 0x1.8p1 infinity . - 1e-999 1e+ 5e1x",
    ),
    "whole numbers out of range, by scanf": (
        "fast_in",
        'int main() { int a = 0; unsigned b = 0; long long c = 0; short d = 0; '
        'int got = scanf("%d %u %lld %hd", &a, &b, &c, &d); printf("%d %d %u %lld %d\\n", got, a, b, c, d); }',
        "3000000000 -1 99999999999999999999 70000",
    ),
    "a very long number": ("fast_in", "int main() { double x; string s; cin >> x >> s; cout << x << s; }",
                           "0." + "0" * 700 + "5 end"),
    "reading on after a failure": (
        "fast_in",
        "int main() { int x = 1; char c = 'u'; cin >> x; cout << x << cin.peek() << ' ' << cin.get(); cin.get(c); "
        "cin.ignore(); cout << c; cin.clear(); string s; cin >> s; cout << s << endl; }",
        "abcdef ghi",
    ),
    "the last line has no end": (
        "fast_in", "int main() { string s; int n = 0; while (getline(cin, s)) n++; cout << n << s; }", "one\ntwo"),
    "the last line has an end": (
        "fast_in", "int main() { string s; int n = 0; while (getline(cin, s)) n++; cout << n << s; }", "one\ntwo\n"),
    "flags that are no flags": (
        "fast_in",
        "int main() { for (int k = 0; k < 5; k++) { bool b = true; cin >> b; cout << b << cin.fail(); cin.clear(); } }",
        "0 1 2 0",
    ),
    "flags that are words": (
        "fast_in", "int main() { bool b = true; cin >> b; cout << b << cin.fail(); }", "x"),
    "a blank line is left out up to a zero": (
        "fast_in", "int main() { string s; cin.ignore(100, '\\0'); cin >> s; cout << s; }", "one two"),
    "copies are counted": (
        "const_ref",
        "int copies = 0; struct A { int k; A(int x) : k(x) {} A(const A& a) : k(a.k) { copies++; } };\n"
        "int f(A a) { return a.k; }\nint main() { A a(1); cout << f(a) << copies; }",
        "",
    ),
    "ends are printed": (
        "const_ref",
        'struct A { int k; ~A() { cout << "bye " << k; } };\nint f(A a) { return a.k; }\n'
        "int main() { A a; a.k = 1; int r = f(a); cout << r; }",
        "",
    ),
    "copies of elements are counted": (
        "range_ref",
        "int copies = 0; struct A { int k; A(int x) : k(x) {} A(const A& a) : k(a.k) { copies++; } };\n"
        "int main() { vector<A> v; v.reserve(9); v.emplace_back(3); for (auto a : v) cout << a.k; cout << copies; }",
        "",
    ),
    "a container has a second name": (
        "range_ref",
        'int main() { vector<string> v(3, "a"); auto& w = v; for (auto x : v) { w[0] = "b"; cout << x; } }',
        "",
    ),
    "a container is given twice": (
        "range_ref",
        'void f(const vector<string>& v, vector<string>& w) { for (auto x : v) { w[0] += "b"; cout << x; } }\n'
        'int main() { vector<string> v(3, "a"); f(v, v); }',
        "",
    ),
    "ends of elements in a queue are printed": (
        "ring",
        "struct A { int k; ~A() { cout << k; } };\nint main() { queue<A> q; A a; a.k = 1; q.push(a); q.pop(); }",
        "",
    ),
    "ends of elements in a stack are printed": (
        "vector_stack",
        "struct A { int k; ~A() { cout << k; } };\nint main() { stack<A> q; A a; a.k = 1; q.push(a); q.push(a); }",
        "",
    ),
    "the capacity is printed": (
        "reserve",
        "int main() { vector<int> v; for (int i = 0; i < 9; i++) { v.push_back(i); cout << v.capacity(); } }",
        "",
    ),
    "moves are counted": (
        "reserve",
        "int copies = 0; struct A { int k; A(int x) : k(x) {} A(const A& a) : k(a.k) { copies++; } };\n"
        "int main() { vector<A> v; for (int i = 0; i < 9; i++) v.push_back(A(i)); cout << copies; }",
        "",
    ),
    "a vector grows under another name": (
        "hoist",
        "int main() { vector<int> v(1); auto& w = v; for (size_t i = 0; i < v.size(); i++) if (i < 5) w.push_back(1); "
        "cout << v.size(); }",
        "",
    ),
    "a text is cut through a pointer": (
        "hoist",
        'int main() { char s[9] = "abcdefg"; char* p = s; int n = 0; for (int i = 0; i < (int)strlen(s); i++) '
        "{ p[6 - i] = 0; n++; } cout << n; }",
        "",
    ),
    "one of two is changed": (
        "hoist",
        "int main() { int lo = 0, hi = 100, n = 0; while (sqrt(hi) - lo > 3) { int mid = (lo + hi) / 2; "
        "(mid * mid < 50 ? lo : hi) = mid; n++; } cout << n << lo << hi; }",
        "",
    ),
    "a stream of its own is written": (
        "memoise",
        "ostringstream log_;\nint f(int k) { log_ << k; return k < 2 ? k : f(k - 1) + f(k - 2); }\n"
        "int main() { cout << f(5) << log_.str(); }",
        "",
    ),
    "what is added has a second name": (
        "self_append",
        'int main() { string s = "a"; string& t = s; s = s + "x" + t; cout << s; }',
        "",
    ),
    "a real bound in a set of whole numbers": (
        "set_bound",
        "int main() { set<int> s{1, 2, 3}; double x = 1.5; cout << *lower_bound(s.begin(), s.end(), x); }",
        "",
    ),
    "a long bound in a set of short numbers": (
        "set_bound",
        "int main() { set<int> s{1, 2, 3}; long long x = 1LL << 32; "
        "cout << (lower_bound(s.begin(), s.end(), x) == s.end()); }",
        "",
    ),
    "an iterator is copied and moved": (
        "hash_table",
        "int main() { set<int> s; for (int i = 0; i < 9; i++) s.insert(i * 77 % 31); "
        "auto it = s.find(0); auto j = it; j++; cout << *j; }",
        "",
    ),
    "a distance in a set": (
        "hash_table",
        "int main() { set<int> s; for (int i = 0; i < 9; i++) s.insert(i * 77 % 31); "
        "cout << distance(s.find(15), s.end()); }",
        "",
    ),
    "output of two libraries that are apart": (
        "fast_out",
        'int main() { ios::sync_with_stdio(false); cout << 1; printf("2"); cout << 3; }',
        "",
    ),
    "a set shrinks while an iterator walks": (
        "flat_set",
        "int main() { set<int> s; for (int i = 0; i < 8; i++) s.insert(i); int n = 0; "
        "for (auto it = s.begin(); it != s.end() && n < 20; n++) { cout << *it; s.erase(it++); } cout << s.size(); }",
        "",
    ),
    "a pointer to the first of a queue is kept": (
        "ring",
        "int main() { queue<int> q; q.push(7); int* p = &q.front(); "
        "for (int i = 0; i < 99999; i++) q.push(i); cout << *p; }",
        "",
    ),
    "a recursion is left by an exception": (
        "memoise",
        "vector<int> t{1, 2, 3};\nint f(int k) { return k < 2 ? t.at(k) : f(1) + f(0) + t.at(9); }\n"
        'int main() { cout << f(1); try { f(2); } catch (out_of_range&) { cout << "!"; } t[0] = 50; cout << f(0); }',
        "",
    ),
    "a buffer of its own is told of the end of a line": (
        "newline",
        "struct B : stringbuf { int n = 0; int sync() override { n++; return 0; } };\n"
        "int main() { B b; ostream o(&b); o << 1 << endl << 2 << endl; cout << b.n; }",
        "",
    ),
    "a narrow parameter of a stored function": (
        "direct_lambda",
        "int main() { function<long(int)> f = [&](long long x) -> long { return x < 9 ? x : f(9) ; }; "
        "function<long(int)> g = [&](long long x) -> long { return x; }; cout << g((1LL << 32) + 5); }",
        "",
    ),
    "tokens lie across the ends of buffers": (
        "fast_in",
        "int main() { long long n; double x, y, t = 0; string w; int k, h = 0; while (cin >> n >> x >> w >> y >> k) "
        "t += x + y, h = h * 31u + n + k + w.size(); printf(\"%.9f %d\", t, h); }",
        LINES,
    ),
    "an argument throws": (
        "fast_out",
        "int f(int k) { if (k > 2) throw 5; return k; }\n"
        'int main() { try { printf("value %d\\n", f(3)); } catch (int e) { printf("caught %d\\n", e); } }',
        "",
    ),
    "an element in an argument is not there": (
        "fast_out",
        'int main() { vector<int> v(3); try { printf("value %d\\n", v.at(9)); } '
        'catch (out_of_range&) { printf("caught\\n"); } }',
        "",
    ),
    "a zero ends a format": ("fast_out", 'int main() { printf("a\\0%d", 5); printf("b\\0001%d", 5); }', ""),
    "a function of its own takes the end of a line": (
        "newline",
        "struct L { int lines = 0; };\nL& operator<<(L& l, int k) { cout << k; return l; }\n"
        "L& operator<<(L& l, char c) { cout << 'c' << c; return l; }\n"
        "L& operator<<(L& l, ostream& (*)(ostream&)) { l.lines++; return l; }\n"
        "int main() { L l; l << 1 << endl << 2 << endl; cout << l.lines; }",
        "",
    ),
    "a class has a pointer to what is walked": (
        "range_ref",
        "struct S { vector<string>* p; void z() { (*p)[0] = \"b\"; } };\n"
        'int main() { vector<string> v{"a", "c"}; S s{&v}; for (auto x : v) { s.z(); cout << x; } }',
        "",
    ),
    "a class has a reference to what is walked": (
        "range_ref",
        "struct S { vector<string>& p; };\nstruct T { S s; };\n"
        'int main() { vector<string> v{"a", "c"}; T t{{v}}; for (auto x : v) { t.s.p[0] = "b"; cout << x; } }',
        "",
    ),
    "a constructor keeps a pointer to what is walked": (
        "range_ref",
        "struct W { vector<string>* q; W(vector<string>& o) : q(&o) {} void z() { (*q)[0] = \"b\"; } };\n"
        'int main() { vector<string> v{"a", "c"}; W w(v); for (auto x : v) { w.z(); cout << x; } }',
        "",
    ),
    "a row changes while it is walked": (
        "range_ref",
        'int main() { vector<vector<string>> v{{"a", "c"}}; for (auto& row : v) for (auto x : row) '
        '{ v[0][0] = "b"; cout << x; } }',
        "",
    ),
    "what a lambda is given changes": (
        "range_ref",
        'int main() { vector<string> v{"a", "c"}; auto h = [&](vector<string>& w) '
        '{ for (auto x : w) { v[0] = "b"; cout << x; } }; h(v); }',
        "",
    ),
    "the next element after one that leaves": (
        "hash_table",
        "int main() { set<int> s; for (int i = 0; i < 9; i++) s.insert(i * 77 % 31); "
        "auto it = s.erase(s.find(0)); cout << *it; }",
        "",
    ),
    "blanks are skipped at the end": (
        "fast_in",
        "int main() { int x, t = 0; while (cin >> x >> ws) t += x; cout << t << cin.eof() << cin.fail(); }",
        "1 2 3",
    ),
    "a stream that failed throws again": (
        "fast_in",
        "int main() { cin.exceptions(ios::failbit); int x; for (int i = 0; i < 3; i++) "
        "try { cin >> x; cout << x; } catch (ios_base::failure&) { cout << '!'; } }",
        "1 x",
    ),
}  # fmt: skip
C = {
    **{why: CPP[why] for why in ("a sign is all that is left", "a real number that only begins")},
    "a number that is none leaves the variable alone": (
        "fast_in",
        'int main(void) { double x = 7; char s[9] = ""; int got = scanf("%lf", &x); int more = scanf("%s", s); '
        'printf("%d %g %d %s\\n", got, x, more, s); return 0; }',
        "abc",
    ),
    "numbers without blanks between": (
        "fast_in",
        'int main(void) { double a, b; char op; while (scanf("%lf%c%lf", &a, &op, &b) == 3) '
        'printf("%g %c %g\\n", a, op, b); return 0; }',
        "3+4 5.5-2 1e3*2e-1 1.2.3 +5/-6",
    ),
    "real numbers that are none": (
        "fast_in",
        'int main(void) { double x; char s[99]; for (int k = 0; k < 14; k++) { x = 7; '
        'int got = scanf("%lf", &x); printf("%d %g ", got, x); if (got == 0 && scanf("%s", s) == 1) printf("%s", s); '
        'printf("\\n"); } return 0; }',
        "5e 1e999 -1e999 inf -nan 0x10 0x1.8p1 infinity . - 1e-999 1e+ 5e1x",
    ),
    "whole numbers out of range": (
        "fast_in",
        'int main(void) { int a = 0; unsigned b = 0; long long c = 0; short d = 0; '
        'int got = scanf("%d %u %lld %hd", &a, &b, &c, &d); '
        'printf("%d %d %u %lld %d\\n", got, a, b, c, d); return 0; }',
        "3000000000 -1 99999999999999999999 70000",
    ),
    "a letter of several bytes is asked for": (
        "fast_in",
        'int main(void) { int x = 0; int got = scanf("é%d", &x); printf("%d %d", got, x); return 0; }',
        "é5",
    ),
    "a function that prints is called in an argument": (
        "fast_out",
        'static int f(int k) { printf("in %d, ", k); return k * 2; }\n'
        'int main(void) { printf("f is %d\\n", f(2)); return 0; }',
        "",
    ),
    "a letter of several bytes": (
        "fast_out", 'int main(void) { printf("%d°%d", 20, 30); printf("é"); return 0; }', ""),
    "a text that is not there": (
        "fast_out",
        'int main(int n, char** v) { char* s = n > 5 ? v[0] : 0; printf("%s|%d\\n", s, 5); return 0; }',
        "",
    ),
    "tokens lie across the ends of buffers": (
        "fast_in",
        "int main(void) { long long n; double x, y, t = 0; char w[20]; int k, h = 0; "
        'while (scanf("%lld%lf%s%lf%d", &n, &x, w, &y, &k) == 5) t += x + y, h = h * 31u + n + k + strlen(w); '
        'printf("%.9f %d", t, h); return 0; }',
        LINES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", CPP)
def test_a_cpp_program_says_the_same(why: str, compile_and_run: Callable[..., str]) -> None:
    check(CPP[why], HEAD, "cpp", compile_and_run)


@pytest.mark.parametrize("why", C)
def test_a_c_program_says_the_same(why: str, compile_and_run: Callable[..., str]) -> None:
    check(C[why], C_HEAD, "c", compile_and_run)


def check(case: tuple[str, str, str], head: str, language: str, compile_and_run: Callable[..., str]) -> None:
    """A rule that declines has nothing to show."""
    rule, body, given = case
    text = f"{head}{body}\n"
    if labels(rule, text, language):
        wanted = compile_and_run(text, given, language)
        assert compile_and_run(rewritten(text, rule, language), given, language) == wanted
