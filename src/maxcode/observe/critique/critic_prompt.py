"""The critic's prompt: problem, machine, original, both programs, the paper's four-part feedback, remarks, profile, the
step before, other branches.

Of held-out tests it shows one bit, as every prompt does.  Text from a candidate or its compiler is inside fences, so it
cannot imitate a heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.code.prose import prose
from maxcode.code.source import fenced, writable
from maxcode.code.techniques import describe
from maxcode.core.types import (
    GOALS,
    Evaluation,
    Facts,
    HotFunction,
    Hotspot,
    Kind,
    Machine,
    Outcome,
    Problem,
    Program,
    Remark,
    Step,
)
from maxcode.llm.clients import Message
from maxcode.llm.prompts import template
from maxcode.llm.prompts.rules import rules_for
from maxcode.observe.about import about_machine, called_line, checker_line, statement_lines
from maxcode.observe.critique.critique_answer import DIAGNOSIS_AT_MOST, STEP_AT_MOST, STEPS_AT_MOST
from maxcode.observe.critique.rule_critic import ERROR, hot_lines, outside, share_of
from maxcode.observe.feedback import beside_goal, feedback_lines, machine_lines, milliseconds, result_line
from maxcode.observe.hot_texts import hot_texts
from maxcode.observe.known import fact_lines
from maxcode.observe.part import changed, is_rewrite, length_of, listing
from maxcode.observe.repository import hot_lines_of, is_large, shown_program

HEADING = "# Critique this step"
WHOLE = 24_000  # characters; up to here the original and a change are shown whole
LONGEST = 60_000  # up to here the new program is shown whole
_STATEMENT, _TEXT, _CLAIM, _REMARKS, _TIMED = 4_000, 6_000, 1_500, 12, 5
_AROUND = 40


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What a critic knows besides the step: the ``machine``, the ``facts`` measured before the search, and one line for
    each program measured on other paths (``beside``)."""

    machine: Machine | None = None
    facts: Facts = field(default_factory=Facts)
    beside: Sequence[str] = ()


def messages(problem: Problem, step: Step, previous: Step | None, setting: Setting = Setting()) -> tuple[Message, ...]:
    """The system message, and the user message that begins with ``HEADING``."""
    limits = {"diagnosis_at_most": DIAGNOSIS_AT_MOST, "step_at_most": STEP_AT_MOST, "steps_at_most": STEPS_AT_MOST}
    rules = template("critic_module").substitute() if problem.traits.shows_operators else ""
    is_patch = problem.traits.is_patch
    parts = {
        "right": template("critic_right_repo" if is_patch else "critic_right").substitute(),
        "line_shown": "" if is_patch else ' "line": 12,',
        "line_told": "" if is_patch else template("critic_line").substitute(),
        "told": rules_for(problem, with_example=False),
    }
    system = template("critic_system").substitute(limits, rules=rules, **parts)
    return (Message("system", system.strip()), Message("user", user_text(problem, step, previous, setting)))


def user_text(problem: Problem, step: Step, previous: Step | None, setting: Setting = Setting()) -> str:
    """The user message alone."""
    program = judged(problem, step)
    evaluation = step.evaluation
    filled = {
        "problem": _problem(problem) if not problem.traits.is_patch else _of_repository(problem, setting.facts),
        "machine": fenced("\n".join(_machine(problem, setting))),
        "original": _original_program(problem, program),
        "previous": _previous_program(problem, program, previous),
        "program": _new_program(problem, program, step, previous)
        if not is_large(problem)
        else _change(problem, program, _hot(step, previous, setting.facts)[0]),
        "claim": fenced(_claim(step) or "nothing"),
        "feedback": fenced("\n".join(_feedback(problem, step, previous))),
        "remarks": fenced("\n".join(_remarks(evaluation)) or "none"),
        "profile": fenced(
            "\n".join(_profile(program, evaluation) or _of_others(step, previous, setting.facts)) or "none"
        ),
        "history": fenced("\n".join(_history(previous))),
        "beside": fenced("\n".join(setting.beside) or "none"),
    }
    return writable(template("critic").substitute(filled).strip())  # a candidate that is no text is shown too


def _machine(problem: Problem, setting: Setting) -> list[str]:
    about = about_machine(setting.machine, problem, setting.facts) if setting.machine is not None else []
    return [*about, *fact_lines(problem, setting.facts)] or ["not known"]


def judged(problem: Problem, step: Step) -> Program:
    """The program that the critique is about: the original if no program could be read from the completion."""
    program = step.action.program
    return program if program is not None and program.files else problem.program


# -------------------------------------------------------------------------------------------------------- programs


