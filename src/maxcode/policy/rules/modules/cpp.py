"""C++ for the native functions: vector arithmetic that is accurate to a few 1e-7, and loops around it.

Our own code; the polynomials are Taylor and Abramowitz-Stegun series.  It is compiled without -ffast-math, so that NaN
and the order of rounding stay as written.
"""

from __future__ import annotations

FLAGS = '("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fopenmp", "-std=c++17")'

MATH = r"""
#include <cmath>
#include <cstdint>
#include <cstring>

// Both keep a NaN that is in x.
static inline float at_least(float x, float y) { return x < y ? y : x; }
static inline float at_most(float x, float y) { return x > y ? y : x; }

// exp(r) - 1 for |r| <= ln(2)/2
static inline float short_expm1(float r) {
    float p = 1.9841270e-4f;
    p = p * r + 1.3888889e-3f;
    p = p * r + 8.3333333e-3f;
    p = p * r + 4.1666667e-2f;
    p = p * r + 1.6666667e-1f;
    p = p * r + 0.5f;
    return p * r * r + r;
}

struct Parts { float rest, power; };  // exp(x) = exp(rest) * power

static inline Parts parted(float x) {
    x = at_most(at_least(x, -87.0f), 88.0f);
    float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
    float rest = (x - n * 0.693145752f) - n * 1.42860677e-6f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float power;
    memcpy(&power, &bits, 4);
    return {rest, power};
}

static inline float exp_(float x) {
    Parts parts = parted(x);
    return short_expm1(parts.rest) * parts.power + parts.power;
}

static inline float expm1_(float x) {
    Parts parts = parted(x);
    return short_expm1(parts.rest) * parts.power + (parts.power - 1.0f);
}

// log(1 + t) for 0 <= t <= 1
static inline float log1p_(float t) {
    float s = t / (2.0f + t), u = s * s;
    float p = 1.0f / 13;
    p = p * u + 1.0f / 11;
    p = p * u + 1.0f / 9;
    p = p * u + 1.0f / 7;
    p = p * u + 0.2f;
    p = p * u + 1.0f / 3;
    return 2.0f * (s + s * u * p);
}

static inline float sigmoid_(float x) { return 1.0f / (1.0f + exp_(-x)); }
static inline float silu_(float x) { return x / (1.0f + exp_(-x)); }

static inline float tanh_(float x) {
    float e = expm1_(2.0f * at_most(at_least(x, -10.0f), 10.0f));
    return e / (e + 2.0f);
}

// Abramowitz and Stegun 7.1.26: 1.5e-7
static inline float gelu_(float x) {
    float z = 0.70710678f * std::fabs(x);
    float t = 1.0f / (1.0f + 0.3275911f * z);
    float p = 1.061405429f;
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    float tail = 0.5f * p * t * exp_(-z * z);  // of the normal distribution, beyond |x|
    return x * (x < 0.0f ? tail : 1.0f - tail);
}

static inline float gelu_tanh_(float x) {
    return x / (1.0f + exp_(-1.59576912f * (x + 0.044715f * x * x * x)));
}

static inline float softplus_(float x) { return at_least(x, 0.0f) + log1p_(exp_(-std::fabs(x))); }

static inline float mish_(float x) {
    float e = exp_(at_most(x, 20.0f)), n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}
"""

# kind -> C++ of the operation on x; {name} is a parameter of the operation
MAPS = {
    "relu": "at_least({x}, 0.0f)", "relu6": "at_most(at_least({x}, 0.0f), 6.0f)", "sigmoid": "sigmoid_({x})",
    "tanh": "tanh_({x})", "silu": "silu_({x})", "mish": "mish_({x})",
    "hardswish": "({x} * at_most(at_least({x} + 3.0f, 0.0f), 6.0f) * (1.0f / 6))",
    "hardsigmoid": "(at_most(at_least({x} + 3.0f, 0.0f), 6.0f) * (1.0f / 6))",
    "softsign": "({x} / (1.0f + std::fabs({x})))", "abs": "std::fabs({x})", "square": "({x} * {x})", "neg": "(-{x})",
    "exp": "exp_({x})", "leaky_relu": "({x} > 0.0f ? {x} : {x} * {negative_slope})",
    "hardtanh": "at_most(at_least({x}, {min_val}), {max_val})",
    "elu": "({x} > 0.0f ? {x} : {alpha} * expm1_({x}))",
    "add": "({x} + {y})", "sub": "({x} - {y})", "mul": "({x} * {y})", "div": "({x} / {y})",
}  # fmt: skip

MAP = r"""
extern "C" void run({parameters}float *y, long cols, long period, long total, int threads) {{
    const long rows = (total + cols - 1) / cols;
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (long row = 0; row < rows; row++) {{
        const long start = row * cols, length = total - start < cols ? total - start : cols;
{row_values}        #pragma omp simd
        for (long j = 0; j < length; j++) {{
            const long i = start + j;
{steps}            y[i] = {result};
        }}
    }}
}}
"""

CALL = '''
{library}


def {name}({arguments}):
    """{told}"""
{body}
    {name}_code.run({given}, ctypes.c_int(torch.get_num_threads()))
    return y
'''


