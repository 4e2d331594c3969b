"""Programs for rules_hold.py from files: the examples, folders, and the packed texts beside this file.

A packed text holds many programs.  ``==== NAME FLAGS`` starts one, ``---- PATH`` another file of it, and ``<<<<`` an
input.  The first file is the one that rules edit; it is main.cpp, or main.c if the name ends with ``.c``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.code.languages import language, language_of
from maxcode.evaluate.function.glue import support
from maxcode.problems import load

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
PROGRAMS = HERE.parent.parent / "tests" / "policy" / "programs"
_PLANTED_AT_MOST = 2000
PLANTED = HERE.parent / "planted"


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One program.  ``files``: the edited one first; ``runs``: false for a library, which is only compiled."""

    name: str
    language: str
    files: Mapping[str, str]
    flags: tuple[str, ...]
    inputs: tuple[str, ...] = ("",)
    runs: bool = True
    seconds: int = 10

    @property
    def name_of_main(self) -> str:
        return next(iter(self.files))

    @property
    def text(self) -> str:
        return self.files[self.name_of_main]

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(text for path, text in self.files.items() if path != self.name_of_main)


def packed() -> Iterator[Case]:
    """The programs of all packed texts, and those of the tests of the rules."""
    for path in sorted(HERE.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("\n==== ")[1:]:
            yield _case(f"{path.stem}/", block)
    for path in sorted([*PROGRAMS.glob("*.c*"), *PLANTED.glob("*.c*")]):
        given = path.with_suffix(".in")
        inputs = (given.read_text(),) if given.exists() else _planted(path.read_text())
        row = language_of(path.name)
        yield Case(
            f"{path.parent.name}/{path.name}", row.name, {path.name: path.read_text()}, row.default_flags, inputs
        )


def _planted(text: str) -> tuple[str, ...]:
    """The input of a planted program, as its first line asks for it, cut to what runs in a moment.  No empty one: most
    of them are undefined without their first number."""
    asked = re.match(r"// INPUT (integers )?(\d+)", text)
    n = min(int(asked[2]), _PLANTED_AT_MOST) if asked is not None else 3
    numbers = "".join(f"{i * 48271 % 1_000_003}\n" for i in range(n)) if asked is None or asked[1] else ""
    return (f"{n}\n{numbers}",)


def _case(subject: str, block: str) -> Case:
    head, _, rest = block.partition("\n")
    name, *flags = head.split()
    row = language("c" if name.endswith(".c") else "cpp")
    body, *inputs = rest.split("\n<<<<\n")
    first, *others = body.split("\n---- ")
    files = {f"main{row.suffixes[0]}": f"{first.rstrip()}\n"}
    for other in others:
        path, _, text = other.partition("\n")
        files[path.strip()] = f"{text.rstrip()}\n"
    return Case(subject + name, row.name, files, tuple(flags) or row.default_flags, tuple(inputs) or ("",))


def examples() -> Iterator[Case]:
    """The examples in C and C++, with their small tests; functions without main are only compiled."""
    for path in sorted(EXAMPLES.glob("*/problem.toml")):
        problem = load(path.parent).problem
        if problem.language in ("c", "cpp"):
            cases = sorted((*problem.spec.seen, *problem.spec.held_out), key=lambda c: Path(c.stdin).stat().st_size)
            inputs = tuple(Path(case.stdin).read_text() for case in cases[:4])
            runs = problem.kind == "program"
            name = f"examples/{path.parent.name}"
            headers = {path: text for path, text in support(problem).items() if path.endswith(".h")}
            files = {**problem.program.files, **headers}
            yield Case(name, problem.language, files, problem.spec.flags, inputs or ("",), runs)


def of_folder(folder: Path) -> Iterator[Case]:
    """The program of a folder, or those of its folders."""
    inputs = tuple(path.read_text() for path in sorted(folder.glob("tests/*.in")))
    for path in sorted(folder.glob("*.c*")) if inputs else ():
        row = language_of(path.name)
        yield Case(f"{folder.name}/{path.name}", row.name, {path.name: path.read_text()}, row.default_flags, inputs)
    for inner in sorted(one for one in folder.iterdir() if one.is_dir() and not inputs):
        yield from of_folder(inner)
