"""What a profile says, as far as it is believed: a candidate shares the process that prints it.

So only words of the program's own text, and numbers, go on from here to prompts and reports.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from maxcode.core.types import Hotspot

SHORT_CALL_S = 20e-6
HANDING = 0.25  # of what is timed; from here on it is told
ELSEWHERE = "code outside the program"
_SPOTS = 8
_NAMED = 3
_CALLS = b"the calls begin here\n"
_LONGEST, _MOST = 60, 300  # characters of a name, and of what is looked at
_PLACE = re.compile(r"/src/(?:program|module)/([^:]+):(\d{1,7}):(\w+|<\w+>)")
_LAST_WORD = re.compile(r".*?(\w+)(?:>|' of '[^']*' objects>)?")
_NAMELESS = {"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"}
_WORD = re.compile(r"\w+")


class Profile(msgspec.Struct):
    """What the driver's role ``profile`` says: seconds of the calls, of handing over, and by function.

    ``left``: names of what is another value after some calls.  ``told``: arguments of a few calls as text, believed of
    the original alone.
    """

    call_s: float
    handing_s: float
    spots: list[tuple[str, float]]
    left: list[str] = []
    told: list[str] = []


def profile_of(printed: bytes) -> Profile | None:
    """The profile in the last line of what a process printed; None where there is none."""
    try:
        return msgspec.json.decode(printed.rpartition(b"\n")[2], type=Profile)
    except (msgspec.MsgspecError, RecursionError):
        return None


def left_by(profile: Profile | None, printed: bytes) -> tuple[str, ...]:
    """What calls of the original leave beside their result, which nobody compares.  ``printed``: by its process."""
    found = []
    if profile is not None and profile.left:
        names = ", ".join(profile.left[:_NAMED]) + ", ..." * (len(profile.left) > _NAMED)
        found.append(f"what a call leaves in {names} is not compared")
    if printed.rpartition(_CALLS)[2].rpartition(b"\n")[0].strip():
        found.append("what a call prints is not compared")
    return tuple(found)


def notes_of(seconds: float, profile: Profile | None) -> tuple[str, ...]:
    """What a user must know of how the original is timed: ``seconds`` a call, and the part of handing over."""
    found = []
    if seconds < SHORT_CALL_S:
        found.append(
            f"a call takes {seconds * 1e6:.1f} us, so that being called is a part of what is timed: larger inputs say "
            "more"
        )
    whole = profile.call_s + profile.handing_s if profile is not None else 0.0
    if profile is not None and whole and (share := profile.handing_s / whole) >= HANDING:
        found.append(
            f"handing over arguments and results is {share:.0%} of what is timed, for both sides: the speed-up is "
            "smaller than that of the function alone"
        )
    return tuple(found)


def spots(profile: Profile | None, texts: Mapping[str, str]) -> tuple[Hotspot, ...]:
    """The functions by their own time: those of the program's files (``texts``, by path) and, without a line, others
    that these name."""
    if profile is None:
        return ()
    words = {path: set(_WORD.findall(text)) for path, text in texts.items()}
    seconds: defaultdict[tuple[str, int], float] = defaultdict(float)
    for name, spent in profile.spots:
        seconds[_spot(name, texts, words)] += max(0.0, spent)
    whole = sum(seconds.values())
    if not 0 < whole < math.inf:
        return ()
    ranked = sorted(seconds.items(), key=lambda one: -one[1])[:_SPOTS]
    return tuple(Hotspot(name, line, spent / whole) for (name, line), spent in ranked if spent > 0)


def _spot(name: str, texts: Mapping[str, str], words: Mapping[str, set[str]]) -> tuple[str, int]:
    """A function that the program has or names, and its line, or 0."""
    place = _PLACE.fullmatch(name)
    if place is not None and place[1] in texts:
        is_there = 1 <= int(place[2]) <= texts[place[1]].count("\n") + 1
        if is_there and (place[3] in _NAMELESS or place[3] in words[place[1]]):
            return place[3][:_LONGEST], int(place[2])
    last = _LAST_WORD.fullmatch(name[:_MOST])
    if last is not None and any(last[1] in known for known in words.values()):
        return last[1][:_LONGEST], 0
    return ELSEWHERE, 0
