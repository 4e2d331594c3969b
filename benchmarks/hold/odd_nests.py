"""Random loops that are easily misread: tests, jumps, steps, ends and counters that move, values that are chosen."""

from __future__ import annotations

from random import Random

_READS = ("A[i]", "B[i]", "C[i + 1]", "A[i - 1]", "B[j]", "A[i * n + j]", "C[j * n + i]", "A[0]", "B[n]", "C[i + j]")
_TESTS = (
    "i == 0",
    "i == n - 1",
    "j == 0 || j == m - 1",
    "i == 0 || i == n - 1",
    "m > 2",
    "n > m && m > 1",
    "s > 0.5",
    "B[j] > 0.0",
    "i < m",
    "k > 2",
    "k++ < 3",
    "(k += 2) > 4",
    "j > i",
    "A[i] > B[j] || i == 3",
)
_HEADS = (
    "int {0} = 0; {0} < {1}; {0}++",
    "int {0} = 1; {0} < {1} - 1; {0}++",
    "int {0} = {1} - 1; {0} >= 0; {0}--",
    "int {0} = 0; {0} < {1}; {0} += 2",
    "int {0} = 0; {0} < {1} - {0}; {0}++",
    "int {0} = 0; {0} < {1}; {0} += k",
    "int {0} = 0; {0} <= {1} - 1; ++{0}",
    "int {0} = m & 1; {0} < {1}; {0}++",
    "int {0} = 0; {0} < {1} && k < 40; {0}++",
    "int {0} = 0; {0} < {1} >> 1; {0}++",
    "int {0} = 0; {0} < {1} / 2; {0}++",
    "int {0} = {1}; {0} > 1; --{0}",
    "long {0} = 0; {0} < {1}; {0}++",
    "int {0} = 0; {0} < ({1} < 4 ? {1} : 4); {0}++",
    "int {0} = 0, e = {1}; {0} < e; {0}++",
)


def odd(random: Random) -> str:
    """Two loops with statements of any kind in and between them, and a third after them."""
    outer, inner, last = (random.choice((*_HEADS, *(_HEADS[:2] * 4))) for _ in range(3))
    body = f"{_few(random)} for ({inner.format('j', random.choice('nm'))}) {{ {_few(random)} }} {_few(random, 0)}"
    first = f"for ({outer.format('i', random.choice('nm'))}) {{ int j = 2; {body} }}"
    alone = f"for ({last.format('i', 'n')}) {{ int j = 1; {_few(random)} }}"
    whole = random.choice((first, first, alone, f"{first} {alone}"))
    return f"int k = 1; double s = 0.25, q = 0.5; {whole} C[0] = s; C[1] = q; C[2] = k;\n"


def _few(random: Random, least: int = 1) -> str:
    return " ".join(_statement(random) for _ in range(random.randint(least, 3)))


def _value(random: Random) -> str:
    one, other = random.choice(_READS), random.choice((*_READS, "s", "q", "0.5", "k", "B[k]", "B[k++]", "A[j - 1]"))
    test = random.choice(_TESTS)
    forms = [
        f"0.5 * {one} + 0.25 * {other}",
        f"({one} + {other}) / 4.0",
        f"({one} - 0.5) * ({other})",
        f"(double)({other})",
        f"{test} ? {one} : {other}",
        f"{one} < {other} ? {one} : 0.5 * {other}",
        f"{test} && {one} > 0.0 ? 0.5 : {other}",
        f"0.25 * {other} /* so */ - 0.5 * {one}",
        f"0.5 * {other} // so\n + 0.5 * {one}",
    ]
    return random.choice(forms)


def _statement(random: Random, depth: int = 0) -> str:
    target = random.choice((*_READS, "A[i]", "B[j]", "A[i * n + j]", "s", "q"))
    plain = f"{target} {random.choice(('=', '=', '+=', '-='))} {_value(random)};"
    if random.random() < 0.6 or depth > 1:
        return plain
    inner, other = (_statement(random, depth + 1) for _ in range(2))
    test = random.choice(_TESTS)
    forms = [
        f"if ({test}) {{ {inner} }}",
        f"if ({test}) {{ {inner} }} else {{ {other} }}",
        f"if ({test}) {inner}",
        f"if ({test}) continue;",
        f"if ({test}) break;",
        f"if (i == 0 || i == n - 1) {{ {inner} }} else {{ {other} }}",
        f"{{ double r = {_value(random)}; {target} = r; }}",
        "k = k + 1;",
        "k = 1 + m % 3;",
        "s = 0.25;",
        "q = s;",
    ]
    return random.choice(forms)
