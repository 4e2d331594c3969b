"""Builds of an original that a later command finds: only whole ones, of the same user, made by the same tools."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from maxcode.core.phases import recording
from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.evaluate.ladder import kept_builds
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.kept_builds import FILES_AT_MOST, FOLDER, VARIABLE, KeptBuild, KeptBuilds
from maxcode.sandbox.sandbox import Sandbox
from tests.support.harmed_stores import HARMS

TEXT = "int main(void) { return 7; }\n"
KEPT = KeptBuild(b"artefact", "", (), None)


def built(builder: Builder, text: str = TEXT, flags: tuple[str, ...] = ("-O1",), is_original: bool = True) -> Built:
    problem = Problem("kept", "program", "c", Program({"a.c": TEXT}), ProgramSpec(flags=flags))
    return anyio.run(builder.build, problem, Program({"a.c": text}), True, is_original)


def compiles(sandbox: Sandbox, cache: Path, **more: bool) -> int:
    """How many jobs a new builder ran to build the original, that for the version of the compiler left out."""
    with recording() as recorder:
        assert built(Builder(sandbox, cache, **more)).artefact is not None
    return sum(one.count for one in recorder.profile().phases if one.activity == "build") - 1


def test_a_kept_build_is_found_and_is_the_same_and_no_candidate_is_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    first = built(Builder(sandbox, tmp_path))
    again = built(Builder(sandbox, tmp_path))
    assert first.artefact is not None
    assert again.artefact is not None
    assert (again.artefact.sha256, again.remarks, again.machine_code) == (
        first.artefact.sha256, first.remarks, first.machine_code
    )  # fmt: skip
    assert compiles(sandbox, tmp_path) == 0
    built(Builder(sandbox, tmp_path), "int main(void) { return 8; }\n", is_original=False)
    assert len(list((tmp_path / FOLDER).iterdir())) == 1
    built(Builder(sandbox, tmp_path), flags=("-O2",))
    assert len(list((tmp_path / FOLDER).iterdir())) == 2


def test_a_kept_build_is_of_the_same_folders_of_headers(sandbox: Sandbox, tmp_path: Path) -> None:
    files = {"main.c": "#include <config.h>\nint main(void) { return CODE; }\n"}
    files |= {f"{name}/config.h": f"#define CODE {code}\n" for code, name in enumerate(("a", "b"))}
    found = []
    for folder in ("a", "b", "a"):
        problem = Problem("kept", "program", "c", Program(files), ProgramSpec(include=(folder,)))
        one = anyio.run(Builder(sandbox, tmp_path).build, problem, problem.program, True, True)
        assert one.artefact is not None
        found.append(one.artefact.sha256)
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("keeps", [True, False])
def test_nothing_is_read_where_the_user_or_a_certificate_asks_for_new_builds(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    built(Builder(sandbox, tmp_path))
    if keeps:
        monkeypatch.setenv(VARIABLE, "1")
    assert compiles(sandbox, tmp_path, keeps=keeps) > 0


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("harm", [*HARMS, _pipe])
def test_a_kept_build_that_may_be_somebody_elses_or_is_not_whole_is_not_used(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    kept = KeptBuilds(tmp_path / FOLDER)
    kept.keep(KEPT, ["parts"], "gcc")
    assert kept.find(["parts"], "gcc") == KEPT
    assert kept.find(["other parts"], "gcc") is None
    (path,) = (tmp_path / FOLDER).iterdir()
    harm(path)
    assert kept.find(["parts"], "gcc") is None


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptBuilds(tmp_path / FOLDER)
    kept.keep(KEPT, ["parts"], "gcc")
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    assert kept.find(["parts"], "gcc") is None


def test_another_compiler_header_or_library_asks_for_a_new_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "include"
    tree.mkdir()
    monkeypatch.setattr(kept_builds, "_TREES", (str(tree),))
    kept_builds._system.cache_clear()
    kept = KeptBuilds(tmp_path / FOLDER)
    kept.keep(KEPT, ["parts"], "gcc")
    assert kept.find(["parts"], "gcc") == KEPT
    assert kept.find(["parts"], "cat") is None
    (tree / "new.h").write_text("// a header\n")
    kept_builds._system.cache_clear()
    assert kept.find(["parts"], "gcc") is None
    kept_builds._system.cache_clear()


def test_the_builds_used_longest_ago_go(tmp_path: Path) -> None:
    kept = KeptBuilds(tmp_path / FOLDER)
    for number in range(FILES_AT_MOST + 3):
        kept.keep(KEPT, [str(number)], "gcc")
        os.utime(sorted((tmp_path / FOLDER).iterdir(), key=lambda one: one.stat().st_mtime)[-1], (number, number))
    assert len(list((tmp_path / FOLDER).iterdir())) == FILES_AT_MOST
    assert kept.find(["0"], "gcc") is None
    assert kept.find([str(FILES_AT_MOST + 2)], "gcc") == KEPT
