"""Repeats a certificate: the same files, at another time or on another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, final

import anyio
import msgspec

from maxcode.core.types import Problem, Program
from maxcode.core.types.kinds import WITH_TESTS
from maxcode.errors import InputError
from maxcode.problems import is_given, is_named, load
from maxcode.run.certificate.claim import (
    FILE,
    Certificate,
    Tested,
    hash_differences,
    read,
    read_bytes,
    sha256,
    subject_differences,
    subject_of,
)
from maxcode.run.certificate.making import measured, opened, winner_in
from maxcode.run.record import GIVEN, read_header


@final
@dataclass(frozen=True, slots=True)
class Repeated:
    """The claim, and the result here.  ``elsewhere``: the differences between this machine and that of the claim."""

    claimed: Certificate
    here: Certificate
    elsewhere: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether the two intervals overlap; they may differ correctly on another machine."""
        one, other = self.claimed.timing, self.here.timing
        if one is None or other is None:
            return False
        return one.speedup.low <= other.speedup.high and other.speedup.low <= one.speedup.high

    def __str__(self) -> str:
        claim = _figure(self.claimed)
        if self.here.refused:
            return f"does not hold here: {self.here.refused} (certificate: {claim})"
        assert self.here.timing is not None
        word = "holds here" if self.here.holds else "does not hold here"
        return f"{word}: {self.here.timing.speedup} (certificate: {claim})"

    def as_json(self) -> str:
        """One object: both certificates and the conclusion."""
        told = {"holds": self.here.holds, "trusted": self.here.trusted, "agrees": self.agrees, "told": str(self)}
        whole = {"elsewhere": self.elsewhere, "certificate": asdict(self.claimed), "here": asdict(self.here)}
        return msgspec.json.encode({**told, **whole}).decode()


@final
@dataclass(frozen=True, slots=True)
class Moved:
    """What is not where the run folder says: data files by name, and the virtual environment."""

    files: Mapping[str, Path] = field(default_factory=dict)
    venv: Path | None = None


def _figure(found: Certificate) -> str:
    return f"refused, {found.refused}" if found.timing is None else str(found.timing.speedup)


def repeat(
    path: Path,
    problem: Path | None = None,
    tests: Path | None = None,
    say: Callable[[str], None] = lambda words: None,
    moved: Moved | None = None,
) -> Repeated:
    """Builds, verifies and times the winner next to the certificate again, against ``problem``, or else against what
    the run folder keeps and names.  The working directory does not matter.  ``moved``: in place of what it names.

    Raises InputError for a changed certificate, and for each file that differs from the certified one.
    """
    path = path / FILE if path.is_dir() else path
    claimed = read(path)
    _check_options(path, claimed)
    source, tests = (problem, tests) if problem is not None else _ground(path.parent, tests, claimed)
    loaded = load(source, tests, {**claimed.options, **_given_paths(path.parent, source, moved or Moved())}).problem
    if claimed.subject.winner.keys() != loaded.program.files.keys() and not loaded.traits.is_patch:
        names = sorted(loaded.program.files)
        raise InputError(f"{path} is about the files {sorted(claimed.subject.winner)}, {source} has {names}")
    winner = winner_in(path.parent / "best", loaded, claimed.subject.winner.keys())
    subject = subject_of(loaded, winner)
    _refuse(path, [*subject_differences(claimed.subject, subject), *_other_files(claimed, loaded)])
    here = anyio.run(_again, path, claimed, loaded, winner, say)
    return Repeated(claimed, here, tuple(_elsewhere(claimed, here)))


async def _again(
    path: Path, claimed: Certificate, problem: Problem, winner: Program, say: Callable[[str], None]
) -> Certificate:
    """The certificate made here, unless a test differs from the certified one."""
    work = await opened(problem, winner, say, claimed)
    here = work.certificate(claimed.options, next(iter(claimed.seeds.get("run", ())), None))
    _refuse(path, [*_other_tests(claimed, here)])
    return await measured(work, here, say)


def _check_options(path: Path, claimed: Certificate) -> None:
    """Checks the options of a certificate, which may come from anywhere: it may set how to compare and build, but never
    a command to run or a file to read."""
    checker = claimed.options.get("checker", {})
    others = sorted(claimed.options.keys() - _OPTIONS)
    if others or not isinstance(checker, dict) or checker.get("kind") == "command":
        what = ", ".join(others) or "a checker that is a command"
        raise InputError(
            f"{path} sets options that only a problem.toml may set ({what}); put them there and make it again"
        )
    for purpose, seeds in claimed.seeds.items():
        if any(abs(seed) >> _SEED_BITS for seed in seeds):
            raise InputError(
                f"{path} was changed or is damaged: a seed '{purpose}' has more than {_SEED_BITS} bits, and maxcode "
                "makes no such seed; make it again with `maxcode optimize`"
            )


