"""Smaller shapes for a module problem: its constants are halved until inputs and parameters fit (ours).

There are three ways of halving, prepared as texts of the reference without running anything: the largest constant each
time; the largest of those that only the inputs use, so that the model stays the same; all of them at once, which keeps
constant factors.  One process reports how large each text is, on torch's device without storage.  Of those that fit,
the result is the first that runs in its sandbox in time, preferring one that is not degenerate.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import msgspec

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.module.contract import Contract, degenerate
from maxcode.evaluate.module.module_constants import constants_of, parsed, replaced
from maxcode.evaluate.module.sides import (
    LEAST_MEMORY_MB,
    REFERENCE,
    SIZES,
    START_S,
    ModuleSide,
    SideStarter,
)
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.rounds.round import last_words
from maxcode.sandbox.sandbox import Job, Mounts, Sandbox

LIMIT_MB = 4.0
OUTPUTS = 4  # outputs may take this many times the limit: a product of two thin matrices is large
LEAST = 8  # smaller constants stay: they are often kinds of things, not amounts
IN_TIME_S = 1.0  # CPU time of the first call
MOST_STEPS = 60
TRIES = 8
DEGENERATE_TRIES = 3  # after so many, the problem is degenerate, not its shapes

_KEPT = re.compile(
    r"(?:^|_|max|avg)(?:kernels?|strides?|pad|padding|dilations?|groups?|pool|pooling|scale|scaling|factor|heads?|eps|"
    r"value|divisor|axis)(?=$|_|\d|\[)",
    re.IGNORECASE,
)
Constants = dict[str, int]


class Size(msgspec.Struct, frozen=True):
    """Bytes of inputs and weights, and of outputs; ``error``: why one of them is unknown."""

    given: int | None = None
    output: int | None = None
    error: str = ""


@final
@dataclass(frozen=True, slots=True)
class Shrunk:
    """The constants that make a problem small; empty if it is small already.

    ``contract``: the reference with these constants.
    ``tried``: other constants, and why each was not taken.
    """

    constants: Constants
    contract: Contract
    tried: tuple[str, ...] = field(default=())

    @property
    def degenerate(self) -> tuple[str, ...]:
        return degenerate(self.contract)


async def shrink(
    sandbox: Sandbox, problem: Problem, limit_mb: float = LIMIT_MB, first: Sequence[Constants] = ()
) -> Shrunk:
    """Constants with which the reference's inputs and parameters fit into ``limit_mb`` MB, and it runs.

    ``first``: constants to try before halving.  InputError if nothing fits and runs.
    """
    text = problem.program.text
    stage = SideStarter(sandbox, find_runtime(), problem, threads=1, seed=1)
    plans = [list(first), *halvings(text)]
    sizes = await _sizes(stage, [replaced(text, one) for plan in plans for one in plan])
    left = iter(sizes)
    fitting = [[one for one in plan if _fits(next(left), limit_mb)] for plan in plans]
    if not any(fitting):
        raise InputError(
            f"{problem.id}: no halving of its constants makes inputs and parameters fit into {limit_mb:g} MB "
            f"({_largest_error(sizes)}); set constants yourself with --constant NAME=NUMBER"
        )
    return await _first_running(stage, _in_turn(fitting))


def _fits(size: Size, limit_mb: float) -> bool:
    if size.given is None or size.given > limit_mb * 2**20:
        return False
    return size.output is not None and size.output <= OUTPUTS * limit_mb * 2**20


def _largest_error(sizes: Sequence[Size]) -> str:
    return next((size.error for size in sizes if size.error), "they stay too large")


def _in_turn(plans: Iterable[Sequence[Constants]]) -> list[Constants]:
    """The first of every plan, then every other one of each, because neighbours are similar; no repeats."""
    found: list[Constants] = []
    thinned = [plan[::2] for plan in plans]
    for rank in range(max(map(len, thinned), default=0)):
        found += [plan[rank] for plan in thinned if rank < len(plan) and plan[rank] not in found]
    return found[:TRIES]


async def _first_running(stage: SideStarter, choices: Sequence[Constants]) -> Shrunk:
    """The first choice without objections, else the first that runs."""
    tried: list[str] = []
    second: Shrunk | None = None
    degenerates = 0
    for constants in choices:
        try:
            contract = await stage.describe(ModuleSide(replaced(stage.problem.program.text, constants), REFERENCE))
        except InputError as error:
            tried.append(f"{_as_text(constants)}: {error}")
            continue
        found = Shrunk(constants, contract, tuple(tried))
        if contract.seconds <= IN_TIME_S and not found.degenerate:
            return found
        slow = (f"its first call takes {contract.seconds:.1f} s",) if contract.seconds > IN_TIME_S else ()
        tried.append(f"{_as_text(constants)}: {'; '.join((*found.degenerate, *slow))}")
        if second is None or (second.contract.seconds > IN_TIME_S >= contract.seconds):
            second = found
        degenerates += bool(found.degenerate) and not slow
        if degenerates == DEGENERATE_TRIES:
            break
    if second is None:
        raise InputError(f"{stage.problem.id} does not run with smaller shapes: {tried[0]}")
    return second


def _as_text(constants: Constants) -> str:
    return ", ".join(f"{name} = {value}" for name, value in constants.items()) or "as it is"


async def _sizes(stage: SideStarter, texts: Sequence[str]) -> list[Size]:
    files = {f"{number}.py": text for number, text in enumerate(texts)}
    meta = json.dumps({"paths": stage.runtime.paths, "files": list(files)})
    sources: dict[str, str | bytes] = {"sizes.py": SIZES, "meta.json": meta, **files}
    job = Job(
        (stage.runtime.python, "-I", "-B", "/src/sizes.py"),
        cpu_s=START_S,
        wall_s=3 * START_S,
        memory_mb=LEAST_MEMORY_MB,
        output_mb=4,
        processes=64,
    )
    async with stage.sandbox.session([], Mounts(sources, stage.runtime.binds)) as session:
        ran = await session.run(job)
    if not ran.ok:
        raise InputError(f"the sizes of {stage.problem.id} could not be found: {last_words(ran)}")
    return msgspec.json.decode(ran.stdout.rstrip().rpartition(b"\n")[2], type=list[Size])


# ------------------------------------------------------------------------------------------------- halving


def halvings(text: str) -> list[list[Constants]]:
    """Three ways to halve the constants of a file step by step; each begins with no change and lists changed
    constants."""
    numbers = adjustable(text)
    inputs = {name: value for name, value in numbers.items() if name not in _used_by_init(text)}
    return [
        list(_steps(numbers, _largest)),
        list(_steps(inputs, _largest)),
        list(_steps(numbers, lambda now: [name for name, value in now.items() if value >= LEAST])),
    ]


def adjustable(text: str) -> Constants:
    """The constants that are amounts: not kernel sizes, strides, paddings and so on, by name or by use."""
    tree = parsed(text)
    kept = {name for name, use in _uses(tree) if _KEPT.search(use)}
    return {
        name: value
        for name, value in constants_of(text).items()
        if value >= LEAST and not _KEPT.search(name) and name.partition("[")[0] not in kept
    }


def _largest(now: Constants) -> list[str]:
    name = max(now, key=lambda one: now[one], default=None)
    return [name] if name is not None and now[name] >= LEAST else []


def _steps(start: Constants, choose: Callable[[Constants], list[str]]) -> Iterator[Constants]:
    now = dict(start)
    for _ in range(MOST_STEPS):
        yield {name: value for name, value in now.items() if value != start[name]}
        if not (names := choose(now)):
            return
        now |= {name: now[name] // 2 for name in names}


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(name, what it is passed as): the keyword of a call, or the parameter of ``Model`` that it fills."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg and isinstance(node.value, ast.Name):
            yield node.value.id, node.arg
    for parameter, value in zip(_parameters(tree), _init_values(tree), strict=False):
        if isinstance(value, ast.Name):
            yield value.id, parameter


def _used_by_init(text: str) -> set[str]:
    """Names in the arguments of ``Model``; also places in tuples, because a tuple may be passed whole."""
    values = _init_values(parsed(text))
    return {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)} | {
        name for name in constants_of(text) if "[" in name
    }


def _parameters(tree: ast.Module) -> list[str]:
    """The parameters of ``Model.__init__`` after self."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    return [one.arg for one in inner.args.args[1:]]
    return []


def _init_values(tree: ast.Module) -> list[ast.expr]:
    """The elements of the list that ``get_init_inputs`` returns."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_init_inputs":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and isinstance(inner.value, ast.List):
                    return inner.value.elts
    return []
