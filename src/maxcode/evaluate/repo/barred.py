"""Refuses patches that add what a library has no use for and a deceiver needs: who runs me, and an end of the tests.

A repository's tests run in the candidate's process, so a patch could end the process early with status 0, patch the
test runner, answer comparisons itself, or work right in tests alone.  Each rule names a way to do so, not a program.
A word counts only if the patch adds it: base may use it as often as it does.  Comments do not count where they are
that for sure (``comments.py``).  ``barred`` words refuse the candidate; ``doubtful`` ones have honest uses too, and
only make a result untrusted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import PurePosixPath
from platform import python_version
from typing import final

from maxcode.core.types import Program
from maxcode.evaluate.repo.comments import joined, spelled_out, without_comments, without_unsure
from maxcode.evaluate.repo.gaps import NESTED, nested, squeezed, tight, with_gaps
from maxcode.evaluate.repo.kept_texts import kept
from maxcode.evaluate.repo.python_names import Names, PythonUses, other_names, parsed, python_uses
from maxcode.evaluate.repo.word_rule import Rule
from maxcode.evaluate.repo.word_rules import DOUBTING, REFUSING, Rules, is_known

_CONSTANTS = 300  # numbers; a table for each byte is usual
_NUMBER = re.compile(r"(?<![\w.])\d[\w.]*")
_LONG = re.compile(r"'[^'\n]{400,}'|\"[^\"\n]{400,}\"")
_CONDITION = re.compile(r"^[^\S\n]*(?:#|%:|\?\?=)\s*(if|endif)", re.MULTILINE)
_INCLUDE = re.compile(with_gaps(r"#\s*include\s*[\"<]([^\">\n]+)[\">]"))
_ASKED = re.compile(with_gaps(r"#\s*(?:el)?if(?:n?def)?\b([^\n]*)"))
_WORD = re.compile(r"\w+")
_DEFINE = re.compile(with_gaps(r"#\s*(?:define|undef)\s+(\w+)"))
# What compilers define themselves, and headers for those that do not.
_OF_COMPILERS = re.compile(
    r"__has_\w+|__(?:GNUC|GNUC_MINOR|clang|clang_major|x86_64|aarch64|STDC_VERSION)__|__cplusplus|__ARM_NEON|"
    r"__(?:S?SSE[1-4]?|SSE4_[12]|AVX\w{0,12}|FMA|BMI2?|POPCNT|LZCNT|F16C)__"
)


def barred(base: Program, candidate: Program) -> tuple[str, ...]:
    """One sentence for each way to deceive that the candidate adds."""
    return tuple(dict.fromkeys(_added(base, candidate, REFUSING)))


def doubtful(base: Program, candidate: Program) -> tuple[str, ...]:
    """One sentence for each use that needs a reader."""
    return (*dict.fromkeys(_added(base, candidate, DOUBTING)), *_unread(base, candidate), *_stored(base, candidate))


def _stored(base: Program, candidate: Program) -> Iterator[str]:
    """Tables of constants: they may be answers to the inputs of the benchmark, which base holds."""
    for path, text in candidate.files.items():
        if text == base.files.get(path):
            continue
        kind = DOUBTING(path)[0]
        now, before = without_comments(text, kind), without_comments(base.files.get(path, ""), kind)
        more = len(_NUMBER.findall(now)) - len(_NUMBER.findall(before))
        longest = max((len(found) for found in _LONG.findall(now) if found not in before), default=0)
        if more > _CONSTANTS or longest:
            what = f"{more} numbers" if more > _CONSTANTS else f"a text of {longest} characters"
            yield f"it stores constants, which may be answers: the patch adds {what} to {path}"


def redefined(base: Program, candidate: Program, protected: Mapping[str, str]) -> tuple[str, ...]:
    """Macros that the candidate defines and base does not, if a file that must stay uses the name."""
    included = _included(base) | _included(candidate)
    new = _defined(candidate, included) - _defined(base, included)
    used = new & set[str]().union(*map(_words, protected.values())) if new else ()
    return tuple(f"it defines the macro {name}, which a file uses that must stay as in base" for name in sorted(used))


def asked(base: Program, candidate: Program, protected: Mapping[str, str]) -> tuple[str, ...]:
    """Macros that the candidate asks for and base does not, if only a file that must stay defines them, which no source
    includes: so a header could tell who includes it."""
    included = _included(base) | _included(candidate)
    asked_for = _asked(candidate, included) - _asked(base, included) - _defined(candidate, included)
    new = {name for name in asked_for if not _OF_COMPILERS.fullmatch(name)}
    reached = _reached(included, protected) if new else included
    others = (text for path, text in protected.items() if PurePosixPath(path).name not in reached)
    known = {name for text in others for name in _DEFINE.findall(_as_c(text))} if new else set()
    return tuple(
        f"it asks for the macro {name}, which only a file defines that must stay" for name in sorted(new & known)
    )


def _reached(included: Set[str], protected: Mapping[str, str]) -> set[str]:
    """The names of files that are included, also by those among them that must stay."""
    reached, more = set[str](), set(included)
    while more := more - reached:
        reached |= more
        found = (text for path, text in protected.items() if PurePosixPath(path).name in more)
        more = {PurePosixPath(name).name for text in found for name in _includes(text)}
    return reached


def _asked(program: Program, included: Set[str]) -> set[str]:
    """The names in the conditions of sources of C."""
    texts = (text for path, text in program.files.items() if "c" in dict(_ways(path, included, REFUSING)))
    return {word for text in texts for line in _ASKED.findall(_as_c(text)) for word in _WORD.findall(line)}


@kept
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def _defined(program: Program, included: Set[str]) -> set[str]:
    """The macros that sources of C define, and what they include."""
    texts = (text for path, text in program.files.items() if "c" in dict(_ways(path, included, REFUSING)))
    return {name for text in texts for name in _DEFINE.findall(_as_c(text))}


def _as_c(text: str) -> str:
    return spelled_out(without_comments(text, "c"))


def _ways(path: str, included: Set[str], table: Rules) -> tuple[tuple[str, Sequence[Rule]], ...]:
    """How a file is read: as its suffix says, and as C too if a source of C includes it."""
    own = table(path)
    return (own, table("a.h")) if PurePosixPath(path).name in included and own[0] != "c" else (own,)


def _added(base: Program, candidate: Program, table: Rules) -> Iterator[str]:
    known, included = (_other_names(base), _other_names(candidate)), _included(base) | _included(candidate)
    for path, text in candidate.files.items():
        before = base.files.get(path, "")
        if text == before:
            continue
        is_c = PurePosixPath(path).suffix == ".c"
        for kind, rules in _ways(path, included, table):
            earlier, now = (_Read(one, (kind, is_c), others) for one, others in zip((before, text), known, strict=True))
            for rule in rules:
                if use := next(iter(Counter(now.uses(rule)) - Counter(earlier.uses(rule))), ""):
                    yield f"{rule.what}: the patch adds `{use[:60]}` to {path}"


def _unread(base: Program, candidate: Program) -> Iterator[str]:
    """New texts that cannot be read in full: Python where names are found by words alone, comments within comments,
    languages without rules."""
    included = _included(candidate)
    for path, text in candidate.files.items():
        before = base.files.get(path, "")
        if text != before and REFUSING(path)[0] in ("rust", "unknown") and nested(text) > NESTED:
            yield f"more than {NESTED} comments hold one another in {path}, so that what they part is not found"
        if PurePosixPath(path).suffix == ".py" and text != before and parsed(before) and not parsed(text):
            yield f"Python {python_version()} of maxcode cannot read {path}, so that its imports are not followed"
        if text != before and not is_known(path) and PurePosixPath(path).name not in included:
            yield f"{path} is in a language for which there are no rules of words"


def _other_names(program: Program) -> Names:
    return other_names(text for path, text in program.files.items() if REFUSING(path)[0] == "python")


def _included(program: Program) -> set[str]:
    """The names of all files that sources of C include, whatever their suffix."""
    texts = (text for path, text in program.files.items() if REFUSING(path)[0] == "c")
    return {PurePosixPath(name).name for text in texts for name in _includes(text)}


@kept
def _includes(text: str) -> tuple[str, ...]:
    return tuple(_INCLUDE.findall(_as_c(text)))


@final
class _Read:
    """A file as the rules see it."""

    def __init__(self, text: str, language: tuple[str, bool], others: Names) -> None:
        kind, self._is_c = language
        code = without_comments(text, kind)
        self._sure, more = without_unsure(squeezed(code)), joined(spelled_out(code))
        found = python_uses(text, code, others) if kind == "python" else PythonUses(())
        self._code, self._names = squeezed("\n".join((code, more, *found.texts))), "\n".join(found.names)

    def uses(self, rule: Rule) -> list[str]:
        """What a rule finds, in order of its letters."""
        words = [tight(found[0]) for found in rule.pattern.finditer(self._code) if not self._is_its_own(found)]
        return sorted(words + [found[0] for found in rule.names.finditer(self._names)])

    def _is_its_own(self, found: re.Match[str]) -> bool:
        """Whether a rule finds a function that the file itself defines."""
        groups = found.groupdict()
        if name := groups.get("own"):
            head = rf"^[A-Za-z_][\w\s*<>:,]{{0,200}}?\b{name}\s*\([^;{{}}]*\)\s*\{{"
            return re.search(head, self._sure, re.MULTILINE) is not None
        return self._is_c and self._is_static(groups.get("static") or "")

    def _is_static(self, name: str) -> bool:
        """Whether in C a name can only mean a static function of the file; in C++ others may have it too."""
        head = rf"^static\b[\w\s*]{{0,200}}?\b{name}\s*\([^;{{}}]*\)\s*\{{"
        found = re.search(head, self._sure, re.MULTILINE) if name else None
        if found is None or re.search(with_gaps(rf"#\s*define\s+(?:static|{name})\b"), self._code):
            return False
        conditions = _CONDITION.findall(self._sure, 0, found.end())
        return conditions.count("if") == conditions.count("endif")
