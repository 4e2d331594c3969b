"""What a kernel uses is named from its text, and hiding it does not help."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from maxcode.code.techniques import TECHNIQUES, cell, describe, find, forbidden, innermost, used
from maxcode.code.techniques.integer_constants import constant
from maxcode.code.techniques.preprocess import expand
from maxcode.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples"
NAIVE = sorted(EXAMPLES / name / f"{name}.c" for name in ("gemm", "stencil", "trsm", "threemm", "correlation"))
HEAD = "void f(int n, int m, const double *A, const double *B, double *C) {\n"


def body(text: str) -> frozenset[str]:
    return used("c", f"{HEAD}{text}\n}}\n")


@pytest.mark.parametrize("path", NAIVE, ids=lambda path: path.stem)
def test_the_naive_kernels_use_nothing(path: Path) -> None:
    assert find("c", path.read_text()) == ()
    assert cell("c", path.read_text()) == ()


PLAIN = {
    "a step of two": "for (int i = 0; i < n; i += 2) A2[i] = A[i];",
    "red and black": "for (int i = 1; i < n - 1; i += 2) C[i] = 0.5 * (C[i - 1] + C[i + 1]);",
    "reordered": "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) { double a = A[i*n+k];"
    " for (int j = 0; j < n; j++) C[i*n+j] += a * B[k*n+j]; }",
    "a triangle": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) C[i * n + j] = A[j * n + i];",
    "a triangle in steps": "for (int i = 0; i < n; i += 2) for (int p = 0; p < i; p++) C[i] -= A[i * n + p];",
    "rows of a flat matrix": "for (int r = 0; r < n * m; r += m) for (int j = 0; j < m; j++) C[r + j] = A[r + j];",
    "rows by product": "for (int r = 0; r < n; r++) for (int k = r * m; k < (r + 1) * m; k++) C[k] = A[k];",
    "a sieve": "for (int i = 2; i * i < n; i++) for (int j = 2 * i; j < n; j += i) C[j] = 1;",
    "a wavefront": "for (int d = 0; d < 2 * n; d++) for (int i = d < n ? 0 : d - n; i < n; i++) C[i] += A[d];",
    "multigrid": "for (int i = 1; i < n; i++) C[i] = 0.25 * A[2 * i - 1] + 0.5 * A[2 * i] + 0.25 * A[2 * i + 1];",
    "a copy and back": "double t[4096]; for (int i = 0; i < n; i++) t[i] = A[i]; for (int i = 0; i < n; i++) C[i] ="
    " t[i];",
    "butterflies": "for (int w = 2; w <= n; w *= 2) for (int i = 0; i < n; i += w) for (int j = 0; j < w / 2; j++)"
    " C[i + j] += A[i + j + w / 2];",
    "a list of sums": "double s[3] = {0}; for (int i = 0; i < n; i++) for (int d = 0; d < 3; d++) s[d] += A[i * m +"
    " d];",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_loops_use_nothing(text: str) -> None:
    assert body(text) == set()


TRIPLE = "for (int i = ii; i < ii + {s}; i++) for (int j = 0; j < n; j++) C[i*n+j] += A[i*n+j];"
BLOCKED = {
    "a literal": "for (int ii = 0; ii < n; ii += 64) " + TRIPLE.format(s=64),
    "clamped": "for (int ii = 0; ii < n; ii += 64) { int e = ii + 64 < n ? ii + 64 : n;"
    " for (int i = ii; i < e; i++) for (int j = 0; j < n; j++) C[i*n+j] += A[i*n+j]; }",
    "a constant": "const int bs = 4 << 4; for (int ii = 0; ii < n; ii += bs) " + TRIPLE.format(s="bs"),
    "an enumerator": "enum { T = 32 * 2 }; for (int ii = 0; ii < n; ii = ii + T) " + TRIPLE.format(s="T"),
    "a macro": "\n#define T (size_t)64u\nfor (int ii = 0; ii < n; ii += T) " + TRIPLE.format(s="T"),
    "a share of n": "int bs = n / 6; for (int ii = 0; ii < n; ii += bs) " + TRIPLE.format(s="bs"),
    "the offset counted": "for (int ii = 0; ii < n; ii += 64) for (int k = 0; k < n; k++)"
    " for (int u = 0; u < 64; u++) C[(ii + u) * n + k] += A[(ii + u) * n + k];",
    "the rest counted": "for (int ii = 0; ii < n; ii += 64) { int h = n - ii; if (h > 64) h = 64;"
    " for (int u = 0; u < h; u++) for (int j = 0; j < n; j++) C[(ii + u) * n + j] += A[(ii + u) * n + j]; }",
    "a while": "int ii = 0; while (ii < n) { " + TRIPLE.format(s=64) + " ii += 64; }",
    "no condition": "int ii = 0; for (;;) { if (ii >= n) break; " + TRIPLE.format(s=64) + " ii += 64; }",
    "a product": "for (int b = 0; b < n / 64; b++) for (int i = b * 64; i < (b + 1) * 64; i++)"
    " for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + j];",
    "a shift": "for (int b = 0; b < n >> 6; b++) { int s = b << 6; for (int i = s; i < s + 64; i++)"
    " for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + j]; }",
    "two in one": "for (int t = 0; t < (n / 64) * (n / 64); t++) { int ii = (t / (n / 64)) * 64; "
    + TRIPLE.format(s=64)
    + " }",
}


@pytest.mark.parametrize("text", BLOCKED.values(), ids=BLOCKED)
def test_loops_in_blocks_are_tiling_however_they_are_written(text: str) -> None:
    assert body(text) == {"tiling"}


def test_a_block_that_another_function_works_on_is_tiling() -> None:
    text = """
    #define MIN(a, b) ((a) < (b) ? (a) : (b))
    static void block(int n, int M, const double *A, double *C) {
        for (int i = 0; i < M; i++) for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + j];
    }
    void f(int n, const double *A, double *C) {
        for (int ii = 0; ii < n; ii += 48) { int M = MIN(48, n - ii); block(n, M, A + ii * n, C + ii * n); }
    }"""
    assert used("c", text) == {"tiling"}
    assert cell("c", text) == ("tiling", "tile~32")


def test_blocking_by_recursion_is_tiling() -> None:
    text = """
    static void part(int lo, int hi, const double *A, double *C) {
        if (hi - lo <= 64) { for (int i = lo; i < hi; i++) C[i] += A[i]; return; }
        int mid = (lo + hi) / 2;
        part(lo, mid, A, C); part(mid, hi, A, C);
    }"""
    assert used("c", text) == {"tiling"}


UNROLLED = {
    "four sums": "double s = 0, t = 0; for (int i = 0; i < n; i += 2) { s += A[i] * B[i]; t += A[i + 1] * B[i + 1]; }",
    "one long sum": "double s = 0; for (int i = 0; i < n; i += 2) s += A[i] * B[i] + A[i + 1] * B[i + 1];",
    "unroll and jam": "for (int i = 0; i < n; i += 2) for (int j = 0; j < n; j++) { double p = 0, q = 0;"
    " for (int k = 0; k < n; k++) { p += A[i * n + k] * B[k * n + j]; q += A[(i + 1) * n + k] * B[k * n + j]; }"
    " C[i * n + j] = p; C[(i + 1) * n + j] = q; }",
    "pointers to rows": "for (int i = 0; i < n; i += 3) { const double *a = A + i * n, *b = a + n, *c = b + n;"
    " double p = 0, q = 0, r = 0; for (int k = 0; k < n; k++) { p += a[k] * B[k]; q += b[k] * B[k]; r += c[k] * B[k]; }"
    " C[0] += p + q + r; }",
    "register blocks": "for (int i = 0; i < n; i += 4) { double s[4] = {0}; for (int k = 0; k < n; k++)"
    " for (int u = 0; u < 4; u++) s[u] += A[(i + u) * n + k]; for (int u = 0; u < 4; u++) C[i + u] = s[u]; }",
    "a counter times four": "for (int b = 0; b < n / 4; b++) { C[4 * b] = A[4 * b] * 2; C[4 * b + 1] = A[4 * b + 1] *"
    " 2; }",
    "a pragma": "\n#pragma GCC unroll 8\nfor (int i = 0; i < n; i++) C[i] = A[i];",
}


@pytest.mark.parametrize("text", UNROLLED.values(), ids=UNROLLED)
def test_repeated_bodies_and_register_blocks_are_unrolling(text: str) -> None:
    assert body(text) == {"unrolling"}


PACKED = {
    "a panel": "static double P[4096]; for (int k = 0; k < n; k++) for (int v = 0; v < m; v++) P[k * m + v] = B[k * n"
    " + v];",
    "through a variable": "double P[512]; for (int k = 0; k < n; k++) { double t = B[k * n]; P[k] = t; }",
    "a walking pointer": "double *P = malloc(n * 8), *q = P; for (int k = 0; k < n; k++) *q++ = B[k * n + m];",
    "memcpy": "double P[512]; for (int k = 0; k < n; k++) memcpy(P + k * 8, &B[k * n], 64);",
    "transposed": "double *T = malloc(n * n * 8); for (int k = 0; k < n; k++) for (int j = 0; j < n; j++)"
    " T[j * n + k] = B[k * n + j];",
}


@pytest.mark.parametrize("text", PACKED.values(), ids=PACKED)
def test_parts_copied_into_a_buffer_are_packing(text: str) -> None:
    assert body(text) == {"packing"}


def test_packing_in_a_function_of_its_own_is_found() -> None:
    text = """
    static double panel[1 << 16];
    static void pack(int n, int j, const double *B, double *P) {
        for (int k = 0; k < n; k++) P[k] = B[k * n + j];
    }
    void f(int n, const double *B, double *C) { for (int j = 0; j < n; j++) { 
        pack(n, j, B, panel); C[j] = panel[n / 2]; } }
    """
    assert used("c", text) == {"packing"}


NAMED = [
    ("threads", "#pragma omp parallel for\nfor (int i = 0; i < n; i++) C[i] = A[i];"),
    ("threads", "pthread_t t; pthread_create(&t, 0, g, 0);"),
    ("threads", "fork();"),
    ("simd", "#pragma omp simd reduction(+:s)\nfor (int i = 0; i < n; i++) s += A[i];"),
    ("simd", "#pragma GCC ivdep\nfor (int i = 0; i < n; i++) C[i] = A[i];"),
    ("simd", "typedef double v8 __attribute__((vector_size(64))); v8 x = {0};"),
    ("simd", "__m512d x = _mm512_setzero_pd();"),
    ("simd", "x = __builtin_ia32_addpd512(a, b);"),
    ("restrict", "double *restrict p = C;"),
    ("restrict", "double *__restrict__ p = C;"),
    ("pragmas", "#pragma GCC push_options\n"),
    ("pragmas", "A = __builtin_assume_aligned(A, 64);"),
    ("prefetch", "__builtin_prefetch(A + 8);"),
    ("assembly", '__asm__ volatile ("vaddpd %zmm0, %zmm1, %zmm2");'),
    ("libraries", "cblas_dgemm(1, 2, 3);"),
    ("libraries", 'dlopen("x.so", 1);'),
]


@pytest.mark.parametrize(("technique", "text"), NAMED)
def test_names_give_techniques_away(technique: str, text: str) -> None:
    assert body(text) == {technique}


OUTSIDE = [
    ("simd", "#include <immintrin.h>\n"),
    ("threads", "#include <omp.h>\n"),
    ("pragmas", '#pragma GCC optimize("Ofast")\n'),
    ("pragmas", '__attribute__((target("avx512f"))) void f(void) {}\n'),
    ("pragmas", "[[gnu::optimize(3)]] void f(void) {}\n"),
    ("simd", "__attribute__((simd)) double f(double x) { return x; }\n"),
    ("assembly", '__attribute__((section(".text"))) const char code[] = "\\x90";\n'),
]


@pytest.mark.parametrize(("technique", "text"), OUTSIDE)
def test_headers_attributes_and_pragmas_give_techniques_away(technique: str, text: str) -> None:
    assert used("c", text) == {technique}


def test_options_in_a_pragma_count_as_what_they_turn_on() -> None:
    assert used("c", '#pragma GCC optimize("tree-parallelize-loops=4")\n') == {"pragmas", "threads"}
    assert used("c", '#pragma GCC optimize("unroll-loops")\n') == {"pragmas", "unrolling"}


def test_cpp_threads_are_found_with_and_without_their_namespace() -> None:
    assert used("cpp", "void f() { std::thread t(g); t.join(); }") == {"threads"}
    assert used("cpp", "using namespace std; void f() { auto t = async(g); }") == {"threads"}
    assert used("cpp", "void f() { sort(std::execution::par, a, b); }") == {"threads"}


def test_comments_and_strings_fool_nobody() -> None:
    assert (
        body('// _mm512_add_pd\n/* #pragma omp parallel\n __asm__ */ puts("restrict _mm256_x pthread_create");')
        == set()
    )
    assert body("// \\\n pthread_create()\n") == set()
    assert body('puts("/*"); pthread_create(); puts("*/");') == {"threads"}


EVASIONS = {
    "a macro for a type": ("simd", "\n#define V __m512d\nV x;"),
    "a pasted name": ("simd", "\n#define J(a, b) a##b\n#define K(a, b) J(a, b)\nK(_mm512, _add_pd)(x, y);"),
    "a pasted pragma": ("threads", "\n#define P(x) _Pragma(#x)\nP(omp parallel for) for (int i = 0; i < n; i++)"
    " C[i] = 0;"),
    "a pragma's parts in macros": ("threads", "\n#define O omp parallel\n#define P(x) Q(x)\n#define Q(x)"
    " _Pragma(#x)\nP(O) {}"),
    "a spliced name": ("simd", "x = _mm51\\\n2_add_pd(x, y);"),
    "a digraph": ("threads", "\n%:pragma omp parallel\n{}"),
    "a spliced directive": ("threads", "\n#pragma \\\n omp parallel\n{}"),
    "a comment in a directive": ("threads", "\n#/* */pragma/*\n*/omp parallel\n{}"),
    "a variadic macro": ("assembly", "\n#define ID(...) __VA_ARGS__\nID(__as)ID(m__);\nID(asm)(\"nop\");"),
    "a keyword as a macro's argument": ("restrict", "\n#define D(q) double *q p\nD(restrict);"),
    "a loop macro": (
        "tiling",
        "\n#define FOR(i, a, b, s) for (int i = (a); i < (b); i += (s))\n"
        "FOR(ii, 0, n, 64) FOR(i, ii, ii + 64, 1) for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + j];",
    ),
    "two meanings": ("hidden", "\n#ifdef __SSE2__\n#define S 64\n#else\n#define S 1\n#endif\nfor (int i = 0; i < n;"
    " i += S) ;"),
    "a brace in a condition": ("hidden", "\n#ifdef NEVER\n}\n#endif\n"),
    "a loop of jumps": ("hidden", "int i = 0; again: C[i] = A[i]; if (++i < n) goto again;"),
    "a text behind a word that ends in R": ("assembly", '\n#define ERR ""\nf(ERR"("); asm("nop"); f(ERR")");'),
    "a character of several bytes": ("assembly", "f(L'\"'); asm(\"nop\"); f(L'\"');"),
    "digits in groups": ("assembly", "f(1'000); asm(\"nop\"); f(1'000);"),
    "a pushed macro": ("hidden", '\n#pragma push_macro("n")\n'),
    "counted names": ("hidden", "int x = __COUNTER__;"),
}  # fmt: skip


@pytest.mark.parametrize(("technique", "text"), EVASIONS.values(), ids=EVASIONS)
def test_hiding_a_technique_does_not_help(technique: str, text: str) -> None:
    assert technique in body(text)


def test_a_condition_that_the_text_decides_is_decided() -> None:
    assert body("\n#if 0\n}}} pthread_create();\n#endif\n") == set()
    assert body("\n#define W 8\n#if W > 4 && defined(W)\nfork();\n#else\n}\n#endif\n") == {"threads"}
    assert body("\n#ifndef T\n#define T 1\n#endif\nfor (int i = 0; i < n; i += T) C[i] = 0;") == set()


def test_a_text_behind_a_word_that_ends_in_r_ends_as_any_other() -> None:
    assert body('printf(COLOR"(%d) x\\n", n);\nint y = 1;') == set()


def test_a_text_that_cannot_be_read_is_hidden() -> None:
    assert used("c", "void f( { for ((;;) }") == {"hidden"}


@pytest.mark.heavy
def test_a_macro_bomb_ends() -> None:
    bomb = "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(40))
    assert "hidden" in used("c", f"{bomb}int x = A0;\n")


def test_expanding_keeps_the_lines() -> None:
    text = "#define F(a, \\\n  b) a + b\n/* one\n two */ int x =\n F(1,\n 2);\nint y;\n"
    lines = expand(text).text.split("\n")
    assert lines[3:7] == ["int x =", "1 + 2", ";", "int y ;"]


def test_what_is_no_number_of_c_has_no_value_and_python_says_nothing_of_it() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert constant("64if 1else 2", {}) is None
    assert said == []
    assert constant("0x40u + 0b11 + 017 + 8L", {}) == 64 + 3 + 15 + 8


GEMM = """#include <immintrin.h>
#define KC 256
typedef double V __attribute__((vector_size(64)));
static double P[16 * KC];
void gemm(int m, int n, int k, const double *restrict A, const double *restrict B, double *restrict C) {
    for (int kk = 0; kk < k; kk += KC)
        #pragma omp parallel for
        for (int j = 0; j < n; j += 16) {
            for (int p = kk; p < kk + KC; p++)
                for (int v = 0; v < 16; v++) P[(p - kk) * 16 + v] = B[p * n + j + v];
            for (int i = 0; i < m; i += 4) {
                V c[4][2] = {0};
                for (int p = kk; p < kk + KC; p++)
                    for (int u = 0; u < 4; u++)
                        for (int v = 0; v < 2; v++) c[u][v] += A[(i + u) * k + p] * *(V *)(P + (p - kk) * 16 + v * 8);
                for (int u = 0; u < 4; u++)
                    for (int v = 0; v < 2; v++) *(V *)(C + (i + u) * n + j + v * 8) += c[u][v];
            }
        }
}
"""


def test_a_hand_written_gemm_shows_all_it_uses() -> None:
    assert used("c", GEMM) == {"simd", "threads", "tiling", "packing", "unrolling", "restrict"}
    assert cell("c", GEMM) == (
        "packing", "restrict", "simd", "threads", "tiling", "unrolling", "tile~256", "unroll~16", "vector~8",
    )  # fmt: skip


def test_uses_come_in_the_order_of_lines_with_the_line_as_it_stands() -> None:
    uses = find("c", GEMM)
    assert [use.line for use in uses] == sorted(use.line for use in uses)
    threads = next(use for use in uses if use.technique == "threads")
    assert (threads.line, threads.what) == (7, "#pragma omp parallel for")


def test_layout_comments_and_names_do_not_change_the_cell() -> None:
    other = GEMM.replace("\n", "\n\n").replace("P[", "panel[").replace("(P +", "(panel +").replace("kk", "start")
    assert cell("c", "// mine\n" + other) == cell("c", GEMM)


def test_the_cell_tells_sizes_apart_by_powers_of_two() -> None:
    cells = {size: cell("c", GEMM.replace("KC 256", f"KC {size}")) for size in (100, 127, 128, 200)}
    assert cells[100] == cells[127] != cells[128] == cells[200]


def test_forbidden_names_what_is_not_permitted_and_nothing_else() -> None:
    permitted = frozenset({"simd", "tiling", "packing", "unrolling", "restrict"})
    assert [use.technique for use in forbidden("c", GEMM, permitted)] == ["threads"]
    assert forbidden("c", GEMM, permitted | {"threads"}) == ()
    assert {use.technique for use in forbidden("c", GEMM, frozenset())} == used("c", GEMM)


def test_an_unknown_technique_is_bad_input_with_the_nearest_spelling() -> None:
    with pytest.raises(InputError, match="unknown technique 'tilling'; did you mean 'tiling'"):
        forbidden("c", GEMM, frozenset({"tilling"}))
    with pytest.raises(InputError, match="unknown technique 'thread'; did you mean 'threads'"):
        describe("thread")


def test_every_technique_has_a_phrase() -> None:
    assert describe("threads") == "threads: OpenMP, pthreads, std::thread or other processes"
    assert all(describe(name).startswith(f"{name}: ") for name in TECHNIQUES)


def test_other_languages_use_nothing() -> None:
    assert find("python", "import threading  # omp parallel") == ()
    assert cell("python", "x = 1") == ()


@pytest.mark.parametrize("text", ["__attribute__((" * 20_000, "void f(){" + "for(int i=0;i<n;i++)" * 3000 + ";}"])
def test_a_text_too_long_to_be_read_hides_something(text: str) -> None:
    assert used("c", text) == {"hidden"}


def test_the_innermost_loop_shows_the_order_of_loops() -> None:
    dot = "double s = 0; for (int p = 0; p < m; p++) s += A[i * m + p] * B[p * n + j]; C[i * n + j] = s;"
    row = "for (int j = 0; j < n; j++) C[i * n + j] += A[i * m + p] * B[p * n + j];"
    jammed = innermost("c", f"{HEAD}for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {dot} }}\n}}\n")
    streamed = innermost("c", f"{HEAD}for (int i = 0; i < n; i++) for (int p = 0; p < m; p++) {row}\n}}\n")
    assert (jammed.loops, jammed.depth, jammed.step) == (streamed.loops, streamed.depth, streamed.step) == (3, 3, 1)
    assert (jammed.unit, jammed.strided, jammed.fixed, jammed.sums, jammed.stores) == (1, 1, 0, 1, 0)
    assert (streamed.unit, streamed.strided, streamed.fixed, streamed.sums, streamed.stores) == (2, 0, 1, 0, 1)
    assert jammed.operations == streamed.operations == 2


def test_short_loops_belong_to_the_body_around_them() -> None:
    text = (
        "enum { MR = 6, NV = 2, KC = 256 }; static double panel[KC * 64];\n"
        f"{HEAD}double sum[MR][NV];\n"
        "for (int p = 0; p < n; p += 2)\n"
        "  for (int r = 0; r < MR; r++) for (int v = 0; v < NV; v++) sum[r][v] += A[p * MR + r] * panel[p + v];\n}\n"
    )
    found = innermost("c", text)
    assert (found.loops, found.depth, found.step, found.block) == (3, 1, 2, 12)
    assert (found.registers, found.buffer) == (12, 256 * 64)
    assert (found.unit, found.strided, found.fixed) == (1, 1, 1)


def test_a_place_that_follows_the_counter_strides_with_it() -> None:
    far = innermost("c", f"{HEAD}for (int z = 0; z < n; z++) {{ int at = z * n + m; C[at] = A[at - 1]; }}\n}}\n")
    near = innermost("c", f"{HEAD}for (int z = 0; z < n; z++) {{ int at = m * n + z; C[at] = A[at - 1]; }}\n}}\n")
    assert (far.strided, far.unit, near.strided, near.unit) == (2, 0, 0, 2)
    assert innermost("python", "for i in range(3): pass") == innermost("c", f"{HEAD}C[0] = A[0];\n}}\n")
