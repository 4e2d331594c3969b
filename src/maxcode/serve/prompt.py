"""Reading prompts: maxcode's own are cut into the sections they were made of; in any other the program is looked for.

Own prompts are lines ``# <Title>`` with the section's text below.  Any other prompt (another tool's, a person's) is
read as Markdown: its fenced blocks and the words right above them say which program is to be improved, and the rest
says in which form the answer is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from maxcode.code.languages import language as language_row
from maxcode.code.source import fenced, fences, parse, tokens, walk
from maxcode.core.types import Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.llm.clients import Message

TITLES = (
    "Problem",
    "Program",
    "Test",
    "Machine",
    "Profile",
    "Feedback",
    "Best",
    "Best of the run",
    "Trajectory",
    "Critique",
    "Failures",
    "Duplicate",
    "Task",
)
_ASKS_EDITS = re.compile(r"^\s*<{5,} ?SEARCH", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt asks for: better than ``text``, in the form wanted, with the prompt's own language tag.  ``own``:
    it is a prompt of maxcode's."""

    text: str
    language: str
    tag: str
    edits: bool
    sections: tuple[Section, ...]
    own: bool = False

    def observation(self, draw: int, temperature: float) -> Observation:
        """What a policy is given: the sections, under a problem that holds no more than the prompt tells."""
        name = f"program{language_row(self.language).suffixes[0]}"
        kind = "program" if _has_main(self.text, self.language) else "function"
        problem = Problem("served", kind, self.language, Program({name: self.text}), ProgramSpec())  # type: ignore[arg-type]
        return Observation(self.sections, State(problem), draw, temperature)


def read(messages: Sequence[Message]) -> Asked | None:
    """What the last message that holds a program asks for; None where none does."""
    system = "\n".join(message.text for message in messages if message.role == "system")
    for message in reversed([one for one in messages if one.role != "system"]):
        if (asked := _own(message.text) or _foreign(message.text, system)) is not None:
            return asked
    return None


# ------------------------------------------------------------------------------------------------ maxcode's own prompts


def cut(text: str) -> tuple[Section, ...]:
    """The sections of a prompt of maxcode's own; () where it does not begin with one.  A title inside a fenced block
    is part of the block, and a title that comes again is part of the section it stands in."""
    lines = text.split("\n")
    inside = {number for block in _blocks(lines) if block.closed for number in range(block.start, block.end + 1)}
    starts: dict[str, int] = {}
    for number, line in enumerate(lines):
        title = line[2:].rstrip()
        if line.startswith("# ") and title in TITLES and title not in starts and number not in inside:
            starts[title] = number
    if not starts or any(line.strip() for line in lines[: min(starts.values())]):
        return ()
    ends = [*list(starts.values())[1:], len(lines)]
    return tuple(
        Section(title, "\n".join(lines[start + 1 : end]).strip("\n"))
        for (title, start), end in zip(starts.items(), ends, strict=True)
    )


def _own(text: str) -> Asked | None:
    sections = cut(text)
    told = {section.title: section.text for section in sections}
    programs = fences(told.get("Program", ""))
    if not programs or "Problem" not in told:
        return None
    named = re.search(r"^language: *(\w+)", told["Problem"], re.MULTILINE)
    language = named[1] if named and named[1] in _SOURCES else _language(programs[0].tag, programs[0].body)
    task = text[max(text.rfind("\n# Task\n"), 0) :]  # a statement may have a heading of that name
    wanted = "Task" in told and _ASKS_EDITS.search(task) is not None
    return Asked(programs[0].body, language, programs[0].tag or language, wanted, sections, own=True)


# ------------------------------------------------------------------------------------------------- anybody's prompts


