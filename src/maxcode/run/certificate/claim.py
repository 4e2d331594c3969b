"""The certificate's fields, the conclusions from them, and its file.

Every value is either measured or follows from measured values; ``read`` computes the conclusions again and refuses a
file with other ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.core.files import DATA_AT_MOST, FileKind, read_file, write_whole
from maxcode.core.jsonl import DAMAGED, in_words_of_today
from maxcode.core.stats import RaceRule, interval_of, is_faster, median_interval
from maxcode.core.types import Checker, Clock, Interval, Limits, Machine, Problem, Program, Recheck, Timing, Trust
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import Verification
from maxcode.evaluate.ladder.sanitize import FINDING, Sanitized
from maxcode.run.certificate.doubts import Grounds
from maxcode.run.certificate.earlier_formats import reworded, shown_by_signs
from maxcode.run.certificate.unseen import PAIRS, FreshInputTiming, told

FILE = "certificate.json"
FORMAT = 3
FIRST_FORMAT = 1  # of version 0.1; it has no doubt about a suspicious winner that could not be checked on other inputs
CONTROL_CONFIDENCE = 0.99  # at 95 % the control of one correct certificate in twenty would fail
RUNS_LEAST = 10
_EXACT = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of the claim: SHA-256 by file name (relative; no absolute paths).

    ``helpers``               the files that the generator's and the checker's commands name
    ``function``, ``module``, ``python``  the hash of all their settings; empty for another kind of problem
    ``args``, ``env``, ``files``  what every run is started with
    ``include``               the program's folders of headers
    ``repo``                  the hash of a repository's base, patterns and commands
    """

    kind: str
    language: str
    goal: Clock
    flags: tuple[str, ...]
    checker: Checker
    limits: Limits
    permitted: tuple[str, ...] | None
    original: dict[str, str]
    winner: dict[str, str]
    helpers: dict[str, str]
    generator: tuple[str, ...]
    generated: int
    function: str
    module: str = ""
    python: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    repo: str = ""


@final
@dataclass(frozen=True, slots=True)
class Tested:
    """One test: its origin ("seen", "held_out", "generated", "made"), SHA-256 of input and expected answer, and whether
    it was timed."""

    name: str
    origin: str
    input: str
    expected: str
    timed: bool


