"""Atomic replacement of files, and TOML files read with clear errors."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from maxcode.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder; at the end of the block that file replaces ``path``.

    A reader sees the old file or the new one, also after a kill.  After an error ``path`` is unchanged.  InputError if
    it cannot be written.
    """
    scratch = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")  # two processes may write the same file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield scratch
        scratch.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write to {path}: {error.strerror}; choose another --out, or make room there"
        ) from error
    finally:
        _remove(scratch)


def write_whole(path: Path, content: bytes) -> None:
    """Replaces a file by one with this content, as ``replacing`` does."""
    with replacing(path) as scratch:
        scratch.write_bytes(content)


def read_toml(path: Path, what: str = "") -> dict[str, Any]:
    """The keys of a TOML file, unchecked; InputError with the line if it cannot be read.

    ``what``: what the file is for, used in the message.
    """
    name = f"{what} {path}".strip()
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {name}: it is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise InputError(f"cannot read {name}: it is not valid TOML: {error}; correct it there") from error


def _remove(scratch: Path) -> None:
    try:
        scratch.unlink(missing_ok=True)
    except OSError:  # the folder is gone, or a part of its path is a file: then there is no scratch file
        return
