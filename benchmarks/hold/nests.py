"""Random loop nests and random chains of kernel steps, many in one C program, which compares each with its original.

The nests are in bounds only because every array lies in the middle of a larger one: rows run over, windows overlap,
loops form triangles or are empty.  So a step may rely on nothing but what the text proves.  The result of a nest is all
of the memory, with what no access should reach.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import final

import anyio
import anyio.to_thread

from hold.odd_nests import odd
from hold.waiting import waiting
from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.legality import parallel
from maxcode.policy.rules.kernels.nest import changed, put, substituted
from maxcode.policy.rules.kernels.steps import ALL, Permitted
from maxcode.policy.rules.rewriter.runtime import patched
from maxcode.sandbox.sandbox import Job, Mounts, Sandbox

PLAIN = ("-std=gnu17", "-O0", "-w")  # builds fastest
VECTORS = ("-std=gnu17", "-O1", "-ftree-vectorize", "-march=native", "-fopenmp-simd", "-w")  # so that pragmas count
SIGNATURE = "(int n, int m, double *A, double *B, double *C)"
BATCH = 250
SIZES = ((0, 0), (1, 3), (2, 1), (3, 5), (5, 4), (8, 7), (13, 6))
_PIECES = re.compile(r"^(enum \{ (?:TIME|ROWS|TILE)\w* = )\d+", re.MULTILINE)  # made smaller than the nests
REVERSE = "reverse"  # not a step: a loop that is called parallel runs backwards
_HELD_BACK = ("retune", "restrict", "unroll", "prefetch", "pack", "parallel")  # no order changes, or tested elsewhere
STEPS = tuple(
    sorted(step.rule.name for step in ALL if Permitted(templates=False).step(step) or step.rule.name == "parallel")
)
NAMES = (*(name for name in STEPS if name not in _HELD_BACK), REVERSE)

MAIN = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { LENGTH = 4000, MIDDLE = 1800 };
typedef void (*Kernel)(int n, int m, double *A, double *B, double *C);
static double given[3][LENGTH], want[3][LENGTH], got[3][LENGTH];
static double difference(Kernel original, Kernel kernel, int n, int m) {
    double worst = 0.0, largest = 1.0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < LENGTH; i++) given[k][i] = ((i * 7919L + (k + 1) * 104729L + n * 31) % 2003) / 1001.5 - 1.0;
    memcpy(want, given, sizeof given);
    memcpy(got, given, sizeof given);
    original(n, m, want[0] + MIDDLE, want[1] + MIDDLE, want[2] + MIDDLE);
    kernel(n, m, got[0] + MIDDLE, got[1] + MIDDLE, got[2] + MIDDLE);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < LENGTH; i++) {
            double apart = fabs(got[k][i] - want[k][i]);
            if (isfinite(want[k][i]) && fabs(want[k][i]) > largest) largest = fabs(want[k][i]);
            if (got[k][i] != want[k][i] && !(apart <= worst) && !(isnan(got[k][i]) && isnan(want[k][i]))) worst = apart;
        }
    return worst / largest;
}
@KERNELS@
static Kernel pairs[][2] = {@PAIRS@};
int main(void) {
    static const int sizes[][2] = {@SIZES@};
    for (int k = 0; k < (int)(sizeof pairs / sizeof *pairs); k++) {
        double worst = 0.0;
        for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
            double here = difference(pairs[k][0], pairs[k][1], sizes[s][0], sizes[s][1]);
            if (!(here <= worst)) worst = here;
        }
        printf("%.3g\n", worst);
        fflush(stdout);
    }
}
"""


@final
@dataclass(frozen=True, slots=True)
class Variant:
    """A nest, the edits made to it one after the other, and the text after them."""

    original: str
    labels: tuple[str, ...]
    text: str


# ------------------------------------------------------------------------------------------------------------ the nests