@final
@dataclass(frozen=True, slots=True)
class CertifiedInputs:
    """The newly generated inputs of all verification runs: ``how`` counts them by way of generation, and ``notes`` name
    those that could not be generated.  The seed "made" generates them again."""

    inputs: tuple[Tested, ...] = ()
    how: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Control:
    """The original against itself: paired seconds, and the 99 % interval of their ratio (the true ratio is 1)."""

    samples: tuple[tuple[float, float], ...]
    interval: Interval

    @property
    def holds(self) -> bool:
        """Whether the interval contains 1."""
        return self.interval.low <= 1 <= self.interval.high


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """A measured claim about one program.

    ``holds``     it was verified and is faster
    ``trusted``   no check failed; ``doubts`` are the failed checks, ``warnings`` are further remarks
    ``harsher``   the re-check, None if nothing triggered one
    ``trust``     of a repository: who judged that it is right
    ``given_only`` the doubts that its confirmation found, such as inputs on which alone it is right, in words
    ``refused``   the reason why there is no claim; the fields of later stages are then null
    ``options``   the user's settings that replace the problem's own
    ``seeds``     of the run, of the generator and of fresh inputs; the system draws the order of timed runs and the
                  inputs of functions, so that no program can predict them
    ``made``      when it was made, UTC; ``seconds``: how long that took
    """

    subject: Subject
    options: dict[str, Any]
    tests: tuple[Tested, ...]
    origins: dict[str, int]
    dropped: tuple[str, ...]
    compiler: str
    machine: Machine
    sandbox: str
    seeds: dict[str, tuple[int, ...]]
    made: str
    seconds: float
    verification: Verification | None = None
    timing: Timing | None = None
    control: Control | None = None
    sanitized: Sanitized | None = None
    refused: str = ""
    holds: bool = False
    trusted: bool = False
    doubts: tuple[str, ...] = ()
    version: str = ""
    made_inputs: CertifiedInputs = CertifiedInputs()
    harsher: Recheck | None = None
    unseen: FreshInputTiming | None = None
    warnings: tuple[str, ...] = ()
    given_only: tuple[str, ...] = ()
    trust: Trust | None = None
    format: int = FORMAT

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes next to the speed-up; empty if the claim holds and is trusted."""
        if self.refused or self.timing is None:
            return (f"NOT CERTIFIED: {self.refused}",)
        if not self.holds:
            why = "timed again from its file the winner is not significantly faster"
            return (f"NOT CERTIFIED: {why}: {self.timing.speedup}, ended as '{self.timing.verdict}'",)
        doubts = (f"the certificate is not to be trusted: {doubt}" for doubt in self.doubts)
        return (*doubts, *(f"the certificate warns: {words}" for words in self.warnings))


# ------------------------------------------------------------------------------------------------------- what follows


def concluded(found: Certificate) -> Certificate:
    """The certificate with the conclusions from its measurements."""
    refused = found.refused or _refusal(found)
    holds = not refused and found.timing is not None and found.timing.significant
    doubts = tuple(_doubts(found)) if not refused else ()
    warnings = tuple(told(found.timing, found.unseen)) if not refused else ()
    trusted = holds and not doubts
    return replace(found, refused=refused, holds=holds, doubts=doubts, trusted=trusted, warnings=warnings)


def _refusal(found: Certificate) -> str:
    checked = found.verification
    if checked is None:
        return "it was not verified"
    if checked.failed:
        flaky = "flaky: they were not right" if checked.failed < checked.runs else "not right"
        return f"its answers are {flaky} in {checked.failed} of {checked.runs} runs ({checked.failures[0]})"
    if checked.runs < RUNS_LEAST:
        return f"verified {checked.runs} times, which is less than {RUNS_LEAST}"
    if found.harsher is not None and found.harsher.inputs and not found.harsher.passed:
        return f"its re-check {found.harsher}"
    return "it was not timed" if found.timing is None else ""


def _doubts(found: Certificate) -> Iterator[str]:
    recheck = found.harsher if found.format > FIRST_FORMAT else None
    defects = found.sanitized.defects if found.sanitized is not None else ()
    findings = [f"{FINDING} {one}" for one in defects if not (one.in_original or one.is_permitted)]
    findings += found.given_only
    control = _doubt_about_control(found.control)
    is_old = found.format < FORMAT
    return Grounds(found.sandbox, found.timing, recheck, found.unseen, tuple(findings), control, is_old).doubts()


def _doubt_about_control(control: Control | None) -> str:
    if control is None:
        return "no control: the original was not timed against itself"
    low, high = control.interval.low, control.interval.high
    failed = f"the control failed: the original against itself reads [{low:.4f}, {high:.4f}], which does not hold 1"
    return "" if control.holds else failed


def contradiction(found: Certificate) -> str:
    """The first statement of a certificate that does not follow from its numbers; empty if there is none."""
    timing, control = found.timing, found.control
    if timing is not None and timing.clock != found.subject.goal:
        return f"the goal is {found.subject.goal} time, timed was {timing.clock} time"
    if timing is not None:
        ratios = _ratios(timing.samples)
        if timing.pairs != len(timing.samples) or len(ratios) != timing.pairs or timing.pairs < _RULE.confirm_least:
            return _too_few(timing.pairs, len(ratios))
        sizes = timing.sittings
        if sizes and (len(sizes) < 2 or min(sizes) < 1 or sum(sizes) != timing.pairs):
            return f"the certificate claims sessions of {list(timing.sittings)} pairs, but {timing.pairs} pairs in all"
        follows = interval_of(ratios, timing.sittings)
        if not _same(timing.speedup, follows):
            return f"the certificate claims {timing.speedup}, but its samples give {follows}"
        by_rule = is_faster if found.format == FORMAT or timing.sittings else shown_by_signs
        shown = by_rule(ratios, _RULE, timing.sittings)
        if timing.significant != (timing.verdict == "faster") or (timing.significant and not shown):
            return "it is said to be significantly faster, the samples do not show it"
        if timing.significant and timing.waits:
            return f"it is said to be significantly faster, and to take longer by the wall clock ({timing.elapsed})"
    if control is not None:
        ratios = _ratios(control.samples)
        if timing is None or len(ratios) != timing.pairs or len(control.samples) != timing.pairs:
            return f"the control has {len(ratios)} usable pairs, as many as were timed are needed"
        if not _same(control.interval, interval_of(ratios, timing.sittings, CONTROL_CONFIDENCE)):
            return f"the control is said to be {control.interval}, its samples give something else"
    return _contradiction_on_fresh(found) or _other_conclusions(found)


def _contradiction_on_fresh(found: Certificate) -> str:
    """What is wrong with the speed-up on newly generated inputs: every winner that was timed has one, or a reason."""
    unseen = found.unseen
    if unseen is None:
        is_due = found.timing is not None and not found.refused
        is_left_out = is_due and (found.format > FIRST_FORMAT or bool(found.made_inputs.inputs))
        return "the speed-up on newly generated inputs (`unseen`) is left out" if is_left_out else ""
    if unseen.interval is None:
        if unseen.samples or not unseen.why:
            return "it says without a reason that the winner was not compared on newly generated inputs"
        is_known = not unseen.needless or found.subject.kind != "program"
        return "" if is_known else "a program's timed inputs are said to be newly generated ones, which they never are"
    ratios = _ratios(unseen.samples)
    if len(ratios) != len(unseen.samples) or len(ratios) < PAIRS or not unseen.inputs:
        return f"{unseen.interval} is claimed on newly generated inputs, with {len(ratios)} usable pairs"
    if not _same(unseen.interval, median_interval(ratios)):
        return f"{unseen.interval} is claimed on newly generated inputs, but its samples give another value"
    return ""


_RULE = RaceRule()


def _too_few(claimed: int, usable: int) -> str:
    return f"the certificate claims {claimed} pairs but holds {usable} usable samples ({_RULE.confirm_least} needed)"


def _other_conclusions(found: Certificate) -> str:
    if found.origins != origins(found.tests):
        return f"the tests by origin are said to be {found.origins}, they are {origins(found.tests)}"
    anew = concluded(found)
    for name in ("refused", "holds", "trusted", "doubts", "warnings"):
        said, follows = getattr(found, name), getattr(anew, name)
        if reworded(said) != reworded(follows):
            return f"`{name}` is said to be {said!r}, but {follows!r} follows"
    return ""


def _ratios(samples: Sequence[tuple[float, float]]) -> list[float]:
    """original / candidate, without pairs that no clock can produce."""
    return [a / b for a, b in samples if 0 < a < math.inf and 0 < b < math.inf and 0 < a / b < math.inf]


def _same(one: Interval, other: Interval) -> bool:
    pairs = zip(asdict(one).values(), asdict(other).values(), strict=True)
    return all(math.isclose(a, b, rel_tol=_EXACT) for a, b in pairs)


def origins(tests: Sequence[Tested]) -> dict[str, int]:
    """The number of tests by origin."""
    names = ("seen", "held_out", "generated", *(("made",) if any(one.origin == "made" for one in tests) else ()))
    return {name: sum(one.origin == name for one in tests) for name in names}


# ------------------------------------------------------------------------------------------------------------- hashes


def sha256(data: bytes | str) -> str:
    """SHA-256 in hexadecimal; a text is encoded as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def subject_of(problem: Problem, winner: Program) -> Subject:
    """The claim's subject, from the current files; raises InputError if one cannot be read."""
    spec = problem.spec
    named = (word for word in (*spec.generator, *spec.checker.command) if Path(spec.folder, word).is_file())
    function = "" if spec.function is None else sha256(json.dumps(spec.function.said, sort_keys=True))
    return Subject(
        kind=problem.kind,
        language=problem.language,
        goal=problem.goal,
        flags=spec.flags,
        checker=spec.checker,
        limits=spec.limits,
        permitted=None if problem.permitted is None else tuple(sorted(problem.permitted)),
        original={path: sha256(text) for path, text in problem.program.files.items()},
        winner={path: sha256(text) for path, text in winner.files.items()},
        helpers={word: sha256(read_bytes(Path(spec.folder, word))) for word in named},
        generator=spec.generator,
        generated=spec.generated,
        function=function,
        module="" if spec.module is None else sha256(json.dumps(asdict(spec.module), sort_keys=True)),
        python="" if spec.python is None else sha256(json.dumps(spec.python.said, sort_keys=True)),
        args=spec.args,
        env=dict(spec.env),
        files={one.name: one.sha256 for one in spec.files},
        include=spec.include,
        repo="" if spec.repo is None else sha256(json.dumps(spec.repo.said, sort_keys=True)),
    )


