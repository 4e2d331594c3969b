"""What a prompt shows of a repository: not the whole tree, but its hot functions with callers, types and tests.

Small repositories are shown whole, like programs.  Of a large one the policy sees the list of files, the texts that
matter, and may ask for more (``llm/completion/shown.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from maxcode.code.definitions import Definition, function_named, types_in
from maxcode.code.languages import LANGUAGES
from maxcode.code.source import fenced
from maxcode.core.history import Reached
from maxcode.core.types import HotFunction, Problem, Program, Section, State
from maxcode.observe.part import Part, changed, harmless, listing, tokens

WHOLE = 12_000  # tokens of a repository that is shown whole
_TEXTS = 6_000  # tokens of the texts of hot functions, their callers and types
_FILES_SHOWN = 200
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
    """ "Profile": where the benchmark of base spends its time, with the texts of these functions in the program of this
    state, their callers, their types and the tests that name them.  Of a small repository the texts are left out.

    ``benchmark``: (path, text) of the files that its command names; they are shown too.
    """
    lines = [_head(hot[0]), *map(_line, hot)] if hot else []
    sources = [f"what the benchmark runs, {path}:\n{fenced(text)}" for path, text in benchmark]

    def part(state: State, reached: Reached) -> Section | None:
        if not lines and not sources:
            return None
        told = [harmless("\n".join(lines))] if lines else []
        texts = list(_texts(hot, state.program, state.problem)) if is_large(state.problem) else []
        return Section("Profile", "\n\n".join([*told, *texts, *sources]))

    return part


def _head(first: HotFunction) -> str:
    if first.bound is not None:
        return "share of the benchmark's time by function, with the library code that it calls, in base:"
    left = f"{first.uncounted:.0%} of the time is in library code and not counted"
    return f"share of the benchmark's time by function, in base ({left}):"


def _line(one: HotFunction) -> str:
    callers = f", called by {', '.join(one.callers)}" if one.callers else ""
    tests = f"; named in {', '.join(one.tests)}" if one.tests else "; no test names it"
    bound = f" (at most {one.bound:.2f}x)" if one.bound is not None else ""
    return f"{one.share:6.1%} {one.file}:{one.line} {one.name}{bound}{callers}{tests}"


def _texts(hot: Sequence[HotFunction], program: Program, problem: Problem) -> Iterator[str]:
    """The hot functions, then the types that they name, then their callers, as long as there is room."""
    left = _TEXTS
    found = [(one.file, text) for one in hot if (text := _function(program, one.file, one.name, one.line)) is not None]
    used = "\n".join(text.text for _, text in found)
    found += [(path, one) for path, text in program.files.items()
              for one in types_in(language_of_path(path, problem.language), text, used)]  # fmt: skip
    names = {caller for one in hot for caller in one.callers}
    found += [(path, text) for name in sorted(names) for path in program.files
              if (text := _function(program, path, name, 0)) is not None]  # fmt: skip
    seen: set[tuple[str, int]] = set()
    for path, one in found:
        if (path, one.first) not in seen and tokens(one.text) <= left:
            seen.add((path, one.first))
            left -= tokens(one.text)
            yield f"{path}, lines {one.first} to {one.last}:\n{fenced(one.text)}"


def _function(program: Program, path: str, name: str, line: int) -> Definition | None:
    if path not in program.files:
        return None
    return function_named(language_of_path(path, ""), program.files[path], name, line)


def language_of_path(path: str, otherwise: str) -> str:
    """The language of a file by its suffix; headers are read as C++."""
    suffix = "." + path.rpartition(".")[2]
    by_suffix = next((row.name for row in LANGUAGES.values() if suffix in row.suffixes), "")
    return by_suffix or ("cpp" if suffix in (".h", ".hpp", ".hh") else otherwise or "javascript")
