"""Tests on disk: the files with the inputs and the expected outputs, and which tests the policy may see.

Two schemes of names, in nested folders too: ``NAME.in`` with ``NAME.out`` or ``NAME.ans``, and ``input.K.txt`` with
``output.K.txt``.  Other files are ignored.  Contents are bytes and are not read here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import final

from maxcode.core.confined import refuse_outside
from maxcode.core.files import TEST, opened
from maxcode.core.types import Case
from maxcode.errors import InputError

SCHEMES = "NAME.in with NAME.out or NAME.ans, or input.K.txt with output.K.txt"
_NUMBERED = re.compile(r"(input|output)\.(.+)\.txt")
_OUTPUTS = (".out", ".ans")
_SHOWN = 5
_CAPTURE = "; for a Python function under pytest, `maxcode capture 'pytest DIR' --function MODULE:NAME` makes a problem"


@final
@dataclass(frozen=True, slots=True)
class Split:
    """Seen and held-out tests, each in the order of names.  ``notes`` is for the user."""

    seen: tuple[Case, ...]
    held_out: tuple[Case, ...]
    notes: tuple[str, ...] = ()


def find_cases(folder: Path) -> list[Case]:
    """The tests in ``folder``, in the order of names; numbers in names are compared as numbers.

    The original is the oracle of an input without an expected output (``made_outputs``).
    Raises InputError if the folder is missing or has no tests, and if an output has no input.
    """
    refuse_outside(folder, "the tests folder")
    if not os.path.isdir(folder):
        raise InputError(f"the tests folder {folder} {_unlike_folder(folder)}; make a folder of tests ({SCHEMES})")
    inputs, outputs = _collect(folder)
    if not inputs and not outputs:
        others = [path.name for path in _files(folder)]
        found = f"it holds {_some(others)}" if others else "it is empty"
        more = _CAPTURE if any(fnmatchcase(name, "test_*.py") for name in others) else ""
        raise InputError(f"the tests folder {folder} has no tests ({found}); name them {SCHEMES}{more}")
    if alone := [str(path) for name, path in outputs.items() if name not in inputs]:
        raise InputError(f"expected outputs in {folder} without an input: {_some(alone)}; add it, named {SCHEMES}")
    for path in (*inputs.values(), *outputs.values()):
        opened(folder / path, TEST).close()  # a device, a loop of links or a huge file is refused, not left out
    names = sorted(inputs, key=natural)
    whole = {name: str((folder / path).resolve()) for name, path in outputs.items()}
    return [Case(name, str((folder / inputs[name]).resolve()), whole.get(name)) for name in names]


def made_outputs(cases: Sequence[Case], folder: Path) -> tuple[str, ...]:
    """A note for the user on the tests whose outputs the original has to give; none where all have one."""
    alone = [case.name for case in cases if case.expected is None]
    if not alone:
        return ()
    which = "the tests" if len(alone) == len(cases) else f"{len(alone)} of {len(cases)} tests ({_some(alone)})"
    return (f"{which} in {folder} have no expected outputs: those of the original are expected, whatever they are",)


def _unlike_folder(path: Path) -> str:
    if os.path.exists(path):
        return "is a file"
    return "is a link that leads nowhere" if os.path.islink(path) else "does not exist"


def _collect(folder: Path) -> tuple[dict[str, PurePosixPath], dict[str, PurePosixPath]]:
    inputs: dict[str, PurePosixPath] = {}
    outputs: dict[str, PurePosixPath] = {}
    for path in _files(folder):
        if (role := _role(path)) is None:
            continue
        name, is_input = role
        side = inputs if is_input else outputs
        if name in side:
            raise InputError(
                f"test '{name}' in {folder} has two files of the same kind: {side[name]} and {path}; keep one"
            )
        side[name] = path
    return inputs, outputs


def _files(folder: Path) -> Iterator[PurePosixPath]:
    """All files and links below a folder but folders; what they are is checked when they are read."""
    for path in sorted(folder.rglob("*")):
        if not path.is_dir():
            yield PurePosixPath(path.relative_to(folder).as_posix())


def _role(path: PurePosixPath) -> tuple[str, bool] | None:
    """(name of the test, whether this is its input); None for a file that belongs to no test."""
    if any(part.startswith(".") for part in path.parts):
        return None
    if numbered := _NUMBERED.fullmatch(path.name):
        return str(path.with_name(numbered[2])), numbered[1] == "input"
    if path.suffix == ".in" or path.suffix in _OUTPUTS:
        return str(path.with_suffix("")), path.suffix == ".in"
    return None


def split(cases: Sequence[Case], seen: tuple[str, ...], held_out: tuple[str, ...]) -> Split:
    """Divide the tests into seen and held-out ones, so that verdicts rest on inputs that the policy has not seen.

    With patterns: as they say; if only one is given, the other side gets the rest.  Without: tests are sorted by input
    size, largest first, then by name, and every other test is held out, the largest first.
    """
    if seen or held_out:
        return _split_by_patterns(cases, seen, held_out)
    if len(cases) == 1:
        note = f"there is only one test ('{cases[0].name}'): the policy may see it, and it decides correctness too"
        return Split(tuple(cases), (), (note,))
    ranked = sorted(cases, key=lambda case: (-Path(case.stdin).stat().st_size, case.name))
    hidden = {case.name for case in ranked[::2]}
    return Split(*_parted(cases, hidden))


def _split_by_patterns(cases: Sequence[Case], seen: tuple[str, ...], held_out: tuple[str, ...]) -> Split:
    shown, hidden = _matching(cases, seen, "seen"), _matching(cases, held_out, "held_out")
    if both := sorted(shown & hidden, key=natural):
        raise InputError(f"tests matched by both tests.seen and tests.held_out: {_some(both)}; change the patterns")
    names = {case.name for case in cases}
    shown = shown if seen else names - hidden
    hidden = hidden if held_out else names - shown
    notes = []
    if unused := sorted(names - shown - hidden, key=natural):
        notes.append(f"tests matched by neither tests.seen nor tests.held_out are left out: {_some(unused)}")
    if not hidden:
        notes.append("no test is held out: the policy may see every test that decides correctness")
    kept = [case for case in cases if case.name in shown | hidden]
    return Split(*_parted(kept, hidden), tuple(notes))


def _matching(cases: Sequence[Case], patterns: tuple[str, ...], key: str) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        matches = {case.name for case in cases if fnmatchcase(case.name, pattern)}
        if not matches:
            names = _some([case.name for case in cases])
            raise InputError(f"tests.{key}: no test matches '{pattern}'; tests are named without suffix: {names}")
        found |= matches
    return found


def _parted(cases: Sequence[Case], hidden: set[str]) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    return (
        tuple(case for case in cases if case.name not in hidden),
        tuple(case for case in cases if case.name in hidden),
    )


def natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts 2 before 10."""
    return [(int(digits or 0), text) for digits, text in re.findall(r"(\d*)(\D*)", name)]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
