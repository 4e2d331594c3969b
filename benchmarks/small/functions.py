"""Twenty small functions, and what makes their arguments.  The first function of a source is the one that is called.

Some are places for a rule, some only look like one, and some have nothing for any rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

DRAWN = """
import random

def inputs(seed, size):
    rng = random.Random(seed)
"""
WORDS = (
    DRAWN
    + """\
    known = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 9))) for _ in range(size // 4)]
    return (rng.choices(known, k=size),)
"""
)
NUMBERS = (
    DRAWN
    + """\
    return ([rng.randrange(size) for _ in range(size)],)
"""
)
PAIR = (
    DRAWN
    + """\
    return [rng.randrange(4 * size) for _ in range(size)], [rng.randrange(4 * size) for _ in range(size)]
"""
)
ARRAY = """
import numpy as np

def inputs(seed, size):
    return (np.random.default_rng(seed).standard_normal(size),)
"""
ARRAYS = """
import numpy as np

def inputs(seed, size):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(size), rng.random(size)
"""


@final
@dataclass(frozen=True, slots=True)
class Small:
    """A function with its maker of arguments, called with ``size``."""

    source: str
    inputs: str
    size: int

    @property
    def function(self) -> str:
        return self.source.partition("def ")[2].partition("(")[0]

    @property
    def needs_numpy(self) -> bool:
        return "numpy" in self.source


SMALL: dict[str, Small] = {
    "csv lines": Small(
        """
def csv_lines(rows):
    lines = []
    for row in rows:
        line = ""
        for cell in row:
            line = line + str(cell) + ","
        lines.append(line[:-1])
    return lines
""",
        DRAWN
        + """\
    return ([[rng.randrange(10**6) for _ in range(40)] for _ in range(size // 40)],)
""",
        20_000,
    ),
    "new keys": Small(
        """
def new_keys(pairs):
    seen = []
    for left, right in pairs:
        key = f"{left}/{right}"
        if key not in seen:
            seen.append(key)
    return seen
""",
        DRAWN
        + """\
    return ([(rng.randrange(40), rng.randrange(40)) for _ in range(size)],)
""",
        2_000,
    ),
    "without doubles": Small(
        """
def without_doubles(items):
    found = []
    for item in items:
        if item not in found:
            found.append(item)
    return found
""",
        NUMBERS,
        1_000,
    ),
    "in both": Small(
        """
def in_both(ours, theirs):
    return [one for one in ours if one in theirs]
""",
        PAIR,
        600,
    ),
    "word counts": Small(
        """
def word_counts(words):
    counts = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts
""",
        WORDS,
        20_000,
    ),
    "running totals": Small(
        """
def running_totals(values):
    totals = []
    total = 0
    for value in values:
        total += value
        totals.append(total)
    return totals
""",
        NUMBERS,
        20_000,
    ),
    "initials": Small(
        """
def initials(names):
    letters = []
    for name in names:
        if name:
            letters.append(name[0].upper())
    return letters
""",
        WORDS,
        20_000,
    ),
    "matrix product": Small(
        """
def matrix_product(a, b):
    rows, inner, columns = len(a), len(b), len(b[0])
    out = [[0.0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[i][k] * b[k][j]
            out[i][j] = total
    return out
""",
        DRAWN
        + """\
    return tuple([[rng.random() for _ in range(size)] for _ in range(size)] for _ in range(2))
""",
        40,
    ),
    "weighted mean": Small(
        """
import numpy as np

def weighted_mean(values, weights):
    total = 0.0
    weight = 0.0
    for value, share in zip(values, weights):
        total += value * share
        weight += share
    return total / weight
""",
        ARRAYS,
        20_000,
    ),
    "smoothed": Small(
        """
import numpy as np

def smoothed(signal):
    out = np.zeros(len(signal))
    for i in range(1, len(signal) - 1):
        out[i] = (signal[i - 1] + signal[i] + signal[i + 1]) / 3
    return out
""",
        ARRAY,
        20_000,
    ),
    "heat": Small(
        """
import numpy as np

def heat(plate):
    rows, columns = plate.shape
    out = plate.copy()
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            out[i, j] = 0.25 * (plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1])
    return out
""",
        """
import numpy as np

def inputs(seed, size):
    return (np.random.default_rng(seed).random((size, size)),)
""",
        120,
    ),
    "outliers": Small(
        """
import numpy as np

def outliers(values):
    middle = values.mean()
    limit = 2 * values.std()
    count = 0
    beyond = 0.0
    for value in values:
        if abs(value - middle) > limit:
            count += 1
            beyond += abs(value - middle) - limit
    return count, beyond
""",
        ARRAY,
        20_000,
    ),
    "distances": Small(
        """
import numpy as np

def distances(points, home):
    found = []
    for point in points:
        found.append(((point[0] - home[0]) ** 2 + (point[1] - home[1]) ** 2) ** 0.5)
    return found
""",
        """
import numpy as np

def inputs(seed, size):
    rng = np.random.default_rng(seed)
    return rng.random((size, 2)), rng.random(2)
""",
        6_000,
    ),
    "stairs": Small(
        """
def all_stairs(heights):
    return [stairs(int(height)) for height in heights]


def stairs(height):
    if height < 2:
        return 1
    return stairs(height - 1) + stairs(height - 2)
""",
        DRAWN
        + """\
    return ([str(rng.randint(10, size)) for _ in range(10)],)
""",
        18,
    ),
    "binomial": Small(
        """
def binomial(n, k):
    if k == 0 or k == n:
        return 1
    return binomial(n - 1, k - 1) + binomial(n - 1, k)
""",
        """
import random

def inputs(seed, size):
    return size, random.Random(seed).randint(5, size - 5)
""",
        16,
    ),
    "dates": Small(
        """
from datetime import datetime

def days_between(lines):
    found = []
    for line in lines:
        first, last = line.split(",")
        start = datetime.strptime(first, "%Y-%m-%d")
        found.append((datetime.strptime(last, "%Y-%m-%d") - start).days)
    return found
""",
        DRAWN
        + """\
    day = lambda: f"{rng.randint(1990, 2030)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    return ([f"{day()},{day()}" for _ in range(size)],)
""",
        600,
    ),
    "groups": Small(
        """
def groups(rows):
    found = {}
    for name, value in rows:
        if name not in found:
            found[name] = []
        found[name].append(value)
    return {name: max(values) for name, values in found.items()}
""",
        DRAWN
        + """\
    return ([(f"n{rng.randrange(size // 20)}", rng.random()) for _ in range(size)],)
""",
        20_000,
    ),
    "reachable": Small(
        """
def reachable(links, start):
    seen = {start}
    order = []
    queue = [start]
    while queue:
        here = queue.pop(0)
        order.append(here)
        for there in links[here]:
            if there not in seen:
                seen.add(there)
                queue.append(there)
    return order
""",
        DRAWN
        + """\
    return [[rng.randrange(size) for _ in range(4)] for _ in range(size)], rng.randrange(size)
""",
        20_000,
    ),
    "vowels": Small(
        """
def vowels(text):
    count = 0
    i = 0
    while i < len(text):
        if text[i] in "aeiou":
            count += 1
        i += 1
    return count
""",
        """
import random

def inputs(seed, size):
    return ("".join(random.Random(seed).choices("abcdefghijklmnop ", k=size)),)
""",
        40_000,
    ),
    "bubble sort": Small(
        """
def bubble_sort(values):
    values = list(values)
    for end in range(len(values) - 1, 0, -1):
        for i in range(end):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
    return values
""",
        NUMBERS,
        150,
    ),
}
