"""``bench.toml``: on which terms the cells of a folder were run, so that a repeated command cannot mix two benches."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from maxcode.errors import InputError, RecordError

HEADER = "bench.toml"


def claim(out: Path, terms: Mapping[str, object], problems: Mapping[str, str]) -> None:
    """Write the terms (equal for every cell) and the problems' digests by id, or compare them with those there.

    Problems, methods and seeds may be added later.  Raises RecordError that names what differs, InputError where the
    folder cannot be written.
    """
    path = out / HEADER
    known: dict[str, str] = {}
    if path.exists():
        old = _read(path)
        known = old.pop("problems", {})
        _compare(out, old, terms, {name: (known[name], new) for name, new in problems.items() if name in known})
    try:
        out.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".new")
        scratch.write_text(tomli_w.dumps({**terms, "problems": {**known, **problems}}))
        scratch.replace(path)
    except OSError as error:
        raise InputError(f"cannot write to the output folder {out}: {error.strerror}; choose another --out") from error


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecordError(f"cannot read {path} ({error}); mend it, or choose another --out") from error


def _compare(
    out: Path, old: Mapping[str, object], new: Mapping[str, object], digests: Mapping[str, tuple[str, str]]
) -> None:
    keys = sorted(old.keys() | new.keys())
    differing = [f"{key} was {old.get(key)!r}, now {new.get(key)!r}" for key in keys if old.get(key) != new.get(key)]
    differing += [f"the problem {name} has changed" for name, (before, now) in digests.items() if before != now]
    if differing:
        raise RecordError(
            f"{out} holds another bench ({'; '.join(differing)}); choose another --out, or repeat the first command"
        )
