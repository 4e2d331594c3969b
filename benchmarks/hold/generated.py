# ruff: noqa: E501
"""Random programs for rules_hold.py: loop nests with and without OpenMP, uses of containers, and programs of several files
with templates and macros."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hold.packed import Case

SIZE = 24
_HEAD_CPP = "#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include <vector>\nusing namespace std;\n"
_HEAD_C = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
_DATA = """{type} a[S][S], b[S][S], c[S][S], v[S], w[S], d[S * S];
static void fill(int n)
{{
    for (int i = 0; i < n; i++) {{
        v[i] = i * 3 % 7; w[i] = 1 + i % 5;
        for (int j = 0; j < n; j++) {{ a[i][j] = 1 + (i + 3 * j) % 11; b[i][j] = (i * j) % 13; c[i][j] = i - j; d[i * n + j] = i ^ j; }}
    }}
}}
static double mixed(int n)
{{
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) s = s * 0.75 + a[i][j] + b[j][i] * c[i][j] - d[i * n + j] + v[i] * w[j];
    return s;
}}
"""
_FOR = ("parallel for", "parallel for schedule(static, 4)", "parallel for schedule(dynamic)", "for simd", "simd")
_SUMS = ("parallel for reduction(+:s)", "simd reduction(+:s)", "parallel for simd reduction(+:s) schedule(static)")


def generated(count: int, seed: int) -> Iterator[Case]:
    """``count`` programs; number k of a seed is always the same."""
    for number in range(count):
        generator = Random(f"{seed} {number}")
        yield (_nests, _several, _containers)[number % 3](generator, f"generated/{seed}-{number}")


def _nests(generator: Random, name: str) -> Case:
    """Functions with loop nests; a third of them with OpenMP pragmas, a third without any."""
    tongue, threads = generator.choice(("c", "cpp")), generator.random() < 0.6
    kind = generator.choice(("double", "int", "long", "float"))
    head = (_HEAD_C if tongue == "c" else _HEAD_CPP) + f"#define S {SIZE}\n"
    body = [_nest(generator, threads) for _ in range(6)]
    functions = "".join(f"static double nest_{k}(int n)\n{{\n{text}}}\n" for k, text in enumerate(body))
    calls = "".join(f'    fill(n); printf("%.6f ", nest_{k}(n)); printf("%.6f\\n", mixed(n));\n' for k in range(6))
    main = f"int main({'void' if tongue == 'c' else ''})\n{{\n    int n = 17;\n{calls}    return 0;\n}}\n"
    text = _styled(generator, head + _DATA.format(type=kind) + functions + main)
    flags = [generator.choice(("-O1", "-O2", "-O3")), "-std=gnu11" if tongue == "c" else "-std=c++17"]
    flags += ["-fopenmp"] if threads else ["-Wall"] if generator.random() < 0.3 else []
    return Case(name, tongue, {"main.c" if tongue == "c" else "main.cpp": text}, tuple(flags))


def _nest(generator: Random, threads: bool) -> str:
    """One loop nest: the parallel loop writes only elements of its own, so that the result is always the same."""
    pragma = "    #pragma omp {}\n" if threads and generator.random() < 0.7 else ""
    comment = "    // each element on its own\n" if generator.random() < 0.2 else ""
    outer, inner = (f"for (int {x} = {generator.randint(0, 1)}; {x} < n; {x}++)" for x in "ij")
    deep = "for (int k = 0; k < n; k++)"
    kinds = (
        f"{pragma.format('parallel for collapse(2)')}{comment}    {outer}\n        {inner}\n            {deep} c[i][j] += a[i][k] * b[k][j];\n    return c[1][2];\n",
        f"{pragma.format(generator.choice(_FOR[:3]))}{comment}    {outer} {{\n        {inner} {{\n            {deep} c[i][j] += a[i][k] * b[k][j];\n        }}\n    }}\n    return 0;\n",
        f"    double s = 0;\n{pragma.format(generator.choice(_SUMS))}{comment}    {outer} s += v[i] * w[i] + sqrt((double)n);\n    return s;\n",
        f"{pragma.format('parallel for')}    {outer} {{ double t = 0; {inner} t += a[i][j] * v[j]; w[i] = t; }}\n    return w[3];\n",
        f"    for (int r = 0; r < 3; r++) {{\n{pragma.format('simd')}        {outer} v[i] = v[i] + w[i];\n    }}\n    return v[2];\n",
        f"    if (n > 3)\n{pragma.format('parallel for')}        {outer} v[i] = w[i] * 2;\n    else\n        v[0] = 1;\n    return v[1];\n",
        "    int k = 0;\n    while (k < n) { v[k] += k; k++; }\n    do { k--; w[k] += v[k]; } while (k > 0);\n    return w[4];\n",
        "    double s = 0; int i = 0;\nagain:\n    for (; i < n; i++) { s += v[i]; if (i == 5) { i += 2; goto again; } }\n    return s;\n",
        f"    double s = 0;\n    switch (n % 3) {{\n    case 0: {outer} s += v[i]; break;\n    case 2: {outer} s += w[i];  /* on */\n    default: s += 1;\n    }}\n    return s;\n",
    )
    return generator.choice(kinds)


_USES = {
    "map<int, int>": "for (int i = 0; i < n; i++) X[(i * 37) % 101] += i;\n    if (X.find(5) != X.end()) s += X[5];\n    s += X.size() + X.count(7);",
    "map<string, long>": "for (int i = 0; i < n; i++) X[to_string(i % 17)] += i;\n    auto it = X.find(\"3\");\n    if (it != X.end()) s += it->second;",
    "set<int>": "for (int i = 0; i < n; i++) X.insert((i * 31) % 57);\n    s += X.count(3) + X.size();\n    auto it = X.lower_bound(20);\n    if (it != X.end()) s += *it;",
    "queue<pair<int, int>>": "X.push(make_pair(0, 1));\n    while (!X.empty() && s < 500) { auto p = X.front(); X.pop(); s += p.second; X.push({p.first + 1, p.second + 1}); X.push(p); }",
    "deque<int>": "for (int i = 0; i < n; i++) { if (i % 3) X.push_back(i); else X.push_front(-i); }\n    X.push_back(X.front());\n    s += X[2] + X.back() + X.size();",
    "stack<int>": "for (int i = 0; i < n; i++) { X.push(i); if (i % 4 == 3) { s += X.top(); X.pop(); } }",
    "priority_queue<int>": "for (int i = 0; i < n; i++) X.push(i * 7919 % 101);\n    while (!X.empty()) { s = s * 3 % 10007 + X.top(); X.pop(); }",
    "vector<bool>": "X.resize(n);\n    for (int i = 0; i < n; i += 3) X[i] = true;\n    for (int i = 0; i < n; i++) s += X[i] ? i : 1;",
    "vector<pair<int, int>>": "for (int i = 0; i < n; i++) X.push_back(make_pair(i * 5 % 7, i));\n    sort(X.begin(), X.end());\n    for (auto p : X) s = s * 3 % 10007 + p.first * p.second;",
    "vector<int>": "for (int i = 0; i < n; i++) X.push_back(i * 7919 % 1013);\n    sort(X.begin(), X.end());\n    for (size_t i = 0; i < X.size(); i++) s += X[i] * (i % 3);",
    "vector<string>": "for (int i = 0; i < n; i++) X.push_back(string(i % 5, 'a' + i % 3));\n    for (auto t : X) if (t.substr(0, 2) == \"bb\") s += t.size();\n    s += joined(X).size();",
}  # fmt: skip
_CONTAINERS = """#include <algorithm>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <vector>
using namespace std;
static string joined(vector<string> parts) {
    string all;
    for (size_t i = 0; i < parts.size(); i++) all = all + parts[i] + "-";
    return all;
}
"""


def _containers(generator: Random, name: str) -> Case:
    """Functions that use containers, as locals or globals."""
    globals_, functions, calls = "", "", ""
    for k, kind in enumerate(generator.sample(sorted(_USES), 5)):
        use = _USES[kind].replace("X", f"x{k}")
        if generator.random() < 0.4:
            globals_ += f"{kind} x{k};\n"
            functions += f"long use_{k}(int n) {{\n    long s = 0;\n    {use}\n    return s;\n}}\n"
        else:
            functions += f"long use_{k}(int n) {{\n    long s = 0;\n    {kind} x{k};\n    {use}\n    return s;\n}}\n"
        calls += f"    cout << use_{k}(n) << {generator.choice(('endl', repr(chr(10))))};\n"
    read = generator.choice(("cin >> n;", 'if (scanf("%d", &n) != 1) return 1;'))
    main = f"int main() {{\n    int n = 40;\n    {read}\n{calls}}}\n"
    used = joined if (joined := "joined" in functions) else False
    head = _CONTAINERS if used else _CONTAINERS.split("static string")[0]
    text = _styled(generator, head + globals_ + functions + main)
    flags = (generator.choice(("-std=c++17", "-std=c++20", "-std=c++14")), generator.choice(("-O1", "-O2")))
    return Case(name, "cpp", {"main.cpp": text}, flags, ("50\n",))


_MACROS = (
    "#define FOR(i, n) for (int i = 0; i < (int)(n); ++i)\n",
    "#define FOR(i, n) for (int i = 0, stop_##i = (n); i < stop_##i; i++)\n",
    "#define LOOP(n) for (int i = 0; i < (n); i++)\n#define FOR(i, n) LOOP(n)\n",
)
_TEMPLATES = (
    "template <class T> T folded(const std::vector<T> &v, T s) {{ FOR(i, v.size()) s = s {op} v[i]; return s; }}\n",
    "template <typename T, int K = {k}> T folded(std::vector<T> v, T s) {{ FOR(i, v.size()) s = (s {op} v[i]) % K; return s; }}\n",
    "template <class T> struct Fold {{ T s; void add(T x) {{ s = s {op} x; }} }};\n"
    "template <class T> T folded(std::vector<T> v, T s) {{ Fold<T> f{{s}}; for (auto x : v) f.add(x); return f.s; }}\n",
)
_PARTS = (
    "long part_{k}(std::vector<long> v) {{ long s = {k}; FOR(i, v.size()) if (v[i] % 2 == 0) s += v[i] * i; return s; }}\n",
    "long part_{k}(std::vector<long> v) {{ std::string t; FOR(i, v.size()) t = t + std::to_string(v[i]); seen[{k}]++; return (long)t.size(); }}\n",
    "long part_{k}(std::vector<long> v) {{ std::map<long, int> m; for (auto x : v) m[x % 7]++; long s = 0; for (auto e : m) s = s * 3 + e.second; return s; }}\n",
    "long part_{k}(std::vector<long> v) {{ std::sort(v.begin(), v.end(), [](long a, long b) {{ return a % 11 < b % 11 || (a % 11 == b % 11 && a < b); }}); return v[0] + LAST(v); }}\n",
    "long part_{k}(std::vector<long> v) {{ return folded<long>(v, {k} + 1); }}\n",
)
_SHARED = "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"


def _several(generator: Random, name: str) -> Case:
    """A main file, a header with macros and a template, and a second source that has globals which both use."""
    op, k = generator.choice(("+", "^", "*")), generator.choice((97, 1009))
    macros = generator.choice(_MACROS) + "#define LAST(v) ((v)[(v).size() - 1])\n"
    kinds = [generator.choice(_PARTS) for _ in range(4)]
    parts = [kind.format(k=number) for number, kind in enumerate(kinds)]
    declared = "".join(f"long part_{number}(std::vector<long> v);\n" for number in range(4))
    template = generator.choice(_TEMPLATES).format(op=op, k=k)
    header = f"#ifndef SHARED_H\n#define SHARED_H\n{_SHARED}{macros}extern int seen[4];\n{template}{declared}#endif\n"
    mine = generator.choice(((0, 1), (1, 2), (0, 3)))
    here = "".join(parts[number] for number in mine)
    there = "".join(part for number, part in enumerate(parts) if number not in mine)
    threads = generator.random() < 0.4
    pragma = "    #pragma omp parallel for reduction(+:total)\n" if threads else ""
    calls = "".join(f"    cout << part_{number}(v) << ' ' << seen[{number}] << endl;\n" for number in range(4))
    main = (
        f'#include <iostream>\n#include "shared.h"\nusing namespace std;\n{here}int main() {{\n    int n = 0;\n    cin >> n;\n'
        f"    vector<long> v(n);\n    long total = 0;\n{pragma}    for (int i = 0; i < n; i++) {{ v[i] = (i * 37L) % 101; total += v[i]; }}\n"
        f"{calls}    cout << total << endl;\n    return 0;\n}}\n"
    )
    other = f'#include "shared.h"\nint seen[4];\n{there}'
    flags = (
        generator.choice(("-std=c++17", "-std=c++20")),
        generator.choice(("-O1", "-O2")),
        *(["-fopenmp"] if threads else []),
    )
    texts = [("main.cpp", _styled(generator, main)), ("other.cpp", _styled(generator, other))]
    first, second = texts if generator.random() < 0.6 else reversed(texts)
    return Case(name, "cpp", dict([first, second, ("shared.h", header)]), flags, ("50\n", "3\n"))


def _styled(generator: Random, text: str) -> str:
    """The text with another indentation, or other line ends."""
    style = generator.random()
    if style < 0.2:
        text = text.replace("    ", "\t")
    elif style < 0.4:
        text = text.replace("    ", "  ")
    elif style < 0.5:
        text = text.replace("\n", "\r\n")
    return text
