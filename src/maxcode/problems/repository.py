"""``kind = "repo"``: a git repository whose own commands build it, test it and run its benchmark.

kind = "repo"
edit = ["src/**/*.c"]              # the files that a candidate may change
build = "make", tests = "make test", benchmark = "./bench"
repo = "."                         # optional, as all below: the repository; the folder of this file
base = "HEAD"                      # the revision to make faster
language = "c++"                   # of the files to edit; their suffix tells it
setup = "pip download ..."         # run once, as you and with the network
show = ["~/.cargo"]                # further folders that the commands see, read-only
env = { PATH = "{repo}/.venv/bin:/usr/bin:/bin" }
goal = "cpu" | "wall", same_output = true, statement = "what matters", id = "name"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, final

from maxcode.code.languages import LANGUAGES, Language, language
from maxcode.core.confined import refuse_outside
from maxcode.core.toml_tables import converted, known_keys
from maxcode.core.types import Kind, Limits, Problem, Program, ProgramSpec, RepoSpec
from maxcode.errors import InputError
from maxcode.evaluate.repo.allowed import editable, is_matched, why_protected
from maxcode.evaluate.repo.candidates import SOURCE_AT_MOST
from maxcode.evaluate.repo.git import Tracked, changes_of, commit_of, contents, top_of, tracked

KIND: Kind = "repo"
_NAMES = {"c++": "cpp", "C++": "cpp", "C": "c", "js": "javascript", "golang": "go"}
_SHOWN = 3


@final
@dataclass(frozen=True, slots=True)
class RepoDescription:
    """The content of such a ``problem.toml``."""

    kind: Literal["repo"]
    benchmark: str
    edit: tuple[str, ...]
    repo: str = "."
    base: str = "HEAD"
    setup: str = ""
    build: str = ""
    tests: str = ""
    show: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    goal: Literal["cpu", "wall"] = "cpu"
    same_output: bool = False
    language: str = ""
    statement: str = ""
    id: str = ""


def repository(table: Mapping[str, Any], folder: Path, where: str) -> tuple[Problem, tuple[str, ...]]:
    """The problem that a table describes, and notes for the user.  ``folder``: relative to which ``repo`` is;
    ``where`` names the file.

    InputError for an unknown key, a wrong type, and what the repository does not have.
    """
    found = _described(table, where)
    top = top_of(_existing(folder / found.repo, where))
    refuse_outside(top, f"{where}: the repository")
    commit = commit_of(top, found.base)
    spec = RepoSpec(
        folder=str(top), commit=commit, edit=found.edit, setup=found.setup, build=found.build, tests=found.tests,
        benchmark=found.benchmark, show=found.show, same_output=found.same_output,
    )  # fmt: skip
    files = tracked(top, commit)
    program = _program(top, files, spec, where)
    tongue = _language(found.language, program)
    settings = ProgramSpec(
        limits=Limits(), folder=str(folder.resolve()), repo=spec, env=tuple(sorted(found.env.items()))
    )
    name = found.id or top.resolve().name
    problem = Problem(name, KIND, tongue.name, program, settings, found.statement.strip(), found.goal)
    return problem, tuple(_notes(top, commit, found, program))


def _described(table: Mapping[str, Any], where: str) -> RepoDescription:
    known_keys(table, [one.name for one in fields(RepoDescription)], where)
    for key in ("edit", "benchmark"):
        if not table.get(key):
            example = '["src/**/*.c"]' if key == "edit" else '"./bench"'
            raise InputError(f'{where}: kind = "repo" needs `{key}`, e.g. {key} = {example}')
    found = converted(table, RepoDescription, where)
    for name in found.env:
        if not name.isascii() or not name.isidentifier():
            raise InputError(f"{where}: env sets {name!r}, which is no name of a variable; use letters, digits and _")
    return found


def _existing(folder: Path, where: str) -> Path:
    if not folder.is_dir():
        raise InputError(f"{where}: repo names {folder}, which is no folder; name a clone of the repository")
    return folder


def _program(top: Path, files: Mapping[str, Tracked], spec: RepoSpec, where: str) -> Program:
    """The files that may be edited, as in base."""
    regular = [path for path, one in files.items() if one.is_file]
    paths = editable(regular, spec)
    if not paths:
        matched = [path for path in regular if is_matched(path, spec.edit)]
        why = f"; {matched[0]} matches, but {why_protected(matched[0], spec)}: name it in full" if matched else ""
        raise InputError(f"{where}: edit = {list(spec.edit)} matches no file of base that may be edited{why}")
    texts = contents(top, [files[path].blob for path in paths])
    if sum(map(len, texts)) > SOURCE_AT_MOST:
        total = sum(map(len, texts)) >> 20
        raise InputError(f"{where}: edit matches {len(paths)} files of {total} MB; narrow it to those worth a change")
    found = {path: _decoded(data) for path, data in zip(paths, texts, strict=True)}
    kept = {path: text for path, text in found.items() if text is not None}
    if not kept:
        raise InputError(f"{where}: no file that edit matches is UTF-8 text")
    return Program(kept)


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _language(name: str, program: Program) -> Language:
    """The named language, or that of most files."""
    if name:
        return language(_NAMES.get(name, name))
    suffixes = {suffix: row.name for row in LANGUAGES.values() for suffix in row.suffixes}
    counts = Counter(suffixes.get(Path(path).suffix, "") for path in program.files)
    del counts[""]
    if not counts:
        known = ", ".join(LANGUAGES)
        raise InputError(
            f"cannot tell the language of {program.name}; set `language` in problem.toml to one of {known}"
        )
    return language(counts.most_common(1)[0][0])


def _notes(top: Path, commit: str, found: RepoDescription, program: Program) -> list[str]:
    notes = [f"base is {commit[:12]} of {top.name}; {len(program.files)} files may be edited"]
    if found.base == "HEAD" and (dirt := changes_of(top)):
        shown = ", ".join(line[3:] for line in dirt[:_SHOWN])
        notes.append(f"the work tree has changes that are not in base ({shown}); commit them if they belong to it")
    return notes
