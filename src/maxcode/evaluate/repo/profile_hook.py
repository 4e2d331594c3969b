"""Started in every Python of a profiled command, as its ``sitecustomize``: cProfile from the start to the end.

It runs inside the sandbox and imports nothing of maxcode.  Each process appends one line to the
file of $MAXCODE_PROFILE.
"""

from __future__ import annotations

import atexit
import cProfile
import json
import os
import pstats

_MOST = 2000


def _write(profile: cProfile.Profile, path: str) -> None:
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    rows = []
    for (file, line, name), (_, _, own, _, callers) in sorted(stats.items(), key=lambda one: -one[1][3])[:_MOST]:
        called = [[_path(whose), at, caller, counts[3]] for (whose, at, caller), counts in callers.items()]
        rows.append([_path(file), line, name, own, called])
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps(rows) + "\n")


def _path(file: str) -> str:
    return os.path.abspath(file) if os.path.exists(file) else ""


if "MAXCODE_PROFILE" in os.environ:
    _profile = cProfile.Profile()
    atexit.register(_write, _profile, os.environ["MAXCODE_PROFILE"])
    _profile.enable()