def nest(random: Random) -> str:
    """A function ``f`` of one or two nests."""
    bodies = [random.choice(_KINDS)(random) for _ in range(random.choice((1, 1, 2)))]
    scalars = "    double s, q;\n" if any("s " in body or "q " in body for body in bodies) else ""
    return f"void f{SIGNATURE} {{\n{scalars}{''.join(bodies)}}}\n"


def odd_nest(random: Random) -> str:
    """A function ``f`` of loops that are easily misread."""
    return f"void f{SIGNATURE} {{\n{odd(random)}}}\n"


def _head(var: str, low: str, high: str, random: Random) -> str:
    if random.random() < 0.12:
        return f"for (int {var} = {high} - 1; {var} >= {low}; {var}--)"
    return f"for (int {var} = {low}; {var} < {high}; {var}++)"


def _index(random: Random, names: Sequence[str]) -> str:
    """A subscript: of a row and a column, of one variable, or skewed."""
    row, column = (random.choice([*names, *names, "0", "n - 1"]) for _ in range(2))
    row += random.choice(["", "", "", " - 1", " + 1"])
    column += random.choice(["", "", "", " - 1", " + 1"])
    flat = f"({row}) * {random.choice('nnnm')} + {column}"
    return random.choice([flat, flat, flat, flat, column, f"{row} + {column}", f"2 * ({row})", f"{row} - ({column})"])


def _element(random: Random, names: Sequence[str]) -> str:
    return f"{random.choice('AABC')}[{_index(random, names)}]"


def _value(random: Random, names: Sequence[str], more: Sequence[str] = ()) -> str:
    def term() -> str:
        return random.choice(
            [*more, _element(random, names), _element(random, names), f"0.25 * {_element(random, names)}"]
        )

    return random.choice(
        [term(), f"0.5 * {term()} + 0.25 * {term()}", f"0.4 * {term()} * {term()}", f"{term()} - 0.5 * {term()}"]
    )


def _assignment(random: Random, names: Sequence[str]) -> str:
    target = _element(random, names)
    op = random.choice(["=", "=", "+=", "+=", "-=", "*="])
    value = _value(random, names, [target])
    if op == "*=":
        value = "0.5"
    if random.random() < 0.1:
        return f"{target} = {target} + 0.5 * {_element(random, names)};"
    return f"{target} {op} {value};"


def _loops(random: Random) -> str:
    """Up to three loops, triangles among them, with statements at any depth."""
    return _level(random, [], random.choice((1, 2, 2, 3, 3)))


def _level(random: Random, names: list[str], depth: int) -> str:
    var = "ijk"[len(names)]
    around = [*names, *(f"{name} + 1" for name in names)]
    low = random.choice(["0", "0", "0", "1", *around])
    high = random.choice(["n", "n", "n", "m", "n - 1", *around])
    inner = [*names, var]
    parts = [_assignment(random, inner) for _ in range(random.choice((0, 0, 0, 1, 2)))]
    if depth > 1:
        parts.insert(random.randint(0, len(parts)), _level(random, inner, depth - 1))
    if not parts:
        parts = [_assignment(random, inner) for _ in range(random.choice((1, 1, 2)))]
    return f"{_head(var, low, high, random)} {{ {' '.join(parts)} }}\n"


def _reduction(random: Random) -> str:
    """A sum in a scalar or an element, with something before and after it; or one that is the same for a whole row."""
    if random.random() < 0.15:
        adds = f"for (int k = 0; k < m; k++) r += 0.5 * B[{random.choice('ij')} * n + k];"
        end = f"A[i * n + j] {random.choice(['=', '+='])} {random.choice(['r', '0.5 * r', 'r * C[j]'])};"
        heads = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
        return f"{heads} {{ double r = 0.0; {adds} {end} }}\n"
    target = random.choice(["s", "q", "r", "r", "C[i]", "A[i * n + j]", "B[j]"])
    inner = _head("k", random.choice(["0", "1", "i", "j + 1"]), random.choice(["n", "m", "i", "j"]), random)
    adds = f"{target} {random.choice(['+=', '+=', '-='])} {_value(random, 'ijk')};"
    if random.random() < 0.3:
        adds += f" {_assignment(random, 'ijk')}"
    end = (
        ""
        if "[" in target and random.random() < 0.5
        else f"{_element(random, 'ij')} {random.choice(['=', '+='])} 0.5 * {target};"
    )
    start = random.choice(["0.0", _value(random, "ij")])
    across = _head("j", random.choice(["0", "i"]), random.choice(["n", "m", "i"]), random)
    first = f"{'double ' if target == 'r' else ''}{target} = {start};"
    return f"{_head('i', '0', 'n', random)} {across} {{ {first} {inner} {{ {adds} }} {end} }}\n"


