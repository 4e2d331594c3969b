"""``maxcode skill``: the page of instructions for coding agents, and the paragraph that points to it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from maxcode.cli.terminal import echo
from maxcode.core.files import read_text, write_whole
from maxcode.errors import InputError

_NAME = "SKILL.md"
_AGENTS = "AGENTS.md"
_BEGIN, _END = "<!-- maxcode skill install -->", "<!-- end of maxcode skill install -->"
_PARAGRAPH = """## Speed

Measure speed with `maxcode`, not by single runs: read `maxcode skill` before you make code faster, or say that it is
faster or slower. `maxcode evaluate NEW --against OLD --tests TESTS --json` judges a program, and
`maxcode race HEAD . --json -- BENCH` your uncommitted changes. Report a speed-up only with its interval, and only if it
is `trusted`, or the race says `faster`. Never edit tests, expected outputs or the original to get there.
"""
_FOLDERS = {"claude": ".claude/skills", "codex": ".codex/skills", "agents": ".agents/skills"}


@click.group(invoke_without_command=True)
@click.pass_context
def skill(context: click.Context) -> None:
    """Print the instructions that tell a coding agent how to use maxcode; `skill install` writes them."""
    if context.invoked_subcommand is None:
        echo(_text().rstrip())


@skill.command(short_help="Write them where an agent looks for them.")
@click.option("--agent", type=click.Choice(sorted(_FOLDERS)), multiple=True,
              help="Whose folder; may be repeated.  [default: those whose folder is here, else agents]")  # fmt: skip
@click.option("--agents-md", is_flag=True, help="Make AGENTS.md if there is none.")
@click.option("--into", type=click.Path(path_type=Path), default=Path(), show_default="this folder",
              help="The project's folder, or your home folder for all projects.")  # fmt: skip
def install(agent: tuple[str, ...], agents_md: bool, into: Path) -> None:
    """Write SKILL.md where an agent looks for skills, FOLDER/skills/maxcode/, and a paragraph into AGENTS.md.

    The paragraph names the page to agents that read AGENTS.md alone.  It is written into a file that is there; a second
    install replaces it.
    """
    if not into.is_dir():
        raise InputError(f"--into is {into}, which is no folder; give an existing one")
    here = [name for name, folder in _FOLDERS.items() if (into / folder).parent.is_dir()]
    for name in agent or here or ["agents"]:
        path = into / _FOLDERS[name] / "maxcode" / _NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _text().encode())
        echo(path)
    if agents_md or (into / _AGENTS).exists():
        _point(into / _AGENTS)
        echo(into / _AGENTS)


def _point(path: Path) -> None:
    """Puts the paragraph into AGENTS.md: in the place of an earlier one, else at the end."""
    before = read_text(path) if path.exists() else ""
    mine = f"{_BEGIN}\n{_PARAGRAPH}{_END}"
    head, begin, rest = before.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if begin and not end:
        raise InputError(f"{path} has the line {_BEGIN} without {_END}; remove it, or put that one back")
    if not begin:
        head, tail = head and head + "\n" * (2 - head.endswith("\n")), "\n"
    write_whole(path.resolve(), f"{head}{mine}{tail}".encode())  # resolved: it may be a link to CLAUDE.md


def _text() -> str:
    return files("maxcode.cli").joinpath(_NAME).read_text()
