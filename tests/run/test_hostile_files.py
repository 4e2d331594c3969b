"""Files that do not end, are missing, or do not fit: each is refused in one sentence, at once and in little memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import EXAMPLES
from tests.support.counting import SLOW
from tests.support.run_0_1 import DATA

pytestmark = pytest.mark.heavy
SPARSE = 7 << 30  # bytes
MEMORY = 3 << 30  # bytes of address space of the command; the interpreter and its threads need a part

# Several commands in one process, because starting it takes most of the time.  An alarm ends one that hangs.
RUN = """
import contextlib, io, json, resource, signal, sys
from maxcode.cli import main
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), -1))
found = []
for words in json.load(sys.stdin):
    sys.argv, err, status = ["maxcode", *words], io.StringIO(), None
    signal.alarm(60)
    with contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    found.append([status, err.getvalue()])
print(json.dumps(found))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Files of all wrong kinds, and a program with two tests."""
    (tmp_path / "slow.c").write_text(SLOW)
    os.mkfifo(tmp_path / "pipe.c")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.c").symlink_to("/dev/zero")
    (tmp_path / "circle.c").symlink_to("circle.c")
    (tmp_path / "binary.c").write_bytes(b"int main() {} \xff")
    huge(tmp_path / "huge.c")
    write_tests(tmp_path / "tests")
    return tmp_path


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SPARSE)


def write_tests(folder: Path) -> Path:
    folder.mkdir()
    for number, n in enumerate((10, 100)):
        (folder / f"{number}.in").write_text(f"{n}\n")
        (folder / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


def refusals(place: Path, *commands: tuple[str, ...]) -> list[str]:
    """What each command prints on stderr, one sentence with exit status 2."""
    done = subprocess.run(  # the key is there so that the tables are read; no command comes to a request
        [sys.executable, "-c", RUN, str(MEMORY)],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        cwd=place,
        env={**os.environ, "OPENAI_API_KEY": "none"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for words, (status, said) in zip(commands, found, strict=True):
        assert status == 2, (words, said)
        assert said.startswith("maxcode: ") and said.count("\n") == 1, (words, said)
    return [said for _, said in found]


OF = {
    "pipe.c": "it is a named pipe; name a regular file",
    "zero.c": "it is a device; name a regular file",
    "/dev/zero": "it is a device; name a regular file",
    "circle.c": "its symbolic links lead in a circle; correct the link",
    "huge.c": f"it has {SPARSE} bytes, and at most",
    "tests": "is a folder; name a",
    "binary.c": "it is not UTF-8 (byte 14); save it as UTF-8",
    "none.c": "does not exist; ",
}


def test_sources_and_candidates_of_any_kind(place: Path) -> None:
    known = ("--against", "slow.c", "--tests", "tests")
    said = refusals(place, *(("evaluate", name, *known) for name in OF))
    for name, words in OF.items():
        wanted = {"none.c": "No such file", "tests": "it is a folder"}.get(name, words)
        assert wanted in said.pop(0), name
    names = [name for name in OF if name not in ("tests", "/dev/zero", "none.c")]
    said = refusals(place, *(("evaluate", "slow.c", "--against", name, "--tests", "tests") for name in names))
    assert [OF[name] in one for name, one in zip(names, said, strict=True)] == [True] * len(names), said


def test_tests_of_any_kind(place: Path) -> None:
    bad = {name: write_tests(place / f"tests-{name}") / "1.in" for name in ("pipe", "zero", "circle", "huge", "gone")}
    for path in bad.values():
        path.unlink()
    os.mkfifo(bad["pipe"])
    bad["zero"].symlink_to("/dev/zero")
    bad["circle"].symlink_to("1.in")
    huge(bad["huge"])
    bad["gone"].symlink_to("elsewhere")
    (place / "round").symlink_to("round")
    words = ("evaluate", "slow.c", "--against", "slow.c", "--tests")
    *said, last = refusals(place, *((*words, f"tests-{name}") for name in bad), (*words, "round"))
    told = ("named pipe", "device", "in a circle", f"{SPARSE} bytes", "No such file")
    for one, why in zip(said, told, strict=True):
        assert "cannot read the test file tests-" in one and "1.in: " in one and why in one
    assert "round is a link that leads nowhere" in last


def test_descriptions_settings_tables_and_run_folders(place: Path) -> None:
    (place / "problem").mkdir()
    os.mkfifo(place / "problem" / "problem.toml")
    shutil.copytree(EXAMPLES / "trsm", place / "function")
    (place / "function" / "inputs.c").unlink()
    os.mkfifo(place / "function" / "inputs.c")
    runs = {name: shutil.copytree(DATA / "finished", place / name) for name in ("header", "events", "claim", "best")}
    for name, file in (("header", "run.toml"), ("events", "events.jsonl"), ("claim", "certificate.json"),
                       ("best", "best/slow.cpp")):  # fmt: skip
        (runs[name] / file).unlink()
        os.mkfifo(runs[name] / file)
    shutil.copytree(DATA / "tests", place / "given")
    shutil.copy(DATA / "slow.cpp", place)
    (place / "suite.toml").symlink_to("suite.toml")
    optimize = ("optimize", "slow.c", "--tests", "tests", "--policy", "llm:any")
    verify = ("--problem", "slow.cpp", "--tests", "given")
    commands = [
        ("optimize", "problem"), ("optimize", "function"),
        (*optimize, "--models", "pipe.c"), (*optimize, "--prices", "pipe.c"),
        ("verify", "claim", *verify), ("verify", "best", *verify), ("verify", "/dev/zero", *verify),
        ("report", "header"), ("compare", "header", "header"), ("train", "grpo", "pipe.c"),
        ("list", "rules", "--count", "pipe.c"), ("optimize", "pipe.py"), ("optimize", "suite.toml"),
        ("optimize", "slow.cpp", "--tests", "given", "--cluster", "slurm:pipe.c"),
    ]  # fmt: skip
    for words, said in zip(commands, refusals(place, *commands), strict=True):
        assert "a named pipe" in said or "a device" in said or "in a circle" in said, (words, said)


def test_tables_that_are_nested_too_deeply(place: Path) -> None:
    deep = "a = " + "[" * 100_000
    run = shutil.copytree(DATA / "finished", place / "deep")
    (run / "run.toml").write_text(deep)
    (place / "nested").mkdir()
    (place / "nested" / "problem.toml").write_text(deep)
    for words in refusals(place, ("report", "deep"), ("optimize", "nested")):
        assert "recursion" in words, words


def test_a_certificate_with_seeds_names_or_flags_that_no_run_makes_is_refused_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    edits: dict[str, dict[str, object]] = {
        "seeds": {"seeds": {"made": [10**399], "run": [0]}},
        "id": {"options": {"id": "../../../etc"}},
        "flags": {"options": {"flags": ["-O2", "-fplugin=/tmp/own.so"]}},
    }
    for name, change in edits.items():
        run = shutil.copytree(DATA / "finished", tmp_path / name)
        told = json.loads((run / "certificate.json").read_text())
        (run / "certificate.json").write_text(json.dumps({**told, **change}))
    rest = ("--problem", str(DATA / "slow.cpp"), "--tests", str(DATA / "tests"))
    seeds, name, flags = refusals(tmp_path, *(("verify", name, *rest) for name in edits))
    assert "a seed 'made' has more than 64 bits" in seeds
    assert "id is '../../../etc'; it names the run folder, so it must be a plain name" in name
    assert "the flag '-fplugin=/tmp/own.so' is not allowed" in flags


SMALL = """
import sys
from pathlib import Path
from maxcode.core.types import Program
from maxcode.errors import InputError
from maxcode.run.run_folder import write_best
folder = Path(sys.argv[1], "run")
write_best(folder, Program({"slow.c": "old"}), Program({"slow.c": "new"}))
with open(Path(sys.argv[1], "filler"), "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError:
        pass
try:
    write_best(folder, Program({"slow.c": "old"}), Program({"slow.c": "x" * 100_000}))
except InputError as error:
    print(error)
print((folder / "best" / "slow.c").read_text())
"""


def test_a_full_disk_is_told_in_one_sentence_and_leaves_the_files_of_the_run_as_they_were(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--size", str(1 << 18), "--tmpfs", disk, sys.executable, "-c", SMALL, disk],
        capture_output=True, text=True,
    )  # fmt: skip
    told = f"cannot write to {disk}/run/best/slow.c: No space left on device; choose another --out, or make room there"
    assert done.stdout.splitlines() == [told, "new"], done.stderr
