"""The Python and the torch that module problems run with, found without importing torch."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import final

from maxcode.errors import InputError

TORCH_FOLDER, PYTHON_FOLDER = "/opt/torch", "/opt/python"
TOOLS = "/opt/tools"  # in the $PATH of a side (``inside/driver.py``)
_CURE = "pip install 'maxcode[torch]' (an installed torch is used as it is)"


@final
@dataclass(frozen=True, slots=True)
class Runtime:
    """``python``: path of the interpreter in the sandbox; ``binds``: (host folder, path in the sandbox).

    ``variables``: of the environment of every process, as NAME=VALUE.
    """

    python: str
    binds: tuple[tuple[Path, str], ...]
    torch: str
    variables: tuple[str, ...] = ()

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
    return Runtime(python, (*binds, *_ninja(), (packages, TORCH_FOLDER)), _version())


def _ninja() -> tuple[tuple[Path, str], ...]:
    """The ninja of this Python's environment, with which ``load_inline`` builds, if /usr/bin has none."""
    found = shutil.which("ninja", path=f"{Path(sys.executable).parent}") or shutil.which("ninja")
    if Path("/usr/bin/ninja").exists() or found is None or not Path(found).read_bytes().startswith(b"\x7fELF"):
        return ()
    return ((Path(found), f"{TOOLS}/ninja"),)


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