def kept_options(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """What a certificate keeps of the overrides of a run: no paths, which ``run.toml`` names."""
    kept = {key: value for key, value in overrides.items() if not is_given(value)}
    if "python" in kept:
        table = {key: value for key, value in kept.pop("python").items() if key != "venv"}
        kept |= {"python": table} if table else {}
    return kept


_SEED_BITS = 64
_OPTIONS = frozenset(
    {
        "flags",
        "checker",
        "goal",
        "limits",
        "tie_break",
        "shared_cores",
        "module",
        "id",
        "args",
        "env",
        "edit",
        "include",
        "base",
    }
)


def _ground(folder: Path, tests: Path | None, claimed: Certificate) -> tuple[Path, Path | None]:
    """The problem of a run and its tests: a source file from the copy in the run folder, anything else by its path."""
    header = read_header(folder)
    given = header.get(GIVEN, {})
    source = Path(given.get("source") or header.get("source", ""))
    kept = folder / "original" / source.name
    tests = tests or _named_tests(folder, given.get("tests", ""))
    if is_named(source):
        return source, tests
    if source.suffix == ".toml" or not kept.is_file():
        return _existing(folder, source), tests
    if tests is None and claimed.subject.kind in WITH_TESTS:
        raise InputError(f"which tests? {folder} does not name them; give them with --tests DIR")
    return kept, tests


def _named_tests(folder: Path, named: str) -> Path | None:
    if named and not Path(named).exists():
        raise InputError(f"the tests of {folder} were in {named}, which is not here; give them with --tests DIR")
    return Path(named) if named else None


def _given_paths(folder: Path, source: Path, moved: Moved) -> Mapping[str, Any]:
    """The paths that the run was given on its command line.  The folders of headers of a source file are in the copy in
    the run folder, and its flags in the certificate."""
    given = read_header(folder).get(GIVEN, {})
    data = {**{name: Path(path) for name, path in given.get("files", {}).items()}, **moved.files}
    for name, path in data.items():
        if not path.exists():
            raise InputError(f"the data file {name} of {folder} was {path}, which is not here; give --file {name}=PATH")
    found: dict[str, Any] = {"files": data} if data else {}
    if venv := moved.venv or given.get("venv"):
        if not Path(venv).is_dir():
            raise InputError(
                f"the virtual environment of {folder} was {venv}, which is not here; give it with --venv DIR"
            )
        found["python"] = {"venv": str(Path(venv).absolute())}
    if source.is_dir() or source.suffix == ".toml":
        found |= {"include": [Path(path) for path in given["include"]]} if "include" in given else {}
        found |= {"compile_commands": Path(given["compile_commands"])} if "compile_commands" in given else {}
    return found


def _existing(folder: Path, source: Path) -> Path:
    if source.name and source.exists():
        return source
    where = f"the run folder names '{source}', which is not here" if source.name else f"{folder} has no run.toml"
    raise InputError(f"which problem? {where}; give it with --problem (and --tests for a source file)")


def _refuse(path: Path, differences: list[str]) -> None:
    if differences:
        told = "; ".join(differences)
        raise InputError(f"{path} is not about what is here: {told}; put back the files that it was made with")


def _other_files(claimed: Certificate, problem: Problem) -> Iterator[str]:
    """Tests on disk that differ from the certified ones, without those that the original failed at that time."""
    here: dict[str, str] = {}
    for origin, cases in (("seen", problem.spec.seen), ("held_out", problem.spec.held_out)):
        for case in cases:
            if case.name not in claimed.dropped:
                here[f"{case.name} ({origin}), input"] = sha256(read_bytes(Path(case.stdin)))
                if case.expected is not None:
                    here[f"{case.name} ({origin}), expected answer"] = sha256(read_bytes(Path(case.expected)))
    cases = (*problem.spec.seen, *problem.spec.held_out)
    yield from hash_differences(
        "test", _files(claimed.tests, {one.name for one in cases if one.expected is None}), here
    )


def _files(tests: tuple[Tested, ...], answered: set[str]) -> dict[str, str]:
    """``answered``: tests whose expected answers are those of the original."""
    on_disk = [one for one in tests if one.origin in ("seen", "held_out")]
    inputs = {f"{one.name} ({one.origin}), input": one.input for one in on_disk}
    known = [one for one in on_disk if one.name not in answered]
    return {**inputs, **{f"{one.name} ({one.origin}), expected answer": one.expected for one in known}}


def _other_tests(claimed: Certificate, here: Certificate) -> Iterator[str]:
    """Differing tests that are not on disk, or that the original fails here.

    The inputs of a function are drawn again each time.  The answers to generated inputs are those of the original, and
    they are compared.  The size that an input needs for timing depends on the machine.
    """
    if claimed.subject.function:
        return
    given = ({one.name: one.input for one in side.tests if one.origin != "made"} for side in (claimed, here))
    yield from hash_differences("test", *given)


def _elsewhere(claimed: Certificate, here: Certificate) -> Iterator[str]:
    for name in ("version", "compiler", "sandbox"):
        old, new = getattr(claimed, name), getattr(here, name)
        if old != new:
            yield f"{name}: {old} there, {new} here"
    if claimed.trust is not None and claimed.trust != here.trust:
        yield f"trust: {claimed.trust} there, {here.trust} here"
    there, again = ({one.input for one in side.made_inputs.inputs} for side in (claimed, here))
    if missing := len(there - again):
        yield f"newly generated inputs: {missing} of {len(there)} could not be generated again here"
    for name in ("node", "cpu", "cores", "kernel", "caches", "isa"):
        before: Any = getattr(claimed.machine, name)
        after: Any = getattr(here.machine, name)
        if before != after:
            yield f"{name}: {_plain(before)} there, {_plain(after)} here"


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else str(value)