def _stencil(random: Random) -> str:
    """Time steps over rows or planes, in place or between two arrays."""
    plane = random.random() < 0.6
    ahead = random.choice((1, 1, 1, 2))

    def point(array: str, i: int, j: int) -> str:
        return f"{array}[(i + {i}) * n + j + {j}]" if plane else f"{array}[i + {i}]"

    def near(array: str) -> str:
        places = [(random.randint(-ahead, ahead), random.randint(-1, 1)) for _ in range(random.randint(1, 4))]
        return " + ".join(f"0.2 * {point(array, *place)}" for place in places)

    def sweep(target: str, source: str) -> str:
        low, high = random.choice((("1", "n - 1"), ("0", "n"), ("2", "n - 1"), ("1", "m")))
        rows = f"for (int i = {low}; i < {high}; i++)"
        columns = " for (int j = 1; j < n - 1; j++)" if plane else ""
        return f"{rows}{columns} {point(target, 0, 0)} {random.choice(['=', '=', '+='])} {near(source)};"

    chains = random.choice((["AA"], ["BA", "AB"], ["BA", "AB"], ["BA", "CB", "AC"], ["BA", "AC"]))
    first = "for (int j = 0; j < n; j++) A[j] = C[t];" if plane and random.random() < 0.3 else ""
    return f"for (int t = 0; t < m; t++) {{ {first} {' '.join(sweep(*chain) for chain in chains)} }}\n"


def _cube(random: Random) -> str:
    """Three loops in any order around a sum of products."""
    heads = " ".join(f"for (int {var} = 0; {var} < {random.choice('nnm')}; {var}++)" for var in random.sample("ijk", 3))
    target = random.choice(["C[i * n + j]", "C[i * n + j]", "C[j * n + i]", "B[i * m + k]", "A[i + j]"])
    factors = f"0.3 * {_element(random, 'ijk')} * {_element(random, 'ijk')}"
    return f"{heads} {target} {random.choice(['+=', '-='])} {factors};\n"


def _elimination(random: Random) -> str:
    """A row of a factorisation: an element is updated from all before it, with a statement behind the updates."""
    row = random.choice(["i * n + {}", "i * n + {}", "{}", "{} * n + i", "2 * {}"])

    def at(var: str) -> str:
        return f"A[{row.format(var)}]"

    low, high = random.choice(["0", "0", "1", "i", "i + 1"]), random.choice(["n", "n", "i", "m"])
    factors = [f"{at('k')} * B[k * n + j]", f"{at('k')} * A[k * n + j]", "B[k] * A[(k - 1) * n + j]"]
    update = f"0.3 * {random.choice([*factors, _element(random, 'ijk')])}"
    ends = [f"{at('j')} *= 0.5;", f"{at('j')} = 0.5 * {at('j')} + B[j];", f"B[j] = {at('j')};", ""]
    end = random.choice([*ends, _assignment(random, "ij")])
    body = f"for (int k = {low}; k < j; k++) {{ {at('j')} -= {update}; }} {end}"
    if random.random() < 0.3:
        body = f"double r = {at('j')}; for (int k = {low}; k < j; k++) {{ r -= {update}; }} {at('j')} = 0.5 * r;"
    return f"for (int i = 0; i < n; i++) for (int j = {low}; j < {high}; j++) {{ {body} }}\n"


