"""The section on the certificate of a run: its claim, its doubts and warnings, and the link to its file."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import msgspec

from maxcode.core.files import read_file
from maxcode.core.jsonl import DAMAGED
from maxcode.core.types import Interval, Program, Recheck, Timing
from maxcode.errors import InputError
from maxcode.run.report.html import Html, element, join, paragraphs

FILE = "certificate.json"


class _Verified(msgspec.Struct, frozen=True):
    runs: int
    failed: int


class _Measured(msgspec.Struct, frozen=True):
    interval: Interval | None = None
    inputs: tuple[str, ...] = ()
    why: str = ""


class _Subject(msgspec.Struct, frozen=True):
    winner: dict[str, str] = {}


class _Made(msgspec.Struct, frozen=True):
    inputs: tuple[msgspec.Raw, ...] = ()


class Claimed(msgspec.Struct, frozen=True):
    """The fields of ``certificate.json`` that the page shows; ``maxcode verify`` checks them against the samples."""

    holds: bool
    trusted: bool
    refused: str
    subject: _Subject = _Subject()
    doubts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    made: str = ""
    verification: _Verified | None = None
    timing: Timing | None = None
    harsher: Recheck | None = None
    unseen: _Measured | None = None
    control: _Measured | None = None
    made_inputs: _Made = _Made()


def read_claim(folder: Path) -> Claimed | None:
    """The certificate in a run folder, None if there is none; an unreadable one is refused."""
    if not (folder / FILE).is_file():
        return None
    try:
        return msgspec.json.decode(read_file(folder / FILE), type=Claimed)
    except (InputError, *DAMAGED) as error:
        return Claimed(False, False, f"{FILE} exists but cannot be read ({error})")


def verify_command(certificate: Path) -> str:
    """The command that repeats a certificate; ``certificate`` is relative to the working directory, or a whole path."""
    return shlex.join(["maxcode", "verify", str(certificate)])


def certificate_section(found: Claimed, best: Program, folder: Path) -> Html:
    """The result of the certification."""
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in best.files.items()}
    if found.subject.winner not in ({}, hashes):
        found = Claimed(False, False, f"{FILE} is about another program, not the best one; run the command again")
    facts = [element("div", element("dt", name), element("dd", words)) for name, words in _facts(found) if words]
    link = element("a", FILE, href=FILE)
    how = join(
        ["All of it: ", link, "; to repeat it here or elsewhere: ", element("code", verify_command(folder / FILE))]
    )
    spoken = [f"Do not trust it: {doubt}" for doubt in found.doubts] + [f"Warning: {one}" for one in found.warnings]
    return join([paragraphs(_claim(found), *spoken), element("dl", *facts, class_="facts"), element("p", how)])


def _claim(found: Claimed) -> str:
    if found.refused:
        return f"Not certified: {found.refused}."
    if not found.holds or found.timing is None:
        return "Not certified: built and timed again from its file, the winner is not significantly faster."
    trusted = "and no check failed" if found.trusted else "but a check failed, so do not trust it"
    return (
        f"Built and timed again in a new session, the winner is {found.timing.speedup} as fast, {trusted}. The figure "
        "at the top of this page is that of the run; this is a further measurement of the same program."
    )


def _facts(found: Claimed) -> list[tuple[str, str]]:
    checked, made = found.verification, len(found.made_inputs.inputs)
    beside = f", each with {made} newly generated inputs" if made else ""
    return [
        ("Made", found.made),
        ("Verified", f"{checked.runs - checked.failed} of {checked.runs} runs right{beside}" if checked else ""),
        ("On newly generated inputs", _unseen(found.unseen)),
        ("Re-check", str(found.harsher or "not needed") if found.timing or found.harsher else ""),
        ("Control", control(found)),
    ]


def _unseen(found: _Measured | None) -> str:
    if found is None:
        return ""
    return f"{found.interval} on {len(found.inputs)} of them" if found.interval else f"not compared: {found.why}"


def control(claim: Claimed) -> str:
    """The original timed against itself; empty if the certificate has no such figure."""
    found = claim.control
    if found is None or found.interval is None:
        return ""
    low, high = found.interval.low, found.interval.high
    return f"the original against itself: [{low:.4f}, {high:.4f}], {found.interval.confidence:.0%} interval"
