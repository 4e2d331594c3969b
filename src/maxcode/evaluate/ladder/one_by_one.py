"""A program that is called several times: is it also faster where each call must be over before the next one comes?"""

from __future__ import annotations

from collections.abc import Sequence

from maxcode.evaluate.ladder.race import Pair

_WORTH = 0.1  # of the original's time: less is not worth a doubt
_LITTLE = 0.25  # of what it saves where calls come together


def doubt_about_calls(held: Sequence[tuple[Pair, Pair]], calls: int) -> str:
    """The doubt about a function that saves little where it has one call at a time, beside what it saves where several
    come together; empty if it does not.  ``held``: passes of both kinds, of which the least times count: to stop a
    process after every call costs both sides the same, and what disturbs a pass adds to it."""
    several, alone = (
        [min(pair.total(side) for pair in pairs) / calls for side in ("original", "candidate")]
        for pairs in zip(*held, strict=True)
    )
    saved, saved_alone = several[0] - several[1], alone[0] - alone[1]
    if saved < _WORTH * several[0] or saved_alone > _LITTLE * saved:
        return ""
    return (
        f"it saves {saved * 1e6:.2f} us a call where several calls come together, but {saved_alone * 1e6:.2f} us where "
        "each must be over before the next one comes: it may work on several calls together"
    )