def _sweep(random: Random) -> str:
    """A sweep in place along a row: a sum of what was, of what comes, and of the iteration before; or the lesser of
    two values, of which one stays."""
    head = f"for (int i = 0; i < n; i++) {_head('j', random.choice('01'), 'n', random)}"
    if random.random() < 0.4:
        still = random.choice(["A[i * n + i]", "A[i * n]", "A[(i - 1) * n + 2]", "A[i * n + m]", "A[i * m + n]"])
        far = random.choice([f"{still} + 0.25 * A[i + j]", f"0.5 * {still}", f"{still} - B[j]"])
        return f"{head} A[i * n + j] = A[i * n + j] < {far} ? A[i * n + j] : {far};\n"
    near = ["A[i * n + j - 1]", "A[i * n + j]", "A[(i - 1) * n + j]", "A[i * n + j + 1]", "0.5 * B[j]", "C[i] * B[j]"]
    near += ["A[i * n + i]", "A[j - 1]", "A[i]"]
    terms = random.sample(near, random.randint(2, 4))
    total = "".join(f" {random.choice('+-')} {term}" for term in terms)[3:]
    value = random.choice(
        [total, f"({total}) / 4.0", f"({total}) * 0.25", f"{terms[0]} > {terms[1]} ? {terms[0]} : 0.5"]
    )
    target = random.choice(["A[i * n + j]", "A[i * n + j]", "A[j]", "A[i * n + m]"])
    more = ["", "", "", "A[0] = B[j];", "C[j] = A[i * n + j - 1];", _assignment(random, "ij")]
    body = f"{random.choice(more)} {target} = {value}; {random.choice(more)}"
    return f"{head} {{ {body} }}\n"


_KINDS: tuple[Callable[[Random], str], ...] = (
    _loops,
    _loops,
    _cube,
    _reduction,
    _reduction,
    _stencil,
    _elimination,
    _sweep,
    waiting,
    waiting,
)


# ------------------------------------------------------------------------------------------------------------ the steps


def variants(random: Random, original: str, most: int = 3) -> Iterator[Variant]:
    """The nest after each step of a random chain; steps that have edits are drawn with the same probability."""
    made = Variant(original, (), original)
    for _ in range(random.randint(1, most)):
        edit = _drawn(random, Unit("c", made.text))
        if edit is None:
            return
        text = patched(made.text.encode(), list(edit.change.patches))
        text = _PIECES.sub(lambda one: f"{one[1]}{random.choice((1, 2, 3, 5))}", text)
        made = Variant(original, (*made.labels, edit.label), text)
        yield made


def _drawn(random: Random, unit: Unit) -> Edit | None:
    for name in random.sample(NAMES, len(NAMES)):
        found = list(
            _reversed(unit) if name == REVERSE else next(s.rule.find for s in ALL if s.rule.name == name)(unit)
        )
        kinds = sorted({edit.kind for edit in found})
        if kinds:
            kind = random.choice(kinds)
            return random.choice([edit for edit in found if edit.kind == kind])
    return None


