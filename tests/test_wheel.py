"""The wheel: it holds every file of the package, and what it installs works away from the checkout."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

import maxcode
from tests.support.sandboxed import let_others_in

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "maxcode"


def run(command: Sequence[str], where: Path, **variables: str) -> str:
    """What a command prints, without this checkout on the path of Python."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=where, env={**kept, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def tracked() -> list[Path]:
    """The files of the package that git knows, or does not know yet and does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "src/maxcode"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that the checkout gets no build folder, by the setuptools of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    for path in [*tracked(), *(ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE"))]:
        copy = folder / "copy" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run([*pip, "--wheel-dir", str(folder), str(folder / "copy")], folder)
    (built,) = folder.glob("maxcode-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that has the wheel; its dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    run([*pip, str(wheel)], folder)
    # A plain line of a .pth file adds a folder behind its own packages; the .pth files in that folder are not read,
    # so an editable install there does not bring the checkout back.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return python


@pytest.mark.heavy
def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    held = {name for name in ZipFile(wheel).namelist() if name.startswith("maxcode/")}
    wanted = {str(path.relative_to(SOURCES.parent)) for path in tracked()}
    assert {Path(name).suffix for name in wanted} > {".py", ".c", ".h", ".inc", ".toml", ".md", ".css", ".js"}
    assert sorted(wanted - held) == []
    assert sorted(held - wanted) == []


@pytest.mark.slow
@pytest.mark.heavy
def test_the_installed_command_runs_in_another_folder(installed: Path, tmp_path: Path) -> None:
    code = "import maxcode; print(maxcode.__file__, maxcode.__version__)"
    at, version = run([str(installed), "-c", code], tmp_path).split()
    assert Path(at).is_relative_to(installed.parents[1])
    assert version == maxcode.__version__
    assert version in run([str(installed.parent / "maxcode"), "--version"], tmp_path)


@pytest.mark.sandbox
def test_the_installed_package_builds_its_sandbox_and_finds_nothing_amiss(installed: Path, tmp_path: Path) -> None:
    """Its shim and its attacks are files of the package; an empty cache folder makes it build both."""
    let_others_in(tmp_path)
    said = run([str(installed), "-m", "maxcode", "doctor"], tmp_path, MAXCODE_CACHE=str(tmp_path / "cache"))
    assert "attacks blocked" in said
