"""What follows from a certificate's samples, and what is said of it: conclusions, doubts, warnings."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from maxcode.core.stats import median_interval
from maxcode.core.types import Checker, Interval, Limits, Machine, Recheck, Timing
from maxcode.errors import InputError
from maxcode.evaluate.ladder.sanitize import Defect, Sanitized
from maxcode.run.certificate import Certificate, Control, FreshInputTiming, Subject, Verification, read, write
from maxcode.run.certificate.claim import concluded
from maxcode.run.report.certified import read_claim
from maxcode.sandbox.landlock import Unconfined

SAME = median_interval([1.0] * 15, 0.99)


def claim(control: Interval, sanitized: Sanitized | None = None) -> Certificate:
    """A certificate as it might be measured, before its conclusions."""
    samples = tuple((2.0 + number / 100, 1.0) for number in range(15))
    timing = Timing("cpu", median_interval([a / b for a, b in samples]), True, "faster", 15, True, samples=samples)
    subject = Subject("program", "c", "cpu", (), Checker(), Limits(), None, {}, {}, {}, (), 0, "")
    return Certificate(
        subject=subject,
        options={},
        tests=(),
        origins={"seen": 0, "held_out": 0, "generated": 0},
        dropped=(),
        compiler="",
        machine=Machine("", "", 1, "", {}, ""),
        sandbox="",
        seeds={},
        made="",
        seconds=0.0,
        verification=Verification(10),
        timing=timing,
        control=Control(samples, control),
        sanitized=sanitized,
        unseen=FreshInputTiming(why="none could be made"),
    )


def test_a_control_that_does_not_hold_1_is_said_and_the_certificate_is_not_trusted() -> None:
    found = concluded(claim(Interval(1.03, 1.01, 1.05, 0.99)))
    assert (found.holds, found.trusted) == (True, False)
    assert "the control failed: the original against itself reads [1.0100, 1.0500]" in found.doubts[0]
    assert found.notes[0].startswith("the certificate is not to be trusted: the control failed")
    assert concluded(claim(Interval(1.0, 0.99, 1.01, 0.99))).trusted


def test_a_certificate_made_without_a_sandbox_is_never_trusted() -> None:
    sound = claim(Interval(1.0, 0.99, 1.01, 0.99))
    found = concluded(replace(sound, sandbox=Unconfined(0).describe()))
    assert (found.holds, found.trusted) == (True, False)
    assert "without a sandbox" in found.doubts[0]


def beside(ratio: float, each_s: float) -> FreshInputTiming:
    samples = tuple((3 * each_s, 3 * each_s / (ratio + number / 100)) for number in range(9))
    return FreshInputTiming(median_interval([a / b for a, b in samples]), samples, ("made-1", "made-2", "made-3"))


def test_a_difference_on_inputs_nobody_was_shown_is_a_doubt_where_size_does_not_explain_it(tmp_path: Path) -> None:
    sound = claim(Interval(1.0, 0.99, 1.01, 0.99))
    assert sound.timing is not None  # about 2 s each, and about 2 times faster
    control = Control(((1.0, 1.0),) * 15, median_interval([1.0] * 15, 0.99))
    sound = replace(sound, timing=replace(sound.timing, inputs=("a",)), control=control)
    alike = concluded(replace(sound, unseen=beside(1.2, 1.5)))
    assert alike.trusted and not alike.warnings
    far = concluded(replace(sound, unseen=beside(0.9, 1.5)))
    assert (far.holds, far.trusted, far.warnings) == (True, False, ())
    assert "1.00x" not in far.doubts[0] and "it may be fast only on what was given" in far.doubts[0]
    assert "on 3 newly generated inputs (where the original takes 1500 ms each)" in far.doubts[0]
    small = concluded(replace(sound, unseen=beside(0.9, 0.5)))
    assert (small.trusted, small.doubts) == (True, ())
    assert small.notes == (f"the certificate warns: {small.warnings[0]}",)
    assert read(write(small, tmp_path)) == small
    none = concluded(replace(sound, unseen=FreshInputTiming(why="tests.made is 0")))
    assert none.trusted and str(none.unseen) == "not compared: tests.made is 0"


def test_a_winner_that_is_slower_on_new_inputs_of_that_size_is_doubted(tmp_path: Path) -> None:
    samples = tuple((1.5 + number / 100, 1.0) for number in range(15))
    sound = replace(claim(SAME), control=Control(((1.0, 1.0),) * 15, SAME))
    assert sound.timing is not None
    timing = replace(sound.timing, speedup=median_interval([a for a, _ in samples]), samples=samples, inputs=("a",))
    slower = concluded(replace(sound, timing=timing, unseen=beside(0.85, 1.5)))
    assert (slower.holds, slower.trusted) == (True, False) and len(slower.doubts) == 1
    assert slower.doubts[0].startswith("it is slower on new inputs, 0.89x")
    assert read(write(slower, tmp_path)) == slower
    small, no_gain = (replace(sound, timing=timing, unseen=beside(ratio, s)) for ratio, s in ((0.85, 0.5), (0.97, 1.5)))
    assert concluded(small).trusted and concluded(no_gain).trusted
    assert concluded(replace(sound, timing=timing, unseen=beside(0.85, 1.5), format=2)).trusted, "it had no such doubt"


def test_a_suspicious_winner_that_was_not_checked_on_other_inputs_is_doubted(tmp_path: Path) -> None:
    sound = replace(claim(Interval(1.0, 0.99, 1.01, 0.99)), control=Control(((1.0, 1.0),) * 15, SAME))
    unverified = concluded(replace(sound, harsher=Recheck(("speed-up above 10x",), 0, False, "tests.made is 0")))
    assert unverified.doubts == ("speed-up above 10x, but it was not verified on other inputs: tests.made is 0",)
    untimed = concluded(replace(sound, harsher=Recheck(("speed-up above 10x",), 32, True)))
    assert untimed.doubts == ("speed-up above 10x, but it was not timed on other inputs: none could be made",)
    assert (untimed.holds, untimed.trusted) == (True, False)
    then = concluded(replace(untimed, format=1))  # version 0.1 had no such doubt
    assert then.trusted and read(write(then, tmp_path)) == then
    drawn = FreshInputTiming(why="every timed pass had newly drawn values", needless=True)
    assert concluded(replace(untimed, unseen=drawn)).trusted


@pytest.mark.parametrize(
    ("unseen", "words"),
    [
        (None, "(`unseen`) is left out"),
        (FreshInputTiming(), "without a reason"),
        (FreshInputTiming(samples=((1.0, 1.0),), why="none could be made"), "without a reason"),
        (FreshInputTiming(why="all are new", needless=True), "which they never are"),
        (FreshInputTiming(SAME, ((2.0, 1.0),) * 9, ("made-1",)), "but its samples give another value"),
        (FreshInputTiming(SAME, ((1.0, 1.0),) * 3, ("made-1",)), "with 3 usable pairs"),
    ],
)
def test_a_certificate_says_how_fast_the_winner_is_on_other_inputs_or_why_not(
    unseen: FreshInputTiming | None, words: str, tmp_path: Path
) -> None:
    sound = replace(claim(Interval(1.0, 0.99, 1.01, 0.99)), control=Control(((1.0, 1.0),) * 15, SAME))
    assert read(write(concluded(sound), tmp_path)).trusted
    with pytest.raises(InputError, match=re.escape(words)) as refused:
        read(write(concluded(replace(sound, unseen=unseen)), tmp_path))
    assert "\n" not in str(refused.value) and refused.value.exit_code == 2


def test_answers_that_are_wrong_in_some_runs_are_called_flaky() -> None:
    sound = claim(Interval(1.0, 0.99, 1.01, 0.99))
    found = concluded(replace(sound, verification=Verification(10, 1, ("run 4, test 01: wrong",))))
    assert found.refused == "its answers are flaky: they were not right in 1 of 10 runs (run 4, test 01: wrong)"
    assert (found.holds, found.trusted, found.doubts) == (False, False, ())


def test_a_certificate_that_does_not_hold_says_so(tmp_path: Path) -> None:
    sound = claim(Interval(1.0, 0.99, 1.01, 0.99))
    samples = tuple((1.0, 1.0) for _ in range(15))
    timing = Timing("cpu", median_interval([1.0] * 15), False, "tie", 15, True, samples=samples)
    control = Control(samples, median_interval([1.0] * 15, 0.99))
    found = concluded(replace(sound, timing=timing, control=control))
    assert (found.holds, found.trusted) == (False, False)
    assert "not significantly faster: 1.00x [1.00, 1.00], ended as 'tie'" in found.notes[0]
    assert dataclasses.asdict(read(write(found, tmp_path))) == dataclasses.asdict(found)


def test_a_finding_that_the_original_does_not_have_is_a_doubt() -> None:
    sound = Interval(1.0, 0.99, 1.01, 0.99)
    defect = Defect("heap-buffer-overflow", "a.c", 9, "seven", "read of size 8")
    found = concluded(claim(sound, Sanitized(("address",), ("seven",), (defect,))))
    assert (found.holds, found.trusted) == (True, False)
    assert found.doubts == ("a sanitizer found heap-buffer-overflow, a.c:9 (on seven): read of size 8",)
    known = Sanitized(("address",), ("seven",), (replace(defect, in_original=True),))
    assert concluded(claim(sound, known)).trusted


def test_a_speed_up_over_a_degenerate_reference_is_not_trusted() -> None:
    sound = concluded(claim(Interval(1.0, 0.99, 1.01, 0.99)))
    assert sound.trusted and sound.timing is not None
    timing = replace(sound.timing, degenerate=("an output of zeros passes",))
    found = concluded(replace(sound, timing=timing))
    assert found.holds and not found.trusted
    assert any("an output of zeros passes" in note for note in found.notes)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b'{"options": ' + b"[" * 200_000,
        lambda text: text.replace(b'"options":{', b'"options":{"flags":' + b"[" * 200_000 + b"]" * 200_000 + b","),
        lambda text: text.replace(b'"sandbox":"', b'"sandbox":"\xff\xfe'),
        lambda text: re.sub(rb"\[2\.0\d?,1\.0\]", b"[1e-300,1e300]", text),
        lambda text: re.sub(rb"\[2\.0\d?,1\.0\]", b"[1e300,1e-300]", text),
        lambda text: text[:-20],
    ],
    ids=["lists in lists", "in options", "no UTF-8", "ratios of zero", "ratios without end", "torn"],
)
def test_a_certificate_of_any_bytes_is_refused_in_words(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    write(concluded(claim(SAME)), tmp_path)
    path = tmp_path / "certificate.json"
    before = path.read_bytes()
    tight = json.dumps(json.loads(before), separators=(",", ":")).encode()
    path.write_bytes(change(tight))
    assert path.read_bytes() != tight
    with pytest.raises(InputError):
        read(path)
    assert read_claim(tmp_path) is not None