@final
@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: its lines ``start`` to ``end`` (the fences themselves), its tag, and the words above it."""

    start: int
    end: int
    tag: str
    body: str
    above: str
    closed: bool = True


_OPENING = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
_HEADING = re.compile(r"^(#{1,6}\s|\*\*|[^\n]*:\s*\*{0,2}\s*$)")
_IMPROVE = re.compile(
    r"\b(current|existing|original|initial|baseline|parent|following|given)\s+(best\s+)?"
    r"(program|code|solution|implementation|candidate|kernel|version)\b"
    r"|\b(program|code|kernel|function|solution)\s+(to|for you to)\s+(be\s+)?(improv|optimi[sz]|speed|rewrit|evolv)"
    r"|^#+\s+(the\s+)?(program|code|source)\s*:?\s*$"
    r"|\b(improve|optimi[sz]e|speed up|rewrite)\s+(this|the)\s+(following\s+)?(program|code|kernel|function)",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCES = {
    "cpp": ("cpp", "c++", "cc", "cxx", "hpp", "cplusplus"),
    "c": ("c", "h"),
    "python": ("python", "py", "python3"),
}
_CPP = re.compile(
    r"\bstd::|\busing namespace\b|#\s*include\s*<[a-z_]+>|\btemplate\s*<|\b(cin|cout)\b|\bclass \w+ *[:{]"
)
_C = re.compile(r"^\s*#\s*include\b|[;{}]\s*$", re.MULTILINE)
_EVOLVE = "EVOLVE-BLOCK-START"


def _foreign(text: str, system: str) -> Asked | None:
    lines = text.split("\n")
    whole = [block for block in _blocks(lines) if _is_program(block)]
    if not whole:
        return _unfenced(text, system)
    block = _chosen(whole)
    language = _language(block.tag, block.body)
    rest = "\n".join((system, *lines[block.end :])), "\n".join(lines[: _blocks(lines)[0].start])
    wanted = any(_ASKS_EDITS.search(part) for part in rest)
    return _asked(block.body, language, block.tag, wanted, text)


def _asked(body: str, language: str, tag: str, edits: bool, prompt: str) -> Asked:
    """A program found in a foreign prompt, under the sections that the policies know."""
    flags = " ".join(dict.fromkeys(re.findall(r"-fopenmp(?:-simd)?\b", prompt)))
    problem = Section("Problem", f"language: {language}\nflags: {flags}\n")
    return Asked(body, language, tag or language, edits, (problem, Section("Program", fenced(body, language))))


def _chosen(blocks: list[_Block]) -> _Block:
    """The last one that is announced as the program to improve; else one with markers; else the longest, the last of
    equals."""
    announced = [block for block in blocks if _IMPROVE.search(block.above)]
    marked = [block for block in announced or blocks if _EVOLVE in block.body]
    if marked or announced:
        return (marked or announced)[-1]
    return max(reversed(blocks), key=lambda block: len(block.body))


def _blocks(lines: list[str]) -> list[_Block]:
    """The fenced blocks in order; one that is never closed reaches to the end."""
    found: list[_Block] = []
    number = after = 0
    while number < len(lines):
        opening = _OPENING.match(lines[number])
        if opening is None:
            number += 1
            continue
        end = next((at for at in range(number + 1, len(lines)) if _closes(lines[at], opening[1])), len(lines))
        body = "".join(f"{line}\n" for line in lines[number + 1 : end])
        above = _above(lines[after:number])
        found.append(_Block(number, end, opening[2].lower(), body, above, end < len(lines)))
        number = after = end + 1
    return found


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _above(lines: list[str]) -> str:
    """The last heading before a block, with what follows it: at most the four lines nearest to the block."""
    heading = next((line for line in reversed(lines) if _HEADING.match(line)), "")
    near = [line for line in lines if line.strip()][-4:]
    start = near.index(heading) if heading in near else 0
    return "\n".join([heading, *near[start:]])


def _is_program(block: _Block) -> bool:
    known = any(block.tag in tags for tags in _SOURCES.values()) or block.tag == ""
    if not known or _ASKS_EDITS.search(block.body):
        return False
    return _looks_whole(block.body, _language(block.tag, block.body))


def _looks_whole(body: str, language: str) -> bool:
    """Whether there is a function in it, or several statements: an example of a form has neither."""
    if language != "python":
        return any(node.type == "function_definition" for node in walk(parse(language, body).root))
    kinds = [node.type for node in parse("python", body).root.children]
    return len([kind for kind in kinds if kind not in ("comment", "ERROR")]) >= 2 or "function_definition" in kinds


def _language(tag: str, body: str) -> str:
    named = next((language for language, tags in _SOURCES.items() if tag in tags), "")
    if named == "python" or (not named and not _C.search(body)):
        return "python"
    return "cpp" if named == "cpp" or _CPP.search(body) else "c"


def _has_main(text: str, language: str) -> bool:
    if language == "python":
        return not _only_definitions(text)
    words = tokens(text)
    return any(one.text == "main" and two.text == "(" for one, two in pairwise(words))


def _only_definitions(text: str) -> bool:
    definitions = ("function_definition", "class_definition", "decorated_definition", "comment")
    kinds = [node.type for node in parse("python", text).root.children]
    return all(kind in definitions or kind.startswith(("import", "future")) for kind in kinds)


def _unfenced(text: str, system: str) -> Asked | None:
    """A program that was pasted as it is: from its first line of code to its last."""
    wanted = _ASKS_EDITS.search(text) or _ASKS_EDITS.search(system)
    for body in _pasted(text.split("\n")):
        language = _language("", body)
        if _looks_whole(body, language) and not parse(language, body).root.has_error:
            return _asked(body, language, "", wanted is not None, text)
    return None


_FIRST = re.compile(r"#\s*include|using namespace|(static |inline )*(void|int|double|float|long)\b.*[({]|template\s*<")
_FIRST_PYTHON = re.compile(r"(import|from) \w+|def \w+\(|class \w+")


def _pasted(lines: list[str]) -> Iterator[str]:
    """What may be a pasted program, most likely first."""
    starts = [number for number, line in enumerate(lines) if _FIRST.match(line)]
    ends = [number for number, line in enumerate(lines) if line.startswith("}")]
    if starts and ends:
        yield "".join(f"{line}\n" for line in lines[starts[0] : ends[-1] + 1])
    pythonic = [number for number, line in enumerate(lines) if _FIRST_PYTHON.match(line)]
    inner = [number for number, line in enumerate(lines) if line.startswith((" ", "\t"))]
    if pythonic and inner:
        yield "".join(f"{line}\n" for line in lines[pythonic[0] :])
        yield "".join(f"{line}\n" for line in lines[pythonic[0] : inner[-1] + 1])
