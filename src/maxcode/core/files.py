"""Files that a reader sees whole, and TOML files that are read with a cure for what is wrong in them."""

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
    """A path beside ``path`` to write to; when the block has ended, that file takes the place of ``path``.

    A reader, also one after a kill, sees the old file or the new one.  After an error ``path`` is as it was; InputError
    where it cannot be written.
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
    """Replace a file by one with this content, under the terms of ``replacing``."""
    with replacing(path) as scratch:
        scratch.write_bytes(content)


def read_toml(path: Path, what: str = "") -> dict[str, Any]:
    """The keys of a TOML file, unchecked; InputError with the line where it cannot be read.

    ``what`` says in the message what the file is for.
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
    except OSError:  # the folder went away, or a part of its path is a file: then there is no scratch file
        return
