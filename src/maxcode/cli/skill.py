"""``maxcode skill``: the page of instructions for coding agents."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from maxcode.cli.terminal import echo
from maxcode.core.files import write_whole
from maxcode.errors import InputError

_NAME = "SKILL.md"
_FOLDERS = {"claude": ".claude/skills", "codex": ".codex/skills", "agents": ".agents/skills"}


@click.group(invoke_without_command=True)
@click.pass_context
def skill(context: click.Context) -> None:
    """Print the instructions that tell a coding agent how to use maxcode; `skill install` writes them."""
    if context.invoked_subcommand is None:
        echo(_text().rstrip())


@skill.command()
@click.option("--agent", type=click.Choice(sorted(_FOLDERS)), multiple=True,
              help="Whose folder; may be repeated.  [default: those whose folder is here, else agents]")  # fmt: skip
@click.option("--into", type=click.Path(path_type=Path), default=Path(), show_default="this folder",
              help="The project's folder, or your home folder for all projects.")  # fmt: skip
def install(agent: tuple[str, ...], into: Path) -> None:
    """Write SKILL.md where an agent looks for skills: FOLDER/skills/maxcode/."""
    if not into.is_dir():
        raise InputError(f"--into is {into}, which is no folder; give an existing one")
    here = [name for name, folder in _FOLDERS.items() if (into / folder).parent.is_dir()]
    for name in agent or here or ["agents"]:
        path = into / _FOLDERS[name] / "maxcode" / _NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _text().encode())
        echo(path)


def _text() -> str:
    return files("maxcode.cli").joinpath(_NAME).read_text()
