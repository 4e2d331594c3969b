"""`--help` lists options by group, each once, with what is rarely needed last."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from maxcode.cli import VERBS, cli
from maxcode.cli.option_groups import GROUPS, RARE
from tests.support.cli import maxcode, maxcode_here

HEADINGS = ["Problem", "Who proposes", "Budget", "Measuring", "Output"]


def command(verb: str) -> click.Command:
    found = cli.get_command(click.Context(cli), verb)
    assert found is not None
    return found


def sections(verb: str) -> dict[str, str]:
    text = CliRunner().invoke(cli, [verb, "--help"], terminal_width=100).output
    found: dict[str, str] = {}
    for block in text.split("\n\n"):
        heading, colon, rows = block.partition(":\n")
        if colon and not heading.startswith(" "):
            found[heading] = rows
    return found


@pytest.mark.parametrize("verb", ["optimize", "evaluate", "bench"])
def test_every_option_is_in_one_group_and_the_rare_ones_are_last(verb: str) -> None:
    found = sections(verb)
    assert list(found) == [heading for heading in (*HEADINGS, RARE) if heading in found]
    assert RARE in found
    rows = "\n".join(found.values())
    for option in command(verb).params:
        if isinstance(option, click.Option):
            starts = [line for line in rows.splitlines() if line.startswith(f"  {option.opts[-1]}")]
            assert len([line for line in starts if line[2 + len(option.opts[-1]) :][:1] in ("", " ")]) == 1, option.opts


def test_what_a_first_run_needs_is_not_among_the_rare_options() -> None:
    found = sections("optimize")
    assert list(found) == [*HEADINGS, RARE]
    for option in ("--draw", "--unranked", "--width-for", "--shapes", "--tie-break"):
        assert option in found[RARE]
    for option, heading in {"--tests": "Problem", "--policy": "Who proposes", "--budget": "Budget"}.items():
        assert option in found[heading]


def test_a_group_names_options_that_exist() -> None:
    known = {name for verb in VERBS for option in command(verb).params for name in option.opts} | {"--help"}
    assert {name for names in GROUPS.values() for name in names} <= known


def test_every_verb_has_its_own_name() -> None:
    assert [command(verb).name for verb in VERBS] == list(VERBS)


def test_the_first_help_has_each_verb_once_in_its_group_and_in_one_whole_line() -> None:
    text = CliRunner().invoke(cli, ["--help"], terminal_width=100).output
    rows = [line.split() for line in text.partition("Make a program faster:")[2].splitlines() if line[:1] == " "]
    assert [row[0] for row in rows] == list(VERBS)
    assert all(row[-1].endswith(".") for row in rows)


@pytest.mark.parametrize("verb", ["train", "cluster", "problems", "export", "referee", "skill"])
def test_the_help_of_a_group_has_one_whole_line_for_each_command(verb: str) -> None:
    rows = sections(verb)["Commands"].splitlines()
    assert rows and all(row[:3].strip() and row.endswith(".") and "..." not in row for row in rows), rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("optimise slow.c", "unknown command 'optimise'; did you mean 'optimize'?"),
        ("slow.c", "slow.c is no command; to make it faster: maxcode optimize slow.c\n"),
        ("evaluate slow.c", "Error: Missing option '--against'. The original: a source file with --tests, "),
        ("evaluate --against slow.c", "no CANDIDATE: give the program to measure"),
        ("evaluate slow.c --reference --against slow.c", "leave out it or the CANDIDATE"),
        ("optimize pi:test", "unknown suite 'pi'; did you mean 'pie'?"),
        ("optimize .", "has no problem.toml; write one, or give its source: slow.c --tests tests\n"),
        ("optimize empty", "empty/problem.toml names no program; write source = "),
        ("optimize slow.c --tests none", "the tests folder none does not exist; make a folder of tests (NAME.in with "),
        ("verify empty", "there is no empty/certificate.json; give a certificate.json or its folder"),
    ],
)
def test_a_first_mistake_is_answered_by_its_cure(words: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "empty" / "problem.toml").touch()
    done = maxcode_here(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_shell_that_completes_after_a_mistyped_command_gets_no_error() -> None:
    done = maxcode(COMP_WORDS="maxcode optimise ", COMP_CWORD="2", _MAXCODE_COMPLETE="bash_complete")
    assert (done.returncode, done.stderr) == (0, "")
    done = maxcode(COMP_WORDS="maxcode optimize --te", COMP_CWORD="2", _MAXCODE_COMPLETE="bash_complete")
    assert "plain,--tests" in done.stdout


def test_tell_shows_that_id_may_be_left_out_and_when() -> None:
    text = " ".join(CliRunner().invoke(cli, ["tell", "--help"]).output.split())
    assert "tell [OPTIONS] RUN [ID] [ANSWER]" in text
    assert "ID and ANSWER are left out with --finish alone" in text
