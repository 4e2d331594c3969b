"""The prompts of a policy in training, and the reading of its completions; both state what the stage permits.

``Chat`` uses the prompts of the search's policy (the messages of ``policy/llm.py``), with a section for kernels of the
archive; it is for chat models.  ``Compact`` is for small models trained from scratch on the same form:

    <bos>//gemm          the problem
    //simd               the permitted techniques, one a line
    //from               a kernel of the archive, if one is shown
    void gemm(...
    //to                 the completion follows: a whole file, then the end of the text

``Scheduled`` is the same with schedules (``policy/rules/kernels/schedule.py``) in place of kernels, and the loop nests
of the original (``outline.py``), which a schedule is about:

    <bos>//gemm
    //simd
    //loops              the loop nests of the original
    gemm
    .i
    ...
    //from               a schedule of the archive, if one is shown
    simd(p in gemm, as=reduction)
    //to                 the completion follows: a whole schedule, then the end of the text
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from maxcode.code.cpp.unit import Unit
from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.types import Action, Machine, Observation, Problem, Section, State
from maxcode.errors import InputError
from maxcode.llm.completion import Unread, read
from maxcode.policy.llm import messages
from maxcode.policy.rules.kernels import Permitted, applied
from maxcode.policy.rules.kernels.outline import outline
from maxcode.policy.rules.kernels.steps import reads_pragmas
from maxcode.search.archive import Kept
from maxcode.search.methods import observing, recipe
from maxcode.search.scene import Scene

BOS = "<bos>"
ON_ONE_CORE = frozenset({"restrict", "simd", "tiling", "unrolling", "packing", "prefetch", "pragmas"})
"""The permission of a problem that permits everything, in a compact prompt: the techniques that small models know."""
LOOPS, TO = "//loops", "//to"


def on_one_core(problem: Problem) -> frozenset[str]:
    """The techniques that a compact prompt permits."""
    return ON_ONE_CORE if problem.permitted is None else problem.permitted


def steps_on_one_core(problem: Problem, templates: bool) -> Permitted:
    """What the steps to an answer, or to a kernel of a corpus, may use; no pragma that the compiler ignores."""
    return Permitted(on_one_core(problem), simd_pragmas=reads_pragmas(problem.spec.flags), templates=templates)


class Prompts(Protocol):
    """The form of a policy's prompts and completions."""

    def ask(self, problem: Problem, shown: Sequence[Kept] = ()) -> Any:
        """The prompt for a problem and what it permits, with kernels of the archive: text, or messages."""
        ...

    def read(self, problem: Problem, completion: Any) -> Action:
        """The program of a completion; an action without one, with the reason, if none can be read."""
        ...

    def schedule(self, action: Action) -> str:
        """The schedule of an answer, if its completion is one; else nothing."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Compact:
    """Prompts with one fact a line; completions that contain only the file."""

    def ask(self, problem: Problem, shown: Sequence[Kept] = ()) -> str:
        kernels = [plain_layout(one.program.text) for one in shown]
        return _compact(problem, kernels)

    def read(self, problem: Problem, completion: Any) -> Action:
        text = str(completion)
        if not text.strip():
            return Action(None, text, unread="the completion is empty")
        return Action(problem.program.with_text(text), text)

    def schedule(self, action: Action) -> str:
        return ""


def _compact(problem: Problem, shown: Sequence[str], facts: Sequence[str] = ()) -> str:
    head = [f"//{problem.id}", *(f"//{name}" for name in sorted(on_one_core(problem))), *facts]
    for one in shown:
        head += ["//from", one]
    return BOS + "\n".join([*head, TO]) + "\n"


@final
@dataclass(frozen=True, slots=True)
class Scheduled:
    """Compact prompts of loop nests, and completions that are schedules.  ``templates``: whether a schedule may use the
    tuned kernels.  A schedule without a line is no answer: it would be the original."""

    templates: bool = False

    def ask(self, problem: Problem, shown: Sequence[Kept] = ()) -> str:
        facts = [LOOPS, *outline(Unit(problem.language, problem.program.text))]
        return _compact(problem, [one.schedule.strip() for one in shown], facts)

    def read(self, problem: Problem, completion: Any) -> Action:
        text = str(completion)
        if not text.strip():
            return Action(None, text, unread="the schedule has no line")
        try:
            made = applied(problem.program.text, problem.language, text, self.allowed(problem))
        except InputError as error:
            return Action(None, text, unread=str(error))
        return Action(problem.program.with_text(made), text)

    def allowed(self, problem: Problem) -> Permitted:
        """What the lines of a schedule may use."""
        return steps_on_one_core(problem, self.templates)

    def schedule(self, action: Action) -> str:
        return action.completion


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

    def schedule(self, action: Action) -> str:
        return ""


_NOWHERE = Machine("", "", 0, "", {}, "")  # stands for a machine that no prompt shows


def _unit(problem: Problem) -> str:
    return "GFLOPS" if problem.traits.counts_work else "times as fast as the original"


def plain_layout(text: str) -> str:
    """A C text without indentation, empty lines and lines that are nothing but a comment: what a small model must not
    spend its tokens on."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
