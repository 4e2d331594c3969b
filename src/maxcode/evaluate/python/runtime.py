"""The interpreter and the packages of a Python function, found without running the environment that has them."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.confined import refuse_outside
from maxcode.errors import InputError
from maxcode.sandbox.sealed import INTERPRETER

PACKAGES_FOLDER, PYTHON_FOLDER = "/opt/venv", "/opt/python"
_ANEW = "make the virtual environment anew: `python3 -m venv --clear {}`"
_ELSE = "give one whose interpreter and packages have folders of their own"
_SETTING = re.compile(r"^\s*(\w[\w-]*)\s*=\s*(.*?)\s*$", re.MULTILINE)
_MAPPING = re.compile(r"^MAPPING\b[^=]*= (\{.*\})$", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class PythonRuntime:
    """``python``: path of the interpreter in the sandbox; ``binds``: (host folder, path in the sandbox).

    ``paths``: folders to put at the start of sys.path; ``sealed``: what a session shows in place of the host's /usr,
    if only the interpreter's own library is wanted.
    ``version``: of the interpreter, as text.
    """

    python: str = INTERPRETER
    binds: tuple[tuple[Path, str], ...] = ()
    paths: tuple[str, ...] = ()
    version: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """Of its environment.  An interpreter that is linked to a library of its own looks for it where it was built;
        without this it may find that of another version in the system's folders."""
        return (f"LD_LIBRARY_PATH={PYTHON_FOLDER}/lib",) if self.python.startswith(PYTHON_FOLDER) else ()

    @property
    def sealed(self) -> str:
        return "" if self.binds else "python"

    def refuse_shown(self, path: Path, what: str) -> None:
        """InputError where a file or a folder, which is ``what``, lies in a folder that every candidate sees."""
        real = path.resolve()
        if shown := [folder for folder, _ in self.binds if real.is_relative_to(folder.resolve())]:
            raise InputError(
                f"{what} {path} would be seen by every candidate, because the virtual environment needs {shown[0]}; "
                "put it elsewhere"
            )


def find_python(venv: str) -> PythonRuntime:
    """The system's interpreter, or that of the virtual environment in the folder ``venv`` with its packages.

    InputError with the cure if the folder is no virtual environment, or its interpreter is gone.
    """
    if not venv:
        return PythonRuntime(version="the system's Python")
    folder = Path(venv)
    refuse_outside(folder, "the virtual environment")
    try:
        settings = dict(_SETTING.findall((folder / "pyvenv.cfg").read_text()))
    except OSError as error:
        raise InputError(
            f"{folder} is no virtual environment (it has no pyvenv.cfg that can be read); make one with "
            f"`python3 -m venv {folder}`"
        ) from error
    python = Path(settings.get("home", ""), "python3").resolve()
    packages = sorted(folder.glob("lib/python3.*/site-packages"))
    if not python.is_file() or not packages:
        raise InputError(f"the interpreter of {folder} is gone ({python}); {_ANEW.format(folder)}")
    if not any(one.is_file() for one in folder.glob("bin/python*")):
        raise InputError(
            f"the interpreter of {folder} is gone: {folder / 'bin'} has no python that can be found; "
            f"{_ANEW.format(folder)}"
        )
    shown, binds = _shown(python)
    named = settings.get("version", "") or settings.get("version_info", "")
    folders = [packages[-1], *_named_folders(packages[-1])]
    for one in (*(base for base, _ in binds), *folders):
        refuse_outside(one, f"what the virtual environment {folder} needs in")
        if Path(os.path.expanduser("~")).is_relative_to(one.resolve()):
            raise InputError(
                f"{folder} needs {one}, where your home folder is, and candidates see what it needs; {_ELSE}"
            )
    places = tuple((one, PACKAGES_FOLDER + str(number or "")) for number, one in enumerate(folders))
    return PythonRuntime(shown, (*binds, *places), tuple(path for _, path in places), f"Python {named}")


def has_package(venv: Path, name: str) -> bool:
    """Whether a package is installed in a virtual environment; false if there is none in the folder."""
    return any(venv.glob(f"lib/python3.*/site-packages/{name}/__init__.py"))


def _named_folders(packages: Path) -> list[Path]:
    """The folders that the environment's .pth files name, as those of packages that are installed to be edited, and
    those of the packages that setuptools finds by a finder in place of a folder."""
    lines = [line.strip() for path in sorted(packages.glob("*.pth")) for line in path.read_text().splitlines()]
    named = [packages / line for line in lines if line and not line.startswith(("#", "import ", "import\t"))]
    for finder in sorted(packages.glob("__editable___*_finder.py")):
        for mapping in _MAPPING.findall(finder.read_text()):
            named += [Path(place).parent for name, place in ast.literal_eval(mapping).items() if place.endswith(name)]
    return [one for one in dict.fromkeys(named) if one.is_dir()]


def _shown(python: Path) -> tuple[str, tuple[tuple[Path, str], ...]]:
    """The path of an interpreter in the sandbox, and what must be bound for it."""
    if python.is_relative_to("/usr"):
        return str(python), ()
    base = python.parents[1]
    return f"{PYTHON_FOLDER}/{python.relative_to(base)}", ((base, PYTHON_FOLDER),)
