"""Started in every Python of a profiled command, as its ``sitecustomize``: cProfile from the start to the end.

It runs inside the sandbox and imports nothing of maxcode.  Each process appends one line to the
file of $MAXCODE_PROFILE, and one on itself to the file beside it: its interpreter, and the libraries that it loaded.
"""

from __future__ import annotations

import atexit
import cProfile
import json
import os
import pstats
import sys
from contextlib import suppress

_MOST = 2000


def _write(profile: cProfile.Profile, path: str) -> None:
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    rows: list[object] = []
    for (file, line, name), (_, _, own, _, callers) in sorted(stats.items(), key=lambda one: -one[1][3])[:_MOST]:
        called = [[_path(whose), at, caller, counts[3]] for (whose, at, caller), counts in callers.items()]
        rows.append([_path(file), line, name, own, called])
    _append(path, rows)
    with suppress(Exception):  # a library may do anything when it is asked for its version
        _append(f"{path}.by", [_interpreter(), _libraries()])


def _append(path: str, line: list[object]) -> None:
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def _interpreter() -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{sys.implementation.name} {version} ({sys.executable}){' -O' * bool(sys.flags.optimize)}"


def _libraries() -> dict[str, str]:
    tops = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
    versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in sorted(tops)}
    return {name: version for name, version in versions.items() if isinstance(version, str)}


def _path(file: str) -> str:
    return os.path.abspath(file) if os.path.exists(file) else ""


if "MAXCODE_PROFILE" in os.environ:
    _profile = cProfile.Profile()
    atexit.register(_write, _profile, os.environ["MAXCODE_PROFILE"])
    _profile.enable()