def lines_of(program: Program) -> list[str]:
    """The lines of the first file, counted as compilers count them."""
    return _lines(program.files[program.name])


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def numbered(text: str) -> str:
    """The text with the line number in front of each line."""
    return "\n".join(f"{number:>4}| {line}" for number, line in enumerate(_lines(text), 1))


def _new_program(problem: Problem, program: Program, step: Step, previous: Step | None) -> str:
    told = "Each line begins with its number, which is not part of the program."
    if len(program.files) > 1 and not problem.traits.is_patch:
        told = f"{told} The `line` that you answer counts in `{program.name}`."
    if step.action.program is None:
        told = f"No program could be read from the last answer. This is the original program. {told}"
    elif program == problem.program and previous is None:
        told = f"This is the original program; nothing was changed yet. {told}"
    if length_of(program) > LONGEST:
        return f"{told}\n\n{_windows(problem, program, step)}"
    return f"{told}\n\n{_listing(problem, program)}"


def _change(problem: Problem, program: Program, hot: Sequence[HotFunction]) -> str:
    """Of a large repository what a program changes, and its functions where the time goes with their types and
    callers."""
    told = "The repository is too long to be shown whole. This is"
    return "\n\n".join([f"{told} {shown_program(problem, program)}", *hot_texts(hot, program, problem)])


def _original_program(problem: Problem, program: Program) -> str:
    """The original, which the results must equal; only named if it is the new program or too long."""
    if program == problem.program:
        return "It is the new program below."
    if is_large(problem):
        return 'It is too long to be shown; its hot functions, as they are now, are under "New program".'
    if length_of(problem.program) > WHOLE:
        return "It is too long to be shown."
    return listing(problem.program, problem.language)


def _previous_program(problem: Problem, program: Program, previous: Step | None) -> str:
    before = judged(problem, previous) if previous is not None else problem.program
    if before == program:
        return "The same as the new program."
    if before == problem.program and (is_large(problem) or length_of(before) <= WHOLE):
        return "The original program."
    if is_rewrite(before, program) and length_of(before) <= WHOLE:
        return f"The new program rewrites it:\n\n{listing(before, problem.language)}"
    return f"It became the new program by this change:\n\n{changed(before, program, WHOLE)}"


def _listing(problem: Problem, program: Program) -> str:
    if len(program.files) == 1:
        return fenced(numbered(program.text), problem.language)
    told = (f"`{path}`:\n{fenced(numbered(text), problem.language)}" for path, text in program.files.items())
    return "\n\n".join(told)


def _windows(problem: Problem, program: Program, step: Step) -> str:
    """The parts of a very long program around the lines that errors, profile and remarks name, or else its
    beginning."""
    lines = numbered(program.files[program.name]).split("\n")
    kept: set[int] = set()
    size = 0
    for line in _places(step.evaluation):
        window = set(range(max(0, line - _AROUND), min(len(lines), line + _AROUND))) - kept
        size += sum(len(lines[at]) + 1 for at in window)
        if size > WHOLE:
            break
        kept |= window
    shown = [lines[at] for at in sorted(kept)] or _cut("\n".join(lines), WHOLE).split("\n")
    note = f"The program is long: of its {len(lines)} lines only those around the places measured are shown."
    return f"{note}\n\n{fenced(chr(10).join(shown), problem.language)}"


def _places(evaluation: Evaluation) -> Iterator[int]:
    """Line numbers, the most important first."""
    yield from (int(line) for _, line, _ in ERROR.findall(evaluation.feedback.diagnostics))
    yield from (spot.line for spot in hot_lines(evaluation.profile) if spot.line)
    yield from (remark.line for remark in evaluation.remarks if remark.line)


# -------------------------------------------------------------------------------------------------- what was measured


_BEFORE_THE_LANGUAGE: Mapping[Kind, tuple[str, ...]] = {
    "module": ("the class to write is {}, which does what Model does, with the same parameters",)
}
_AFTER_THE_LANGUAGE: Mapping[Kind, tuple[str, ...]] = {"function": ("the function to implement is {}",)}


def _problem(problem: Problem) -> str:
    lines = [fenced(_cut(problem.statement, _STATEMENT) or "Make this program faster; it must give the same output.")]
    lines += [line.format(problem.entry) for line in _BEFORE_THE_LANGUAGE.get(problem.kind, ())]
    flags = "" if problem.traits.is_patch else f"; flags: {' '.join(problem.spec.flags) or 'none'}"
    lines.append(f"language: {problem.language}{flags}")
    lines += [line.format(problem.entry) for line in _AFTER_THE_LANGUAGE.get(problem.kind, ())]
    lines += [fenced(problem.spec.function_spec.header, problem.language)] if problem.traits.counts_work else []
    lines += [called_line(problem)] if problem.spec.python is not None else []
    lines += [line for line in (checker_line(problem), f"goal: {GOALS[problem.goal]}") if line]
    if problem.permitted is not None:
        lines.append("only these techniques are permitted:" if problem.permitted else "no technique is permitted")
        lines += [f"- {describe(name)}" for name in sorted(problem.permitted)]
    return "\n".join(lines)


