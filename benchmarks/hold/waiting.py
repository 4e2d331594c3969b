"""Random nests whose values wait for others: filters of columns, recurrences, quotients, pivots, means."""

from __future__ import annotations

from random import Random


def waiting(random: Random) -> str:
    """One of them; some of each are near misses."""
    return random.choice((_filter, _recurrence, _recurrence, _quotients, _pivots, _means))(random)


def _filter(random: Random) -> str:
    place = random.choice(["i * n + j", "i * n + j", "j * m + i"])
    value = f"0.5 * B[{random.choice([place, 'i'])}] + 0.25 * s"
    first = random.choice(["s = 0.0;", "s = A[j];", "s = C[j];"])
    columns = "for (int j = 0; j < n; j++)"
    return f"{columns} {{ {first} for (int i = 0; i < m; i++) {{ A[{place}] = {value}; s = A[{place}]; }} }}\n"


def _recurrence(random: Random) -> str:
    late = random.choice(
        [
            "A[i * n + j - 1]",
            "A[i * n + j + 1]",
            "0.5 * A[i * n + j - 1]",
            "A[i * n + j - 1] / 2.0",
            "A[i * n + j - 2]",
            "A[(i - 1) * n + j]",
        ]
    )
    rest = random.choice(["B[j]", "A[i * n + j + 1]", "A[i * n + j]", "A[(i + 1) * n + j - 1]", "A[m]"])
    value = random.choice([f"({rest} - {late} + B[i]) / 4.0", f"{rest} + 0.25 * {late}"])
    head, op = (
        random.choice(["int j = 2; j < n - 1; j++", "int j = n - 2; j >= 2; j--"]),
        random.choice(["=", "=", "+="]),
    )
    return f"for (int i = 1; i < n - 1; i++) for ({head}) A[i * n + j] {op} {value};\n"


def _quotients(random: Random) -> str:
    under = f"(3.0 + 0.25 * {random.choice(['A[j - 1]', 'A[j]', 'B[j]', 'C[j + 1]'])})"
    other = random.choice([under, under, "(3.0 + B[j] * B[j])"])
    first, second = random.choice(["A[j]", "B[j]", "C[j]"]), random.choice(["A[j]", "C[j]", "C[j + 1]"])
    return f"for (int j = 1; j < n - 1; j++) {{ {first} = -0.5 / {under}; {second} = ({second} - B[j]) / {other}; }}\n"


def _pivots(random: Random) -> str:
    row, high = random.choice(["k", "k", "(k + 1)"]), random.choice("nm")
    value = f"0.5 * A[i * n + j] - 0.25 * A[i * n + {random.choice('kkj')}] * A[{row} * n + j]"
    loops = f"for (int k = 0; k < n; k++) for (int i = {random.choice('01')}; i < {high}; i++)"
    return f"{loops} for (int j = {random.choice('01')}; j < n; j++) A[i * n + j] = {value};\n"


def _means(random: Random) -> str:
    place = random.choice(["i * n + j", "i * n + j", "j * m + i"])
    last = random.choice(["B[j] *= 0.5;", "B[j] *= 0.5;", "C[j] = B[j + 1];"])
    return f"for (int j = 0; j < n; j++) {{ B[j] = 0.0; for (int i = 0; i < m; i++) B[j] += A[{place}]; {last} }}\n"
