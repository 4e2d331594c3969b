"""The Python and the torch that module problems run with, found without importing torch."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import final

from maxcode.errors import InputError

TORCH_FOLDER, PYTHON_FOLDER = "/opt/torch", "/opt/python"
_CURE = "pip install 'maxcode[torch]' (an installed torch is used as it is)"


@final
@dataclass(frozen=True, slots=True)
class Runtime:
    """``python``: path of the interpreter in the sandbox; ``binds``: (host folder, path in the sandbox)."""

    python: str
    binds: tuple[tuple[Path, str], ...]
    torch: str

    @property
    def paths(self) -> tuple[str, ...]:
        """Folders to put at the start of sys.path."""
        return (TORCH_FOLDER,)


def find_runtime() -> Runtime:
    """The torch that this Python would import, and an interpreter of the same version that the sandbox can see.

    InputError with what to install if there is no torch.
    """
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise InputError(f"module problems need PyTorch, and this Python has none: {_CURE}")
    packages = Path(spec.origin).parents[1]
    python, binds = _interpreter()
    return Runtime(python, (*binds, (packages, TORCH_FOLDER)), _version())


def _version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return "unknown"


def _interpreter() -> tuple[str, tuple[tuple[Path, str], ...]]:
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    path = Path("/usr/bin", name)
    if path.is_file():
        return str(path), ()
    return f"{PYTHON_FOLDER}/bin/{name}", ((Path(sys.base_prefix), PYTHON_FOLDER),)
