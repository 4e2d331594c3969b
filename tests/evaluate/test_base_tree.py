"""The archive of base: what kept admissions compare, so it must not differ where nothing has changed."""

from __future__ import annotations

import time
from pathlib import Path

from maxcode.evaluate.repo.base_tree import base_tree, place_of
from maxcode.sandbox.archives import opened
from tests.support import repositories as repos


def test_an_archive_that_was_dropped_and_packed_again_is_the_same(tmp_path: Path) -> None:
    problem = repos.problem_of(repos.made(tmp_path / "sums", repos.C_FILES, repos.C_TOML))
    before = base_tree(problem).sha256
    place_of(problem).with_name("tree.tar").unlink()
    time.sleep(1.1)  # an archive holds whole seconds
    assert base_tree(problem).sha256 == before


def test_a_file_with_another_mode_or_name_makes_another_archive(tmp_path: Path) -> None:
    toml = repos.made(tmp_path / "sums", repos.C_FILES, repos.C_TOML)
    found = {base_tree(repos.problem_of(toml)).sha256}
    for words in (("update-index", "--chmod=+x", "src/sums.c"), ("mv", "-f", "src/sums.c", "src/other.c")):
        repos.git(toml.parent, *words)
        repos.git(toml.parent, "commit", "-qm", "changed")
        (toml.parent / "problem.toml").write_text(repos.C_TOML.replace("src/sums.c", "src/other.c"))
        found.add(base_tree(repos.problem_of(toml)).sha256)
    assert len(found) == 3


def test_what_a_set_up_made_keeps_its_times(tmp_path: Path) -> None:
    setup = 'setup = "touch -d @1500000000 made.o"\n'
    problem = repos.problem_of(repos.made(tmp_path / "sums", repos.C_FILES, repos.C_TOML + setup))
    with opened(base_tree(problem).read()) as packed:
        assert packed.getmember("./made.o").mtime == 1_500_000_000
        assert {(one.uid, one.gid, one.uname, one.gname) for one in packed} == {(0, 0, "", "")}


def test_a_set_up_with_other_variables_is_run_again(tmp_path: Path) -> None:
    toml = repos.made(tmp_path / "sums", repos.C_FILES, repos.C_TOML)
    for level in ("-O0", "-O3", "-O0"):
        toml.write_text(f"{repos.C_TOML}setup = 'echo $LEVEL > level'\nenv = {{ LEVEL = '{level}' }}\n")
        with opened(base_tree(repos.problem_of(toml)).read()) as packed:
            found = packed.extractfile("./level")
            assert found is not None and found.read().decode() == f"{level}\n"