def subject_differences(said: Subject, here: Subject) -> Iterator[str]:
    """All differences in words."""
    for one in fields(Subject):
        old, new = getattr(said, one.name), getattr(here, one.name)
        if old != new and isinstance(old, dict):
            yield from hash_differences(f"{one.name} file", old, new)
        elif old != new:
            yield f"{one.name} is {_shown(old)} in the certificate, {_shown(new)} here"


def hash_differences(what: str, said: Mapping[str, str], here: Mapping[str, str]) -> Iterator[str]:
    """Names whose hashes are missing or differ."""
    for name in sorted(said.keys() | here.keys()):
        if name not in here:
            yield f"the {what} {name} is in the certificate, not here"
        elif name not in said:
            yield f"the {what} {name} is here, not in the certificate"
        elif said[name] != here[name]:
            yield f"the {what} {name} is another one (SHA-256 {said[name][:12]}..., here {here[name][:12]}...)"


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()[:200]


def read_bytes(path: Path) -> bytes:
    """The file's bytes; raises InputError if it cannot be read."""
    return read_file(path, FileKind(cure="put it back, or run `maxcode optimize` again", at_most=DATA_AT_MOST))


# --------------------------------------------------------------------------------------------------------------- file


def write(found: Certificate, folder: Path) -> Path:
    """Writes the certificate into a run folder, completely or not at all."""
    path = folder / FILE
    write_whole(path, msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    return path


def read(path: Path) -> Certificate:
    """Reads a consistent certificate; raises InputError if it cannot be read or was changed."""
    if not os.path.lexists(path):
        raise InputError(
            f"there is no {path}; give a certificate.json or its folder (a run has one if its speed-up was confirmed: "
            "`maxcode report RUN` shows what it found)"
        )
    try:
        found = msgspec.json.decode(in_words_of_today(read_bytes(path)), type=Certificate)
    except DAMAGED as error:
        raise InputError(f"{path} is no certificate of maxcode: {error}; make one with `maxcode optimize`") from error
    if not FIRST_FORMAT <= found.format <= FORMAT:
        own = f"maxcode {version('maxcode')} reads {FIRST_FORMAT} to {FORMAT}"
        raise InputError(f"{path} has format {found.format}, {own}")
    if wrong := contradiction(found):
        raise InputError(f"{path} was changed or is damaged: {wrong}; make it again with `maxcode optimize`")
    return found
