"""The prompts of a policy in training, and the reading of its completions; both state what the stage permits.

``Chat`` uses the prompts of the search's policy (the messages of ``policy/llm.py``), with a section for kernels of the
archive; it is for chat models.  ``Compact`` is for small models trained from scratch on the same form:

    <bos>//gemm          the problem
    //simd               the permitted techniques, one a line
    //from               a kernel of the archive, if one is shown
    void gemm(...
    //to                 the completion follows: a whole file, then the end of the text
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.types import Action, Machine, Observation, Problem, Section, State
from maxcode.llm.completion import Unread, read
from maxcode.policy.llm import messages
from maxcode.search.archive import Kept
from maxcode.search.methods import observing, recipe
from maxcode.search.scene import Scene

BOS = "<bos>"
ON_ONE_CORE = frozenset({"restrict", "simd", "tiling", "unrolling", "packing", "prefetch", "pragmas"})
"""The permission of a problem that permits everything, in a compact prompt: the techniques that small models know."""


class Prompts(Protocol):
    """The form of a policy's prompts and completions."""

    def ask(self, problem: Problem, shown: Sequence[Kept] = ()) -> Any:
        """The prompt for a problem and what it permits, with kernels of the archive: text, or messages."""
        ...

    def read(self, problem: Problem, completion: Any) -> Action:
        """The program of a completion; an action without one, with the reason, if none can be read."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Compact:
    """Prompts with one fact a line; completions that contain only the file."""

    def ask(self, problem: Problem, shown: Sequence[Kept] = ()) -> str:
        permitted = sorted(ON_ONE_CORE if problem.permitted is None else problem.permitted)
        head = [f"//{problem.id}", *(f"//{name}" for name in permitted)]
        for one in shown:
            head += ["//from", plain_layout(one.program.text)]
        return BOS + "\n".join([*head, "//to"]) + "\n"

    def read(self, problem: Problem, completion: Any) -> Action:
        text = str(completion)
        if not text.strip():
            return Action(None, text, unread="the completion is empty")
        return Action(problem.program.with_text(text), text)


@final
@dataclass(frozen=True, slots=True)
class Chat:
    """The prompts of the search's first proposal (``best-of-n``), and the search's reading of completions.

    ``machine``: the machine that measures, which the prompt describes; None leaves that section out.
    """

    machine: Machine | None = None

    def ask(self, problem: Problem, shown: Sequence[Kept] = ()) -> list[dict[str, str]]:
        root = State(problem)
        unknown = frozenset({"machine"}) if self.machine is None else frozenset[str]()
        scene = Scene(self.machine or _NOWHERE, without=unknown)
        sections = observing(recipe("best-of-n", unknown), scene)(root, Reached(root))
        if shown:
            told = [
                f"{one.quality:.3g} {_unit(problem)}:\n{fenced(one.program.text, problem.language)}" for one in shown
            ]
            sections += (Section("Earlier kernels, all correct", "\n".join(told)),)
        asked = messages(Observation(sections, root, 0), may_pass=False)
        return [{"role": message.role, "content": message.text} for message in asked]

    def read(self, problem: Problem, completion: Any) -> Action:
        text = completion if isinstance(completion, str) else "".join(part["content"] for part in completion)
        found = read(text, problem.program, problem.language, "whole", problem.entry)
        return Action(None, text, unread=found.reason) if isinstance(found, Unread) else Action(found, text)


_NOWHERE = Machine("", "", 0, "", {}, "")  # stands for a machine that no prompt shows


def _unit(problem: Problem) -> str:
    return "GFLOPS" if problem.traits.counts_work else "times as fast as the original"


def plain_layout(text: str) -> str:
    """A C text without indentation, empty lines and lines that are nothing but a comment: what a small model must not
    spend its tokens on."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
