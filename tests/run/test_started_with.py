"""Programs with arguments, variables and data files: the command line, problem.toml, the certificate and the resume."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.problems import digest, load, named_files
from tests.support.cli import answer, maxcode, maxcode_here
from tests.support.counting import BY_FOUR, LOOP

SLOW = f"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {{
    long n, sum = 0, start;
    char word[16] = "";
    FILE *file = fopen("lists/words.txt", "r");
    if (!file || count != 3 || strcmp(words[1], "-n") || !getenv("UNIT")) return 3;
    if (fscanf(file, "%15s %ld", word, &start) != 2 || scanf("%ld", &n) != 1) return 4;
    n += start + atoi(words[2]);
    {LOOP}
    printf("%s %ld %s\\n", word, sum, getenv("UNIT"));
    return 0;
}}
"""
SIZES = (8, 13, 1000, 110_000_000, 112_000_000)
GIVEN = ("--args", "-n 3", "--file", "lists/words.txt", "--env", "UNIT=a b")
POLICY = f"""
from maxcode import Action

class Known:
    async def propose(self, observation):
        text = observation.state.problem.program.text.replace({LOOP!r}, {BY_FOUR!r})
        return Action(observation.state.program.with_text(text), "by four")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "by_four.c").write_text(SLOW.replace(LOOP, BY_FOUR))
    (tmp_path / "policy.py").write_text(POLICY)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "words.txt").write_text("total 5\n")
    (tmp_path / "tests").mkdir()
    for number, size in enumerate(SIZES):
        n = size + 5 + 3
        (tmp_path / "tests" / f"{number}.in").write_text(f"{size}\n")
        (tmp_path / "tests" / f"{number}.out").write_text(f"total {n * (n - 1) // 2} a b\n")
    return tmp_path


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_run_its_certificate_and_its_repetition_start_the_program_in_the_same_way(place: Path) -> None:
    words = ("slow.c", "--tests", "tests", "--policy", "policy.py:Known", "--method", "best-of-n", "--budget", "1",
             "--out", "run")  # fmt: skip
    told = answer(maxcode("optimize", *words, *GIVEN, "--json", cwd=place))
    assert told["outcome"] == "correct" and told["confirmed"], told["notes"]
    assert told["fresh_inputs"]["value"] > 1, "inputs made from the format run with the same arguments"
    certificate = json.loads((place / "run" / "certificate.json").read_text())
    assert certificate["subject"]["args"] == ["-n", "3"] and certificate["subject"]["env"] == {"UNIT": "a b"}
    assert certificate["sanitized"]["inputs"], "the sanitizers run it with its file too"
    assert list(certificate["subject"]["files"]) == ["lists/words.txt"]
    assert certificate["options"] == {"args": ["-n", "3"], "env": {"UNIT": "a b"}}
    header = tomllib.loads((place / "run" / "run.toml").read_text())
    assert header["given"]["files"] == {"lists/words.txt": str(place / "lists" / "words.txt")}
    again = maxcode("verify", place / "run" / "certificate.json", cwd=place / "tests")
    assert again.returncode == 0 and again.stdout.startswith("holds here"), again.stderr
    other = maxcode_here("optimize", *words, "--args", "-n 4", *GIVEN[2:], cwd=place)
    assert other.returncode == 2 and "passes none of its 5 tests" in other.stderr
    (place / "lists" / "words.txt").write_text("total 6\n")
    changed = maxcode_here("verify", place / "run" / "certificate.json")
    assert changed.returncode == 2 and "the files file lists/words.txt is another one" in changed.stderr
    (place / "lists" / "words.txt").unlink()
    gone = maxcode_here("verify", place / "run" / "certificate.json")
    assert gone.returncode == 2 and "give --file lists/words.txt=PATH" in gone.stderr


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_candidate_and_its_original_are_started_in_the_same_way(place: Path) -> None:
    problem = 'source = "slow.c"\nargs = ["-n", "3"]\nfiles = ["lists/words.txt"]\nenv = { UNIT = "a b" }\n'
    (place / "problem.toml").write_text(problem)
    told = answer(maxcode("evaluate", "by_four.c", "--against", ".", "--json", cwd=place))
    assert told["outcome"] == "correct" and told["speedup"]["significant"]
    (place / "blind.c").write_text(SLOW.replace('fopen("lists/words.txt", "r")', 'fopen("lists/words.txt", "r+")'))
    told = answer(maxcode("evaluate", "blind.c", "--against", ".", "--json", cwd=place))
    assert told["outcome"] == "crashed", "a candidate cannot open a data file to write"


def test_what_a_program_is_started_with_is_a_part_of_the_problem(place: Path) -> None:
    def digest_with(*words: str, args: str = "3") -> str:
        overrides = {"args": [args], "files": named_files(words)}
        return digest(load(place / "slow.c", place / "tests", overrides).problem)

    one = digest_with(f"words={place}/lists/words.txt")
    assert one == digest_with(f"words={place}/./lists/words.txt"), "its place is not"
    assert one != digest_with(f"other={place}/lists/words.txt")
    assert one != digest_with(f"words={place}/lists/words.txt", args="4")
    (place / "lists" / "words.txt").write_text("total 6\n")
    assert one != digest_with(f"words={place}/lists/words.txt")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--file", "none.txt"), "cannot read the data file {place}/none.txt: No such file or directory"),
        (("--file", "lists"), "it is a folder; name a file"),
        (("--file", "a/../b=slow.c"), "which is no path below its folder"),
        (("--file", "a=slow.c", "--file", "a=policy.py"), "two files with the name a; name one as --file OTHER="),
        (("--file", "a=slow.c", "--file", "a/b=slow.c"), "one is the folder of the other"),
        (("--file", "tests/1.out"), "the data file tests/1.out is a part of test 1; give a file that is no test"),
        (("--env", "UNIT"), "--env UNIT is not NAME=VALUE"),
        (("--env", "LD_PRELOAD=x"), "the sandbox sets LD_PRELOAD itself"),
        (("--args", "'a"), "No closing quotation; close the quotation marks"),
    ],
)
def test_what_cannot_be_given_is_refused_with_its_cure(place: Path, words: tuple[str, ...], told: str) -> None:
    done = maxcode_here("optimize", "slow.c", "--tests", "tests", *words, cwd=place)
    assert done.returncode == 2 and told.format(place=place) in done.stderr, done.stderr


def test_a_problem_names_only_files_of_its_own_folder(place: Path) -> None:
    (place / "problem.toml").write_text('source = "slow.c"\nfiles = ["/etc/hostname"]\n')
    with pytest.raises(InputError, match="put a copy into the folder, or give it as --file hostname=/etc/hostname"):
        load(place)


@pytest.mark.parametrize("words", [("--args", "3"), ("--env", "A=1"), ("--file", "README.md")])
def test_a_function_is_not_started_and_has_none(words: tuple[str, ...]) -> None:
    done = maxcode_here("optimize", "examples/gemm", *words)
    assert done.returncode == 2 and "a function is called, not started: it has no arguments" in done.stderr
