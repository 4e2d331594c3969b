"""What a prompt shows of a repository: not the whole tree, but its hot functions with callers, types and tests.

Small repositories are shown whole, like programs.  Of a large one the policy sees the list of files, the texts that
matter, and may ask for more (``llm/completion/shown.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.types import HotFunction, Problem, Program, Section, State
from maxcode.observe.hot_texts import hot_texts
from maxcode.observe.part import Part, changed, harmless, listing, tokens

WHOLE = 12_000  # tokens of a repository that is shown whole
_FILES_SHOWN = 200
_TOLD = 0.005  # share of the time without a known caller that is worth a word
_DIFF_SHOWN = 24_000  # characters


def is_large(problem: Problem) -> bool:
    """Whether the files are too many to be shown whole: only those of a repository are."""
    return problem.spec.repo is not None and sum(map(tokens, problem.program.files.values())) > WHOLE


def shown_original(problem: Problem) -> str:
    """The original: its files, or of a large repository their names."""
    if not is_large(problem):
        return listing(problem.program, problem.language)
    lengths = [f"{path}: {text.count(chr(10))} lines" for path, text in problem.program.files.items()]
    more = f"\n({len(lengths) - _FILES_SHOWN} more files)" if len(lengths) > _FILES_SHOWN else ""
    return "(too long to be shown whole; its files are)\n" + "\n".join(lengths[:_FILES_SHOWN]) + more


def shown_program(problem: Problem, program: Program) -> str:
    """A program: its files, or of a large repository what it changes."""
    if not is_large(problem):
        return listing(program, problem.language)
    return "what it changes in the original:\n" + changed(problem.program, program, _DIFF_SHOWN)


def hot_functions(hot: Sequence[HotFunction], benchmark: Sequence[tuple[str, str]] = ()) -> Part:
    """ "Profile": where the benchmark spends its time, with the texts of these functions in the program of this state,
    their callers, their types and the tests that name them.  Of a small repository the texts are left out.

    It is the profile of the last best program of this path, beside the shares in base; where there is none, that of
    base, and after it that of the best of the run.
    ``benchmark``: (path, text) of the files that its command names; they are shown too.
    """
    sources = [f"what the benchmark runs, {path}:\n{fenced(text)}" for path, text in benchmark]

    def part(state: State, reached: Reached) -> Section | None:
        best, now = profiled_best(state, reached), tuple(hot)
        tables = [] if best is not None and best in state.ancestry else [hot_lines_of(hot, "base")]
        if best is not None and best.step is not None:
            tables.append(_beside_base(best.step.evaluation.hot, hot, profiled_program(best, state)))
            now = best.step.evaluation.hot if best in state.ancestry else now
        told = [harmless("\n".join(lines)) for lines in tables if lines]
        texts = list(hot_texts(now, state.program, state.problem)) if is_large(state.problem) else []
        found = [*told, *texts, *sources]
        return Section("Profile", "\n\n".join(found)) if found else None

    return part


def profiled_best(state: State, reached: Reached) -> State | None:
    """The best program with a profile of its own: the last one of this path, else that of the run."""
    best = () if reached.best is None else (reached.best,)
    return next((one for one in (*state.ancestry, *best) if one.step and one.step.evaluation.hot), None)


def profiled_program(best: State, state: State) -> str:
    """Which program it is, in words."""
    speed = f", {best.reward:.2f}x as fast as base" if best.reward > 1 else ""
    if best.program == state.program:
        return f'the program under "Program"{speed}'
    is_here = best in state.ancestry
    return f"{f'step {best.depth} of this path' if is_here else 'the best program of the run, of another path'}{speed}"


def hot_lines_of(hot: Sequence[HotFunction], where: str) -> list[str]:
    """The functions of a profile in words, the costliest first; empty if there are none.  ``where``: of which program
    it is."""
    return [_head(hot[0], where), *map(_line, hot)] if hot else []


def _beside_base(hot: Sequence[HotFunction], base: Sequence[HotFunction], where: str) -> list[str]:
    """The profile of a program beside base's, and what of base it has no longer."""
    if not base:
        return hot_lines_of(hot, where)
    told = [_line(one, _in_base([known.share for known in base if _is_alike(one, known)])) for one in hot]
    own = {(one.file, one.name) for one in hot}
    less = ", ".join(f"{one.file}:{one.name} {one.share:.1%}" for one in base if (one.file, one.name) not in own)
    return [_head(hot[0], where), *told, *([f"hardly any more, but in base: {less}"] if less else [])]


def _is_alike(one: HotFunction, other: HotFunction) -> bool:
    return (one.file, one.name) == (other.file, other.name)


def _in_base(shares: Sequence[float]) -> str:
    """The share in base of the functions that have one name, as overloads of C++ may."""
    if not shares:
        return "; not seen in base"
    return f"; {sum(shares):.1%} in base{f', in {len(shares)} functions of that name' if len(shares) > 1 else ''}"


def _head(first: HotFunction, where: str) -> str:
    where = f"{where}, by {first.samples} samples" if first.samples else where
    if first.bound is not None:
        less = f" (at most: if it and the {first.uncounted:.1%} of no known caller took no time)"
        more = less if first.uncounted >= _TOLD else ""
        return f"share of the benchmark's time by function, with the library code that it calls, in {where}{more}:"
    left = f"{first.uncounted:.0%} of the time is in library code and not counted"
    return f"share of the benchmark's time by function, in {where} ({left}):"


def _line(one: HotFunction, beside: str = "") -> str:
    callers = f", called by {', '.join(one.callers)}" if one.callers else ""
    tests = f"; named in {', '.join(one.tests)}" if one.tests else "; no test names it" if one.tests == () else ""
    bound = f" (at most {one.bound:.2f}x)" if one.bound is not None else ""
    return f"{one.share:6.1%} {one.file}:{one.line} {one.name}{bound}{callers}{beside}{tests}"
