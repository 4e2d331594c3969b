"""From files to a problem: what is accepted, and that everything else gets one sentence with a cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maxcode.core.types import Checker, Limits
from maxcode.errors import InputError
from maxcode.problems import digest, load

MAIN = "int main() { return 0; }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program and four tests, without problem.toml."""
    (tmp_path / "slow.cpp").write_text(MAIN)
    (tmp_path / "tests").mkdir()
    for name, size in (("1", 10), ("2", 20), ("3", 30), ("10", 5)):
        (tmp_path / "tests" / f"{name}.in").write_text("x" * size)
        (tmp_path / "tests" / f"{name}.out").write_text(name)
    return tmp_path


def describe(folder: Path, text: str) -> Path:
    (folder / "problem.toml").write_text(text)
    return folder


def refused(work: Callable[[], object]) -> str:
    """The sentence with which ``work`` is refused."""
    with pytest.raises(InputError) as caught:
        work()
    return str(caught.value)


def test_a_bare_source_with_tests_is_a_problem_with_the_language_s_own_flags(folder: Path) -> None:
    problem = load(folder / "slow.cpp", folder / "tests").problem
    assert (problem.language, problem.program.text, problem.goal) == ("cpp", MAIN, "cpu")
    assert problem.id == f"{folder.name}-slow"
    assert problem.spec.flags == ("-std=c++17", "-O3")
    assert (problem.spec.generator, problem.spec.generated) == ((), 0)


def test_a_folder_and_its_problem_toml_are_the_same_problem(folder: Path) -> None:
    describe(folder, 'source = "slow.cpp"\n')
    by_folder, by_file = load(folder).problem, load(folder / "problem.toml").problem
    assert by_folder == by_file
    assert by_folder.id == folder.name


def test_every_key_of_problem_toml_reaches_the_problem(folder: Path) -> None:
    (folder / "gen.py").write_text("print(1)")
    describe(
        folder,
        """
        id = "mine"
        language = "cpp"
        source = "slow.cpp"
        statement = "what it does"
        goal = "wall"
        flags = ["-O2", "-march=native"]
        [checker]
        kind = "float"
        abs_tol = 1
        rel_tol = 0.5
        [limits]
        run_s = 2
        memory_mb = 100
        [tests]
        folder = "tests"
        held_out = ["1*"]
        generator = ["python3", "gen.py", "{seed}"]
        generated = 7
        """,
    )
    problem = load(folder).problem
    spec = problem.spec
    assert (problem.id, problem.statement, problem.goal) == ("mine", "what it does", "wall")
    assert spec.flags == ("-O2", "-march=native")
    assert spec.checker == Checker("float", 1.0, 0.5)
    assert spec.limits == Limits(run_s=2.0, memory_mb=100)
    assert [case.name for case in spec.held_out] == ["1", "10"]
    assert (spec.generator, spec.generated) == (("python3", "gen.py", "{seed}"), 7)
    assert spec.folder == str(folder)


def test_a_generator_without_a_number_makes_four_inputs(folder: Path) -> None:
    (folder / "gen.py").write_text("print(1)")
    describe(folder, 'source = "slow.cpp"\n[tests]\ngenerator = ["python3", "gen.py", "{seed}"]\n')
    assert load(folder).problem.spec.generated == 4


def test_generated_inputs_alone_are_enough_and_the_user_is_told(folder: Path) -> None:
    (folder / "gen.py").write_text("print(1)")
    describe(folder, 'source = "slow.cpp"\n[tests]\nfolder = "none"\ngenerator = ["python3", "gen.py", "{seed}"]\n')
    loaded = load(folder)
    assert loaded.problem.spec.seen == loaded.problem.spec.held_out == ()
    assert "all inputs are generated" in loaded.notes[0]


def test_several_sources_make_one_program_started_by_the_first(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "graph.cpp").write_text("int f() { return 1; }\n")
    describe(folder, 'sources = ["slow.cpp", "lib/graph.cpp"]\n')
    program = load(folder).problem.program
    assert list(program.files) == ["slow.cpp", "lib/graph.cpp"]
    assert program.name == "slow.cpp"


def test_options_win_over_problem_toml_key_by_key(folder: Path) -> None:
    text = 'source = "slow.cpp"\n[limits]\nrun_s = 2\nmemory_mb = 99\n[checker]\nkind = "float"\nabs_tol = 1.0\n'
    describe(folder, text)
    options = {"limits": {"run_s": 5}, "checker": {"kind": "exact"}, "flags": ["-O2"], "goal": "wall"}
    problem = load(folder, None, options).problem
    assert problem.spec.limits == Limits(run_s=5.0, memory_mb=99)
    assert problem.spec.checker == Checker("exact")
    assert (problem.spec.flags, problem.goal) == (("-O2",), "wall")


