"""`--help` lists options by group, each once, with what is rarely needed last."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from maxcode.cli import VERBS, cli
from maxcode.cli.option_groups import GROUPS, RARE

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


def test_every_verb_has_its_own_name_and_a_word_that_is_none_is_refused() -> None:
    assert [command(verb).name for verb in VERBS] == list(VERBS)
    found = CliRunner().invoke(cli, ["optimise"])
    assert (found.exit_code, "No such command 'optimise'" in found.output) == (2, True)


def test_tell_shows_that_id_may_be_left_out_and_when() -> None:
    text = " ".join(CliRunner().invoke(cli, ["tell", "--help"]).output.split())
    assert "tell [OPTIONS] RUN [ID] [ANSWER]" in text
    assert "ID and ANSWER are left out with --finish alone" in text