def _of_repository(problem: Problem, facts: Facts) -> str:
    """What a policy is told of a repository: its task and commands, and what its benchmark runs, if that is short."""
    sources = [f"what the benchmark runs, {path}:\n{fenced(text)}" for path, text in facts.benchmark]
    is_short = sum(map(len, sources)) <= _TEXT
    return "\n".join([fenced(_cut("\n".join(statement_lines(problem)), _STATEMENT)), *(sources if is_short else ())])


def _feedback(problem: Problem, step: Step, previous: Step | None) -> list[str]:
    evaluation = step.evaluation
    original = previous is None and step.action.program == problem.program
    if original and evaluation.outcome is Outcome.CORRECT and evaluation.timing is None:
        lines = ["=> correct, the original itself"]
    else:
        lines = _cut("\n".join(feedback_lines(step, previous)), _TEXT).splitlines()
    seen = [case for case in evaluation.feedback.cases if case.seen and case.name in evaluation.measures]
    slowest = sorted(seen, key=lambda case: -evaluation.measures[case.name])[:_TIMED]
    clock = f"CPU{beside_goal(problem)}"
    return lines + [f"test {case.name}: {milliseconds(evaluation.measures[case.name])} of {clock}" for case in slowest]


def _remarks(evaluation: Evaluation) -> list[str]:
    """The compiler's remarks on lines with samples, missed ones before the others; those on kernels of a GPU."""
    hot = [spot.line for spot in hot_lines(evaluation.profile) if spot.line]

    def rank(remark: Remark) -> tuple[int, bool]:
        near = [order for order, line in enumerate(hot) if abs(remark.line - line) <= 2]
        return (near[0] if near else len(hot), remark.kind != "missed")

    kept = [one for one in evaluation.remarks if rank(one)[0] < len(hot) or one.text.startswith("kernel `")]
    chosen = sorted(kept, key=rank)
    told = [f"line {remark.line}: {remark.kind}: {remark.text[:160]}" for remark in chosen[:_REMARKS]]
    return told + ([f"({len(chosen) - _REMARKS} more are left out)"] if len(chosen) > _REMARKS else [])


def _profile(program: Program, evaluation: Evaluation) -> list[str]:
    if evaluation.hot:
        return hot_lines_of(evaluation.hot, "the new program")
    source = lines_of(program)
    spots = [_spot_line(spot, source) for spot in hot_lines(evaluation.profile)]
    return [*spots, *machine_lines(evaluation.machine_code)]


def _of_others(step: Step, previous: Step | None, facts: Facts) -> list[str]:
    """For a program of a repository without a profile of its own that of the step before or of base, and what it is."""
    hot, where = _hot(step, previous, facts)
    return [*([_OF_OTHERS] if hot else []), *hot_lines_of(hot, where)]


_OF_OTHERS = "(The new program has no profile of its own. What it changed may take less than this says.)"


def _hot(step: Step, previous: Step | None, facts: Facts) -> tuple[Sequence[HotFunction], str]:
    """The profile that is nearest to a step, and of which program it is."""
    if step.evaluation.hot:
        return step.evaluation.hot, "the new program"
    if previous is not None and previous.evaluation.hot:
        return previous.evaluation.hot, "the previous program"
    return facts.hot, "base, the original program"


def _spot_line(spot: Hotspot, source: list[str]) -> str:
    text = source[spot.line - 1].strip() if 0 < spot.line <= len(source) else ""
    if not spot.line and spot.function.startswith(("aten::", "outside of torch")):
        return f"{spot.share:.0%} in [{spot.function}]"
    if not text:
        return f"{share_of(spot)} {outside(spot.function)}"
    return f"{share_of(spot)} at line {spot.line} in [{spot.function}]: {text[:160]}"


def _claim(step: Step) -> str:
    """The words with which a program came, without the program."""
    return _cut(prose(step.action.completion), _CLAIM)


def _history(previous: Step | None) -> list[str]:
    if previous is None:
        return ["none: the step before was the original"]
    advice = [_MAY_BE_DONE, previous.critique] if previous.critique else []
    told = [_claim(previous), result_line(previous.evaluation), *advice]
    return [line for line in told if line]


_MAY_BE_DONE = "The advice given then, which the new program may have followed already:"


def _cut(text: str, most: int) -> str:
    """The beginning of the text; if something is left out, a line says how much."""
    if len(text) <= most:
        return text.strip("\n")
    return f"{text[:most].rstrip()}\n({len(text) - most} more characters are left out)"