def test_options_describe_a_bare_source_too_and_are_checked_the_same(folder: Path) -> None:
    source, tests = folder / "slow.cpp", folder / "tests"
    assert load(source, tests, {"limits": {"run_s": 3}}).problem.spec.limits.run_s == 3.0
    said = refused(lambda: load(source, tests, {"limits": {"runs": 3}}))
    assert "did you mean 'run_s'" in said
    assert "the options" in said


def test_a_tests_folder_given_by_hand_replaces_the_described_one(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "a.in").write_text("1")
    (folder / "other" / "a.ans").write_text("1")
    describe(folder, 'source = "slow.cpp"\n')
    assert [case.name for case in load(folder, folder / "other").problem.spec.seen] == ["a"]


def test_giving_the_source_beside_a_problem_toml_says_that_it_is_not_read(folder: Path) -> None:
    describe(folder, 'source = "slow.cpp"\n')
    (note,) = load(folder / "slow.cpp", folder / "tests").notes
    assert "problem.toml is not read" in note
    assert f"give the folder {folder}" in refused(lambda: load(folder / "slow.cpp"))


def test_line_endings_of_a_source_are_kept(folder: Path) -> None:
    (folder / "slow.cpp").write_bytes(b"int main()\r\n{ return 0; }")
    assert load(folder / "slow.cpp", folder / "tests").problem.program.text == "int main()\r\n{ return 0; }"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.cpp", None, "give a source file with --tests"),
        ("empty.cpp", b" \n", "is empty"),
        ("latin.cpp", b"// caf\xe9\nint main() {}", "not UTF-8 (byte 6)"),
        ("slow.zig", b"pub fn main() void {}", "set `language` in problem.toml"),
        ("tests", None, "has no problem.toml"),
    ],
)
def test_a_source_that_cannot_be_used_is_refused(folder: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    assert said in refused(lambda: load(folder / name, folder / "tests"))


def test_a_bare_source_without_tests_is_refused(folder: Path) -> None:
    assert "add --tests DIR" in refused(lambda: load(folder / "slow.cpp"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('source = "slow.cpp"\ngoal = \n', "line 2"),
        ('sorce = "slow.cpp"\n', "did you mean 'source'?"),
        ('source = "slow.cpp"\n[limits]\nrun = 3\n', "did you mean 'run_s'?"),
        ('source = "slow.cpp"\n[tests]\nseen = "1*"\n', "`tests.seen`: expected a list, got a text"),
        ('source = "slow.cpp"\n[limits]\nrun_s = "3"\n', "`limits.run_s`: expected a number, got a text"),
        ('source = "slow.cpp"\n[limits]\nrun_s = 0\n', "limits.run_s is 0.0; it must be a number above 0"),
        ('source = "slow.cpp"\n[limits]\nrun_s = inf\n', "must be a number above 0"),
        ('source = "slow.cpp"\n[limits]\nrun_s = 1e12\n', "and below 1e8"),
        (
            'source = "slow.cpp"\n[limits]\nmemory_mb = true\n',
            "`limits.memory_mb`: expected a whole number, got true or false",
        ),
        ('source = "slow.cpp"\nflags = "-O3"\n', "`flags`: expected a list, got a text"),
        ('kind = "function"\nsource = "slow.cpp"\n', "names no function; write it into a table: [function] for C"),
        ('source = "slow.cpp"\nlimits = 3\n', "`limits`: expected a table, got a whole number"),
        ('source = "slow.cpp"\n[checker]\nkind = "floats"\n', "did you mean 'float'?"),
        ('source = "slow.cpp"\n[checker]\nkind = "float"\nabs_tol = -1\n', "must be 0 or more"),
        ('source = "slow.cpp"\ngoal = "gpu"\n', "Known: cpu, instructions, wall"),
        ('source = "slow.cpp"\nlanguage = "c++"\n', "unknown language 'c++'"),
        ('statement = "x"\n', 'names no program; write source = "slow.cpp"'),
        ('source = "slow.cpp"\nsources = ["a.cpp"]\n', "has source and sources; leave one of them out"),
        ('source = "gone.cpp"\n', "gone.cpp does not exist; correct its name"),
        ('source = "tests"\n', "is a folder; name a file"),
        (f'source = "{"long" * 99}.cpp"\n', "File name too long"),
        ('source = "slow\\u0000.cpp"\n', "correct its name"),
        (f'source = "slow.cpp"\n[tests]\nfolder = "{"long" * 99}"\n', "does not exist"),
        ('source = "../slow.cpp"\n', "give the folder of all sources"),
        ('source = "slow.cpp"\n[tests]\nfolder = "none"\n', "does not exist"),
        ('source = "slow.cpp"\n[tests]\nseen = ["9*"]\n', "no test matches '9*'"),
        ('source = "slow.cpp"\n[tests]\nseen = ["1*"]\nheld_out = ["10"]\n', "matched by both"),
        ('source = "slow.cpp"\n[tests]\ngenerated = 3\n', "there is no generator"),
        ('source = "slow.cpp"\n[tests]\ngenerator = ["python3", "{seed}"]\ngenerated = -1\n', "0 or more"),
        ('source = "slow.cpp"\n[tests]\ngenerator = ["python3", "gen.py"]\n', "put {seed} among its arguments"),
        ('source = "slow.cpp"\n[tests]\ngenerator = ["python3", "no.py", "{seed}"]\n', "there is no file 'no.py'"),
        ('source = "slow.cpp"\n[checker]\nkind = "command"\n', 'command = ["python3", "check.py"]'),
        ('source = "slow.cpp"\n[checker]\ncommand = ["python3"]\n', "belongs to kind"),
        ('source = "slow.cpp"\n[checker]\nkind = "command"\ncommand = ["./no"]\n', "there is no program './no'"),
    ],
)
def test_a_description_that_cannot_be_used_is_refused(folder: Path, text: str, said: str) -> None:
    assert said in refused(lambda: load(describe(folder, text)))


def test_a_description_that_is_not_utf8_is_refused(folder: Path) -> None:
    (folder / "problem.toml").write_bytes(b'statement = "\xe9"')
    assert "not UTF-8" in refused(lambda: load(folder))


@pytest.mark.parametrize(
    "flag", ["-fplugin=x.so", "-Wl,-z,now", "-o", "-I/etc", "@flags", "-O2 -g", "-Bx", "-wrapper", ""]
)
def test_flags_that_reach_outside_the_build_are_refused_by_name(folder: Path, flag: str) -> None:
    said = refused(lambda: load(folder / "slow.cpp", folder / "tests", {"flags": ["-O3", flag]}))
    assert f"the flag '{flag}' is not allowed" in said
    assert "-std=c++17 -O3" in said


def test_a_language_that_is_not_compiled_takes_no_flags(folder: Path) -> None:
    (folder / "slow.py").write_text("print(1)\n")
    assert load(folder / "slow.py", folder / "tests").problem.spec.flags == ()
    said = refused(lambda: load(folder / "slow.py", folder / "tests", {"flags": ["-O3"]}))
    assert "programs in python are not compiled" in said


def test_the_digest_is_the_same_wherever_the_folder_lies(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    describe(folder, 'source = "slow.cpp"\n')
    before = digest(load(folder).problem)
    moved = folder.rename(tmp_path_factory.mktemp("elsewhere") / "moved")
    assert digest(load(moved).problem) == before


def test_the_digest_changes_with_anything_that_can_change_a_verdict(folder: Path) -> None:
    (folder / "gen.py").write_text("print(1)")
    (folder / "check.py").write_text("pass")
    options: dict[str, Any] = {"tests": {"generator": ["python3", "gen.py", "{seed}"]}}
    options["checker"] = {"kind": "command", "command": ["python3", "check.py"]}
    describe(folder, 'source = "slow.cpp"\n')

    def now(**more: object) -> str:
        return digest(load(folder, None, {**options, **more}).problem)

    first = now()
    assert now() == first
    assert now(flags=["-O2"]) != first
    assert now(goal="wall") != first
    assert now(limits={"run_s": 1}) != first
    assert now(checker={"kind": "exact"}) != first
    assert now(tests={"generator": ["python3", "gen.py", "{seed}"], "generated": 2}) != first
    for name in ("slow.cpp", "gen.py", "check.py", "tests/1.in", "tests/10.out"):
        path = folder / name
        text = path.read_text()
        path.write_text(text + " ")
        assert now() != first, name
        path.write_text(text)
    assert now() == first


def test_a_test_that_has_gone_is_named(folder: Path) -> None:
    problem = load(folder / "slow.cpp", folder / "tests").problem
    (folder / "tests" / "2.in").unlink()
    assert "2.in" in refused(lambda: digest(problem))