def _reversed(unit: Unit) -> Iterator[Edit]:
    """Loops that are called parallel, run from their end."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            loop = spot.loop
            if loop.step == "1" and not loop.pragmas and parallel(loop, spot.above):
                names = {loop.var: f"({loop.low}) + ({loop.high}) - 1 - {loop.var}"}
                body = changed(loop.body, lambda text, names=names: substituted(text, names))  # type: ignore[misc]
                change = kernel.change(put(kernel.body, spot.path, [replace(loop, body=body)]))
                yield kernel.edit(REVERSE, spot.name, (), "runs backwards", change)


def batch(seed: int, number: int, size: int, make: Callable[[Random], str] = nest) -> list[Variant]:
    """At least ``size`` variants of random nests; the same numbers give the same variants."""
    random, made = Random(f"{seed} {number}"), list[Variant]()
    while len(made) < size:
        made += variants(random, make(random))
    return made


# ---------------------------------------------------------------------------------------------------------- the program


def program(made: Sequence[Variant]) -> str:
    """A C program that prints, for each variant, by how much its results differ from those of its original."""
    originals = list(dict.fromkeys(one.original for one in made))
    texts = [_named(text, f"o{k}_") for k, text in enumerate(originals)]
    texts += [_named(one.text, f"v{k}_") for k, one in enumerate(made)]
    pairs = ", ".join(f"{{o{originals.index(one.original)}_f, v{k}_f}}" for k, one in enumerate(made))
    sizes = ", ".join(f"{{{n}, {m}}}" for n, m in SIZES)
    filled = {"KERNELS": "".join(texts), "PAIRS": pairs, "SIZES": sizes}
    whole = MAIN
    for key, value in filled.items():
        whole = whole.replace(f"@{key}@", value)
    return whole


def _named(text: str, prefix: str) -> str:
    """A kernel under another name, its constants and its scan too."""
    lines = [line for line in text.splitlines() if not line.startswith("#include")]
    names = [line.split()[2] for line in lines if line.startswith("enum {")] + ["scan", "ScanLanes"]
    text = "\n".join(lines) + "\n"
    for name in names:
        text = substituted(text, {name: f"{prefix}{name}"})
    return text.replace(f"void f{SIGNATURE}", f"static void {prefix}f{SIGNATURE}")


async def told(sandbox: Sandbox, made: Sequence[Variant], flags: Sequence[str] = VECTORS) -> str:
    """What that program prints, built and run in one session; its diagnostics if it does not build."""
    script = f"gcc {' '.join(flags)} -o /tmp/out /src/main.c -lm 2>&1 && /tmp/out"
    async with sandbox.session([], Mounts({"main.c": program(made), "script.sh": script})) as session:
        job = Job(("/bin/sh", "/src/script.sh"), cpu_s=600, wall_s=1500, memory_mb=2048, output_mb=4)
        ran = await session.run(job)
    return ran.stdout.decode(errors="replace")


async def held(wanted: int, seed: int, at_once: int, minutes: float) -> tuple[list[dict[str, object]], list[str]]:
    """The variants tried for each step, and the findings; at least ``wanted`` variants, if the minutes suffice."""
    sandbox, until = await Sandbox.open(), time.monotonic() + 60 * minutes
    tried: dict[str, list[int]] = {name: [0, 0] for name in NAMES}
    findings: list[str] = []
    numbers = iter(range(-(-wanted // BATCH)))

    async def worker() -> None:
        for number in numbers:
            if time.monotonic() > until:
                return
            made = await anyio.to_thread.run_sync(batch, seed, number, BATCH, odd_nest if number % 4 == 1 else nest)
            printed = await told(sandbox, made, PLAIN if number % 4 else VECTORS)
            bad = [one for one, _ in wrong(made, printed)]
            for one in made:
                row = tried[one.labels[-1].partition("(")[0]]
                row[0], row[1] = row[0] + 1, row[1] + (one in bad)
            findings.extend(f"{', '.join(one.labels)}\n{one.original}\n{one.text}" for one in bad)
            count = sum(row[0] for row in tried.values())
            print(f"{count} variants, {len(findings)} findings", file=sys.stderr, flush=True)

    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(worker)
    rows = [{"last step": name, "variants": row[0], "wrong": row[1]} for name, row in tried.items()]
    total = {key: sum(int(str(row[key])) for row in rows) for key in ("variants", "wrong")}
    return [*rows, {"last step": "all", **total}], findings


def wrong(made: Sequence[Variant], told: str) -> list[tuple[Variant, float]]:
    """The variants whose results differ by more than sums in another order do."""
    lines = told.splitlines()
    if not all(re.fullmatch(r"-?(\d+(\.\d+)?(e[-+]\d+)?|nan|inf)", line) for line in lines):
        raise ValueError(f"no number for each of {len(made)} variants: {told[:2000]}")
    if len(lines) < len(made):
        ended = made[len(lines)]
        raise ValueError(f"the program ended in {', '.join(ended.labels)}:\n{ended.original}\n{ended.text}")
    differences = [float(line) for line in lines]
    return [(one, apart) for one, apart in zip(made, differences, strict=True) if not apart < 1e-9]
