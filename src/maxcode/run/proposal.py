"""What a maintainer gets: ``PR.md`` (what, why, the speed-up, who judged it, how to repeat it), and a branch.

The branch is one commit on base.  git's objects are written, and nothing else: no file of the work tree, no index, no
other branch.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import final

import tomli_w

from maxcode.code.hunks import hunks_of
from maxcode.code.prose import prose
from maxcode.core.files import write_whole
from maxcode.core.printable import printable
from maxcode.core.types import Problem, Timing
from maxcode.core.wording import number_of
from maxcode.errors import InputError
from maxcode.evaluate.repo.commands import SEED
from maxcode.evaluate.repo.git import git, last_line, tracked
from maxcode.run.certificate import Certificate
from maxcode.run.result import RunResult
from maxcode.run.smaller_patch import KEPT, LEFT_OUT

NAME = "PR.md"
_SUBJECT_AT_MOST, _WHY_AT_MOST = 68, 3000
_HEADING = re.compile(r"^#+ ", re.MULTILINE)
_NEEDED = "What the commands start from there must be in them."
_EMAIL = "maxcode@localhost"
_OWN_NAMED = 5  # commits
_AUTHORS = {"agent": "a coding agent", "command": "a command"}
_UNKNOWN = "the one who proposed it"
_LEVELS = {
    "outside": "from outside of the process of the patch",
    "own tests only": "by the repository's tests alone, which run in the process of the patch",
}
_BRANCH = re.compile(r"[A-Za-z0-9][\w./+-]{0,200}")


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """A confirmed patch.  ``words``: what its authors said of each step that led to it, the first one first.
    ``policy``: who they are, as ``--policy`` names them."""

    problem: Problem
    result: RunResult
    certificate: Certificate | None
    words: tuple[str, ...]
    policy: str = ""

    @property
    def changed(self) -> list[str]:
        """The paths that the patch changes or adds."""
        base = self.problem.program.files
        return [path for path, text in self.result.best_program.files.items() if base.get(path) != text]

    @property
    def subject(self) -> str:
        """One line: what the policy said first, if it made the patch in one step; else which files are faster."""
        first = prose(self.words[0]).splitlines() if len(self.words) == 1 else []
        said = next((line.strip(" #*`") for line in first if line.strip(" #*`")), "")
        files = ", ".join(Path(path).name for path in self.changed[:2]) + ", ..." * (len(self.changed) > 2)
        return printable(said) if 8 <= len(said) <= _SUBJECT_AT_MOST else f"Make {files} faster"

    def text(self) -> str:
        """The text of the pull request."""
        return "\n".join([f"# {self.subject}", "", *self._about(), *self._repeat()])

    def message(self) -> str:
        """The message of a commit: the same without how to repeat it, and without marks that git takes for comments."""
        about = _HEADING.sub("", "\n".join(self._about()))
        return f"{self.subject}\n\n{about}\nBase was {self.problem.spec.repo_spec.commit}.\n"

    def _about(self) -> Iterator[str]:
        yield from (*self._what(), *self._measured(), *self._checked(), *self._open())

    def _what(self) -> Iterator[str]:
        hunks = hunks_of(self.problem.program.files, self.result.best_program.files)
        count, files = len(hunks), ", ".join(f"`{path}`" for path in self.changed)
        lines = [
            sum(end - first for first, end in each) for each in zip(*((h.after, h.before) for h in hunks), strict=True)
        ]
        yield f"{number_of(count, 'change')} in {files} (+{lines[0]} -{lines[1]} lines)."
        said = list(self._said())
        since = " The words below were written before that and may speak of what is gone." if said else ""
        for note in (note for note in self.result.notes if LEFT_OUT in note or KEPT in note):
            yield f"{note}.{since * (LEFT_OUT in note)}"
        yield ""
        if said:
            yield from (f"Why it is faster, in the words of {self._author}, which nobody has checked:", "", *said, "")

    @property
    def _author(self) -> str:
        """Who wrote the patch."""
        kind, colon, name = self.policy.partition(":")
        if kind == "llm" and colon:
            return f"a language model (`{name}`)"
        if colon:  # the words of a command may hold keys and paths of a machine
            return _AUTHORS.get(kind, _UNKNOWN)
        return f"maxcode's policy `{kind}`" if kind not in ("", "ask") else _UNKNOWN

    def _said(self) -> Iterator[str]:
        """The words of each step as quotations, without the subject and the names of files."""
        told = [printable(prose(one)).strip() for one in self.words]
        told = [one for one in told if one]
        for number, one in enumerate(told, 1):
            lines = _cut(one, _WHY_AT_MOST // len(told)).splitlines()
            kept = [line for line in lines if line.strip("`* :") not in self.changed]
            kept = kept[1:] if kept and kept[0].strip(" #*`") == self.subject else kept
            kept = "\n".join(kept).strip("\n").splitlines()
            if number > 1:
                yield ">"
            yield from (f"> {line}".rstrip() for line in ([f"Step {number}:"] if len(told) > 1 else []) + kept)

    def _measured(self) -> Iterator[str]:
        found, spec = self.result.speedup, self.problem.spec.repo_spec
        if found is None:
            return
        yield from ("## Speed-up", "")
        seeded = f" (`{SEED}` is another number in every pair)" * (SEED in spec.benchmark)
        clock = "CPU" if found.clock == "cpu" else "wall-clock"
        yield f"**{found}** ({found.confidence:.0%} interval) in {clock} time of this command, whole processes{seeded}:"
        yield from ("", "```sh", spec.benchmark, "```", "")
        if found.seconds is not None:
            before, after = found.seconds
            yield f"{before:.3g} s before, {after:.3g} s after (medians of {found.pairs} pairs of runs in random order,"
            yield "each in a sandbox of its own)."
        if self.certificate is not None and self.certificate.control is not None:
            control = self.certificate.control.interval
            told = f"{control.value:.3f}x [{control.low:.3f}, {control.high:.3f}], a {control.confidence:.0%} interval"
            yield f"Base against itself in the same way: {told}."
        if self.certificate is not None and self.certificate.timing is not None:
            yield from self._again(self.certificate.timing)
        machine = self.result.measured.machine
        tools = [version for tongue, version in machine.compilers.items() if tongue == self.problem.language]
        yield f"Machine: {', '.join([machine.cpu, f'{machine.cores} cores', machine.kernel, *tools])}."
        yield from (*(f"{note}." for note in self.result.notes if "CPU pressure" in note), "")

    def _again(self, timing: Timing) -> Iterator[str]:
        """The figures of the certificate, which was measured apart."""
        yield f"Timed once more for its certificate, {timing.pairs} pairs: {timing.speedup}."
        if timing.elapsed is not None:
            yield f"By the wall clock, in the same pairs: {timing.elapsed}."

    def _checked(self) -> Iterator[str]:
        yield from ("## Who judged that it is right", "")
        if (trust := self.result.measured.trust) is not None:
            yield f"Level of trust: **{trust.level}**, that is {_LEVELS.get(trust.level, 'as told')}: {trust.why}."
        yield from ("", *(f"- NOT TRUSTED: {doubt}" for doubt in self.result.doubts)) if self.result.doubts else ()
        yield ""

    def _open(self) -> Iterator[str]:
        yield from ("## What nobody has checked", "")
        yield "- No person has read this patch, as far as maxcode knows."
        yield "- Calls, values and errors beyond those of the tests and of the benchmark, whose work somebody chose."
        yield "- Other machines, systems, compilers, settings and versions than those above."
        sanitized = self.certificate.sanitized if self.certificate is not None else None
        if sanitized is None or sanitized.not_run:
            yield "- It was not run with sanitizers."
        yield ""

    def _repeat(self) -> Iterator[str]:
        spec = self.problem.spec.repo_spec
        yield from ("## How to repeat it", "", f"With maxcode {version('maxcode')}. Base is `{spec.commit}`.")
        yield from (*self._own_commits(), "Put this `problem.toml` into a clone:", "")
        yield from ("```toml", toml_of(self.problem).rstrip(), "```", "")
        if spec.show:
            yield from (f"`show` names folders of the machine that measured: name yours. {_NEEDED}", "")
        care = " (`setup` runs as you and with the network: read it first)" if spec.setup else ""
        yield from (f"Then judge the branch there, or `best.diff` of the run folder{care}:", "")
        yield from ("```sh", "maxcode evaluate BRANCH --against problem.toml", "```", "")
        if self.certificate is not None:
            allowed = " --run-setup" * bool(spec.setup)
            yield from ("or, from the run folder, repeat all that its certificate says:", "", "```sh")
            yield from (f"maxcode verify certificate.json --problem CLONE/problem.toml{allowed}", "```", "")

    def _own_commits(self) -> Iterator[str]:
        """The commits of base that no remote branch has, so that others cannot have them."""
        top, commit = Path(self.problem.spec.repo_spec.folder), self.problem.spec.repo_spec.commit
        if not git(top, "for-each-ref", "--count=1", "refs/remotes").stdout.strip():
            return
        most = f"--max-count={_OWN_NAMED + 1}"
        own = git(top, "log", most, "--format=%h %s", commit, "--not", "--remotes").stdout.splitlines()
        if own:
            named = ", ".join(f"`{printable(one).replace('`', '')}`" for one in own[:_OWN_NAMED])
            more = ", ..." * (len(own) > _OWN_NAMED)
            yield f"These commits of base are on no remote branch, push them too: {named}{more}."


def _cut(text: str, most: int) -> str:
    """The text up to the end of a line."""
    return text if len(text) <= most else f"{text[:most].rpartition(chr(10))[0] or text[:most]}\n[...]"


def toml_of(problem: Problem) -> str:
    """A ``problem.toml`` for the top folder of a clone, from which the same is measured."""
    spec = problem.spec.repo_spec
    told = {
        "kind": problem.kind, "base": spec.commit, "language": problem.language, "edit": list(spec.edit),
        "setup": spec.setup, "build": spec.build, "tests": spec.tests, "benchmark": spec.benchmark,
        "show": list(spec.show), "same_output": spec.same_output, "goal": problem.goal, "env": dict(problem.spec.env),
    }  # fmt: skip
    return tomli_w.dumps({name: value for name, value in told.items() if value})


def write_proposal(proposal: Proposal, folder: Path) -> Path:
    """Writes PR.md into the run folder."""
    path = folder / NAME
    write_whole(path, proposal.text().encode())
    return path


def refuse_branch(problem: Problem, name: str) -> None:
    """InputError if the branch cannot be made: before the search, which may be paid for."""
    if not problem.traits.is_patch:
        raise InputError(f"--branch {name} is for repositories; {problem.id} is a {problem.kind}")
    top = Path(problem.spec.repo_spec.folder)
    if not _BRANCH.fullmatch(name) or git(top, "check-ref-format", "--branch", name).returncode:
        raise InputError(f"--branch {name} is no name of a branch; use letters, digits, / and -")
    if _commit_at(top, name) not in ("", _made(top, name)):
        raise InputError(f"{top} has a branch {name} already; choose another name")
    for other in git(top, "for-each-ref", "--format=%(refname:short)", "refs/heads").stdout.split():
        if name.startswith(f"{other}/") or other.startswith(f"{name}/"):
            raise InputError(
                f"{top} has a branch {other}, beside which git takes no branch {name}; choose another name"
            )


def _commit_at(top: Path, name: str) -> str:
    return git(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}").stdout.strip()


def _made(top: Path, name: str) -> str:
    """The commit of the branch if it is as maxcode made it, so that a resumed run finds it done.  Who amends a commit
    becomes its committer, and is not its author."""
    told = git(top, "log", "-1", "--format=%H %ae %ce", f"refs/heads/{name}").stdout.split()
    return told[0] if told[1:] == [_EMAIL, _EMAIL] else ""


def write_branch(proposal: Proposal, name: str) -> str:
    """Commits the patch to a new branch; its hash.  InputError in the words of git if it cannot."""
    spec, top = proposal.problem.spec.repo_spec, Path(proposal.problem.spec.repo_spec.folder)
    modes = tracked(top, spec.commit)
    with tempfile.TemporaryDirectory(prefix="maxcode-branch-") as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        _asked(top, index, "read-tree", spec.commit)
        for number, path in enumerate(proposal.changed):
            file = Path(scratch, str(number))
            file.write_bytes(proposal.result.best_program.files[path].encode())
            blob = _asked(top, index, "hash-object", "-w", "--no-filters", str(file))
            mode = modes[path].mode if path in modes else "100644"
            _asked(top, index, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
        tree = _asked(top, index, "write-tree")
        message = Path(scratch, "message")
        message.write_text(proposal.message())
        who = {"GIT_AUTHOR_NAME": "maxcode", "GIT_AUTHOR_EMAIL": _EMAIL}
        who |= {"GIT_COMMITTER_NAME": "maxcode", "GIT_COMMITTER_EMAIL": _EMAIL}
        commit = _asked(top, who, "commit-tree", tree, "-p", spec.commit, "-F", str(message))
    _asked(top, {}, "update-ref", f"refs/heads/{name}", commit, _made(top, name) or "0" * 40)
    return commit


def _asked(top: Path, variables: dict[str, str], *words: str) -> str:
    told = git(top, *words, variables=variables)
    if told.returncode:
        raise InputError(f"git cannot make the branch ({shlex.join(words[:2])}): {last_line(told.stderr)}")
    return told.stdout.strip()
