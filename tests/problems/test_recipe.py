"""Programs of several files: headers, include folders, a compilation database, and the file that is edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maxcode.errors import InputError
from maxcode.problems import Loaded, digest, load
from maxcode.run.given_candidate import read_candidate


def place(top: Path, **files: str) -> Path:
    """A program in ``top/app`` with a test; ``files`` by path with __ for / and _ for a dot."""
    for name, text in {"app__tests__1_in": "1\n", "app__tests__1_out": "1\n", **files}.items():
        path = top / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top / "app"


def loaded(app: Path, **overrides: Any) -> Loaded:
    return load(app / "main.cpp", app / "tests", overrides)


def test_headers_are_found_beside_the_source_and_followed(tmp_path: Path) -> None:
    app = place(
        tmp_path,
        app__main_cpp='#include <vector>\n  #  include "lib/a.h"\n#include "none.h"\nint main() {}\n',
        app__lib__a_h='#include "b.h"\n#include "../top.h"\n',
        app__lib__b_h='#include "a.h"\n',
        app__top_h="// nothing\n",
        app__vector="not this one\n",
    )
    assert list(loaded(app).problem.program.files) == ["main.cpp", "lib/a.h", "lib/b.h", "top.h"]


def test_include_folders_are_searched_wherever_they_are(tmp_path: Path) -> None:
    app = place(
        tmp_path,
        app__main_cpp='#include "x.h"\n#include <y.h>\nint main() {}\n',
        app__inc__x_h='#include "inner/z.h"\n',
        common__y_h="// y\n",
        common__inner__z_h="// z\n",
    )
    found = loaded(app, include=(app / "inc", tmp_path / "common"))
    assert list(found.problem.program.files) == ["main.cpp", "inc/x.h", "common/y.h", "common/inner/z.h"]
    assert found.problem.spec.include == ("inc", "common")
    assert digest(found.problem) != digest(loaded(app, include=(tmp_path / "common", app / "inc")).problem)
    with pytest.raises(InputError, match=r"the include folder .*nowhere is no folder; correct its name"):
        loaded(app, include=(app / "nowhere",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '#include "../other/o.h"\n',
            r'outside .*app; give a problem.toml in a folder above both, with sources = \["app',
        ),
        ('#include "part.cpp"\n', "would also be compiled by itself; give it another suffix"),
    ],
)
def test_what_cannot_be_included_is_told_with_its_cure(tmp_path: Path, text: str, told: str) -> None:
    app = place(tmp_path, app__main_cpp=text, app__part_cpp="int x;\n", other__o_h="// o\n")
    with pytest.raises(InputError, match=told):
        loaded(app)


def database(path: Path, app: Path, command: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([{"directory": str(app), "file": "main.cpp", "command": command}]))


def test_a_compilation_database_gives_flags_and_folders_and_the_note_says_which(tmp_path: Path) -> None:
    app = place(tmp_path, app__main_cpp='#include "y.h"\nint main() {}\n', common__y_h="// y\n")
    command = (
        "/usr/bin/c++ -DSIZE=3 -D FAST -I../common -isystem /usr/include -O2 -std=gnu++20 -include a.h -MD -MF x.d"
    )
    database(app / "build" / "compile_commands.json", app, f"{command} -o main.o -c main.cpp")
    found = loaded(app)
    assert found.problem.spec.flags == ("-DSIZE=3", "-DFAST", "-O2", "-std=gnu++20")
    assert list(found.problem.program.files) == ["main.cpp", "common/y.h"]
    (note,) = [note for note in found.notes if "compile_commands" in note]
    assert "flags from" in note and note.endswith("left out: -includea.h")
    assert loaded(app, flags=["-O1"]).problem.spec.flags == ("-O1",)
    assert not any("optimisation" in note for note in loaded(app, flags=["-O1"]).notes)
    assert any("built without any; add -O3" in note for note in loaded(app, flags=["-fopenmp"]).notes)
    database(tmp_path / "other.json", app, "c++ -DX -c main.cpp")
    told = loaded(app, compile_commands=tmp_path / "other.json")
    assert told.problem.spec.flags == ("-DX", "-O3") and "names no level of optimisation" in told.notes[0]
    database(tmp_path / "other.json", tmp_path, "c++ -c main.cpp")
    with pytest.raises(InputError, match=r"has no entry for .*main.cpp; give --flags and --include instead"):
        loaded(app, compile_commands=tmp_path / "other.json")


def test_a_database_is_found_in_a_build_folder_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    app = place(tmp_path / "repo", app__main_cpp="int main() {}\n")
    database(tmp_path / "repo" / "build-release" / "compile_commands.json", app, "c++ -DX -O2 -c main.cpp")
    (tmp_path / "repo" / ".git").mkdir()
    assert loaded(app).problem.spec.flags == ("-DX", "-O2")
    database(tmp_path / "repo" / "build" / "compile_commands.json", tmp_path, "c++ -DY -O2 -c main.cpp")
    assert loaded(app).problem.spec.flags == ("-DX", "-O2"), "the first has no entry for the source"
    database(tmp_path / "repo" / "out" / "compile_commands.json", app, "c++ -DZ -O2 -c main.cpp")
    assert loaded(app).problem.spec.flags == ("-DZ", "-O2")
    database(tmp_path / "build" / "compile_commands.json", app, "c++ -DOUTSIDE -O2 -c main.cpp")
    (tmp_path / "repo" / "out" / "compile_commands.json").unlink()
    assert loaded(app).problem.spec.flags == ("-DX", "-O2")


def test_without_a_repository_a_database_is_found_two_folders_up_and_no_further(tmp_path: Path) -> None:
    app = place(tmp_path / "above" / "project" / "src", app__main_cpp="int main() {}\n")
    database(tmp_path / "above" / "build" / "compile_commands.json", app, "c++ -DFAR -O2 -c main.cpp")
    assert "-DFAR" not in loaded(app).problem.spec.flags
    database(tmp_path / "above" / "project" / "build" / "compile_commands.json", app, "c++ -DNEAR -O2 -c main.cpp")
    assert loaded(app).problem.spec.flags == ("-DNEAR", "-O2")


def test_more_sources_of_the_same_program_are_told_with_the_table_that_names_them(tmp_path: Path) -> None:
    app = place(tmp_path, app__main_cpp="int main() {}\n", a__a_cpp="int a;\n")
    folder = {"directory": str(tmp_path / "build")}
    (tmp_path / "build").mkdir()
    made = [
        {**folder, "file": str(path), "command": f"c++ -O2 -o {target}.dir/{path.name}.o -c {path}"}
        for path, target in (
            (app / "main.cpp", "CMakeFiles/app"),
            (tmp_path / "a" / "a.cpp", "CMakeFiles/app"),
            (tmp_path / "a" / "other.cpp", "CMakeFiles/other"),
        )
    ]
    path = tmp_path / "build" / "compile_commands.json"
    path.write_text(json.dumps(made))
    (note,) = [note for note in loaded(app, compile_commands=path).notes if "more source" in note]
    assert f"has 1 more source, such as {tmp_path / 'a' / 'a.cpp'}" in note
    assert f'{tmp_path}, with a problem.toml that has sources = ["app/main.cpp", "a/a.cpp"]' in note
    table = 'sources = ["app/main.cpp", "a/a.cpp"]\n'
    (tmp_path / "problem.toml").write_text(table)
    (app / "tests").rename(tmp_path / "tests")
    whole = load(tmp_path)
    assert whole.problem.spec.flags == ("-O2",) and not any("more source" in note for note in whole.notes)
    (app / "problem.toml").write_text('sources = ["main.cpp", "../a/a.cpp"]\n')
    with pytest.raises(InputError, match=rf"give the folder of all sources: put problem\.toml into {tmp_path}, and"):
        load(app)


def test_the_file_to_edit_comes_first_and_must_be_a_source(tmp_path: Path) -> None:
    app = place(tmp_path, app__main_cpp='#include "a.h"\nint main() {}\n', app__a_cpp="int a;\n", app__a_h="// a\n")
    (app / "problem.toml").write_text('sources = ["main.cpp", "a.cpp"]\nedit = "a.cpp"\n')
    assert list(load(app).problem.program.files) == ["a.cpp", "main.cpp", "a.h"]
    (app / "problem.toml").write_text('sources = ["main.cpp", "a.cpp"]\nedit = "a.h"\n')
    with pytest.raises(InputError, match=r"unknown source to edit: 'a\.h'"):
        load(app)


def test_a_problem_has_no_header_of_another_folder(tmp_path: Path) -> None:
    app = place(tmp_path, app__main_cpp="int main() {}\n", common__y_h="// y\n")
    (app / "problem.toml").write_text('source = "main.cpp"\ninclude = ["../common"]\n')
    with pytest.raises(InputError, match=r"take it out of problem\.toml and give --include"):
        load(app)


def test_a_candidate_that_is_a_folder_may_leave_headers_to_the_original(tmp_path: Path) -> None:
    app = place(
        tmp_path, app__main_cpp='#include "a.h"\nint main() {}\n', app__a_h="// a\n", new__main_cpp="int main() {}\n"
    )
    problem = loaded(app).problem
    assert read_candidate(tmp_path / "new", problem).files == {"main.cpp": "int main() {}\n", "a.h": "// a\n"}
    (tmp_path / "new" / "main.cpp").unlink()
    with pytest.raises(InputError, match=r"main\.cpp is missing"):
        read_candidate(tmp_path / "new", problem)


def test_a_candidate_in_another_language_is_refused(tmp_path: Path) -> None:
    app = place(tmp_path, app__main_cpp="int main() {}\n", slow_py="print()\n", fast_cc="int main() {}\n")
    problem = loaded(app).problem
    with pytest.raises(InputError, match=r"slow\.py is python, and the original is cpp; give a candidate in cpp"):
        read_candidate(tmp_path / "slow.py", problem)
    assert read_candidate(tmp_path / "fast.cc", problem).files["main.cpp"] == "int main() {}\n"
