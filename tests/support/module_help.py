"""References of our own, and whether a candidate's outputs are those of its reference: in the sandbox, untimed."""

from __future__ import annotations

import random
from pathlib import Path

import anyio

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.core.types import Problem, Program
from maxcode.core.types.problem import ModuleSpec, ProgramSpec
from maxcode.evaluate.module.contract import plans
from maxcode.evaluate.module.natives import Natives
from maxcode.evaluate.module.sides import CANDIDATE, REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import open_track
from maxcode.policy.rules.modules.rules import RULES
from maxcode.policy.rules.modules.start import started
from maxcode.policy.rules.rewriter.runtime import patched
from maxcode.sandbox.sandbox import Sandbox

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
TAIL = "\n\ndef get_inputs():\n    return [{inputs}]\n\n\ndef get_init_inputs():\n    return [{init}]\n"


def reference(
    forward: str, init: str = "", inputs: str = "torch.randn(8, 65)", given: str = "", takes: str = "x"
) -> str:
    """A reference with these statements in its constructor and forward; ``given``: the constructor's arguments, as
    ``name = value`` assignments of the module."""
    names = [line.split(" = ")[0] for line in given.splitlines()]
    body = "\n".join(f"        {line}" for line in ["super().__init__()", *init.splitlines()])
    lines = "\n".join(f"        {line}" for line in forward.splitlines())
    signature = ", ".join(["self", *names])
    text = f"{HEAD}{given}\n\n\nclass Model(nn.Module):\n    def __init__({signature}):\n{body}\n\n"
    return f"{text}    def forward(self, {takes}):\n{lines}\n" + TAIL.format(inputs=inputs, init=", ".join(names))


def edits(text: str) -> list[Edit]:
    """All edits of all rules on a candidate."""
    unit = Unit("python", text)
    return [edit for rule in RULES for edit in rule.find(unit)]


def labels(text: str) -> list[str]:
    """What the rules offer for a reference."""
    return [edit.label for edit in edits(started(text, {}))]


def made(text: str, *wanted: str) -> str:
    """The candidate after the first edit of each label that begins so, one after the other."""
    text = started(text, {})
    for beginning in wanted:
        offered = edits(text)
        edit = next((one for one in offered if one.label.startswith(beginning)), None)
        assert edit is not None, f"no {beginning} among {[one.label for one in offered]}"
        text = patched(text.encode(), list(edit.change.patches))
    return text


def problem_of(text: str, constants: dict[str, int] | None = None) -> Problem:
    spec = ProgramSpec(module=ModuleSpec(constants=tuple(sorted((constants or {}).items()))))
    return Problem("p", "module", "python", Program({"problem.py": text}), spec)


def check(sandbox: Sandbox, text: str, candidate: str) -> None:
    """Two rounds of fresh inputs, every output compared with the exact one; ``Failed`` where one is not right.

    Needs torch: without it ``find_runtime`` says how to get it.
    """
    anyio.run(_checked, sandbox, text, candidate)


async def _checked(sandbox: Sandbox, text: str, candidate: str) -> None:
    side = ModuleSide(text, REFERENCE)
    stage = SideStarter(sandbox, find_runtime(), problem_of(text), 1, random.SystemRandom().getrandbits(31))
    stage = SideStarter(sandbox, stage.runtime, stage.problem, 1, stage.seed, await stage.describe(side))
    stage = await stage.with_weights(side)
    built, failed = await Natives().of(stage, ModuleSide(candidate, CANDIDATE))
    assert failed is None, f"{failed.reason}\n{failed.diagnostics}"
    async with open_track(stage, plans(stage.contract, 2), side, {"original": side, "candidate": built}) as track:
        await track.pair()
        await track.pair()
        assert "candidate" not in track.seeded


def example(name: str) -> str:
    return (Path(__file__).parents[2] / "examples" / name / "problem.py").read_text()