def call(name: str, source: str, arguments: list[str], body: list[str], told: str, given: list[str]) -> str:
    """The text of a native function: its C++ ``run``, and the Python around it, which makes ``y``."""
    library = f'{name}_code = load(r"""{MATH}{source}""", {FLAGS})'
    lines = "\n".join(f"    {line}" for line in body)
    return CALL.format(library=library, name=name, arguments=", ".join(arguments), told=told, body=lines,
                       given=", ".join(given))  # fmt: skip


def pointer(name: str) -> str:
    """The memory of a tensor as an argument."""
    return f"ctypes.c_void_p({name}.data_ptr())"


def longs(*written: str | int) -> list[str]:
    """Whole numbers as arguments."""
    return [f"ctypes.c_long({one})" for one in written]


# Each reads ``at(j)``, element j of the row, and ``cols`` of them; ``y`` is the output.
_SCAN = """
        float most = -INFINITY;
        double sum = 0;
        for (long from = 0; from < cols; from += BLOCK) {
            const long count = cols - from < BLOCK ? cols - from : BLOCK;
            float block[BLOCK], top = most, part = 0;
            #pragma omp simd reduction(max : top)
            for (long j = 0; j < count; j++) {
                block[j] = at(from + j);
                top = top < block[j] ? block[j] : top;
            }
            if (top > most) {
                sum *= std::exp((double)most - top);
                most = top;
            }
            #pragma omp simd reduction(+ : part)
            for (long j = 0; j < count; j++) part += exp_(block[j] - most);
            sum += part;
        }
"""
_SUM = """
        double sum = 0;
        for (long from = 0; from < cols; from += BLOCK) {
            const long to = cols - from < BLOCK ? cols : from + BLOCK;
            float part = 0;
            #pragma omp simd reduction(+ : part)
            for (long j = from; j < to; j++) part += at(j);
            sum += part;
        }
"""
_EXTREME = """
        float found = at(0);
        #pragma omp simd reduction({name} : found)
        for (long j = 1; j < cols; j++) {{
            const float one = at(j);
            found = found {sign} one ? one : found;
        }}
        y[row] = found;
"""
ROWS = {
    "sum": _SUM + "        y[row] = (float)sum;\n",
    "mean": _SUM + "        y[row] = (float)(sum / cols);\n",
    "amax": _EXTREME.format(name="max", sign="<"),
    "amin": _EXTREME.format(name="min", sign=">"),
    "logsumexp": _SCAN + "        y[row] = (float)(most + std::log(sum));\n",
    "softmax": _SCAN
    + """
        const float share = (float)(1 / sum);
        #pragma omp simd
        for (long j = 0; j < cols; j++) y[start + j] = exp_(at(j) - most) * share;
""",
    "log_softmax": _SCAN
    + """
        const float under = (float)(most + std::log(sum));
        #pragma omp simd
        for (long j = 0; j < cols; j++) y[start + j] = at(j) - under;
""",
    "cross_entropy": _SCAN
    + """
        if (target[row] != -100) {
            loss += most + std::log(sum) - at(target[row]);
            counted += 1;
        }
""",
    "LayerNorm": _SUM
    + """
        const float middle = (float)(sum / cols);
        double square = 0;
        for (long from = 0; from < cols; from += BLOCK) {
            const long to = cols - from < BLOCK ? cols : from + BLOCK;
            float part = 0;
            #pragma omp simd reduction(+ : part)
            for (long j = from; j < to; j++) part += (at(j) - middle) * (at(j) - middle);
            square += part;
        }
        const float scale = (float)(1 / std::sqrt(square / cols + eps));
        #pragma omp simd
        for (long j = 0; j < cols; j++) y[start + j] = (at(j) - middle) * scale * weight[j] + bias[j];
""",
}

ROW = r"""
static const long BLOCK = 1024;

extern "C" void run({parameters}float *y, long rows, long cols, int threads) {{
{first}    #pragma omp parallel for num_threads(threads) schedule(static){clause}
    for (long row = 0; row < rows; row++) {{
        const long start = row * cols;
        const auto at = [=](long j) -> float {{
{steps}            return {result};
        }};
{body}    }}
{last}}}
"""

POOL = r"""
#include <vector>

// Columns first: one row of column results, with a border, then windows of that row.
extern "C" void run(const float *x, float *y, long planes, long height, long width, long high, long wide,
                    int threads) {{
    const long kh = {kh}, kw = {kw}, sh = {sh}, sw = {sw}, ph = {ph}, pw = {pw}, dh = {dh}, dw = {dw};
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (long plane = 0; plane < planes; plane++) {{
        const float *from = x + plane * height * width;
        float *to = y + plane * high * wide;
        std::vector<float> line(width + 2 * pw + dw * kw + sw, {empty});
        float *middle = line.data() + pw;
        for (long i = 0; i < high; i++) {{
            #pragma omp simd
            for (long j = 0; j < width; j++) middle[j] = {empty};
            for (long k = 0; k < kh; k++) {{
                const long at = i * sh + k * dh - ph;
                if (at < 0 || at >= height) continue;
                const float *row = from + at * width;
                #pragma omp simd
                for (long j = 0; j < width; j++) middle[j] = {column};
            }}
            const float *first = line.data();
            #pragma omp simd
            for (long j = 0; j < wide; j++) {{
                float found = first[j * sw];
                for (long k = 1; k < kw; k++) {{
                    const float one = first[j * sw + k * dw];
                    found = {window};
                }}
                to[i * wide + j] = found{scale};
            }}
        }}
    }}
}}
"""
