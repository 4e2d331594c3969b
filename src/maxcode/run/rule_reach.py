"""Counts the programs that the rewriter's rules reach from a program: ``maxcode list rules --count``."""

from __future__ import annotations

from pathlib import Path

from maxcode.code.languages import language_of
from maxcode.core.files import read_text
from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.evaluate.ladder.build import Builder
from maxcode.policy.rules.rewriter import reachable
from maxcode.run.interrupts import run_async
from maxcode.sandbox.sandbox import Sandbox


def count_reachable(source: Path, cap: int, sample: int) -> dict[str, str]:
    """Counts the distinct programs that one to three steps of the rewriter reach from a source, at most ``cap``, and
    how many of ``sample`` of them, evenly spread, build in the sandbox."""
    tongue = language_of(str(source))
    text = read_text(source)
    found = [reached for _, reached in reachable(text, tongue.name, steps=3, cap=cap)]
    chosen = found[:: max(1, len(found) // max(1, sample))][:sample]
    problem = Problem(
        source.stem, "program", tongue.name, Program({source.name: text}), ProgramSpec(tongue.default_flags)
    )
    count = f"{len(found)}{' or more' if len(found) == cap else ''}"
    valid = f"{run_async(_built, problem, chosen)} of {len(chosen)} built" if chosen else "none built"
    return {"reachable": count, "valid": valid}


async def _built(problem: Problem, texts: list[str]) -> int:
    """The number of programs that build."""
    sandbox = await Sandbox.open()
    builder = Builder(sandbox, sandbox.cache)
    built = [await builder.build(problem, problem.program.with_text(text)) for text in texts]
    return sum(one.artefact is not None for one in built)
