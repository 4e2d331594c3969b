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
from pathlib import Path
from typing import final

import tomli_w

from maxcode.code.hunks import hunks_of
from maxcode.code.source import prose
from maxcode.core.files import write_whole
from maxcode.core.printable import printable
from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.repo.git import git, last_line, tracked
from maxcode.run.certificate import Certificate
from maxcode.run.result import RunResult

NAME = "PR.md"
_SUBJECT_AT_MOST, _WHY_AT_MOST = 68, 3000
_EMAIL = "maxcode@localhost"
_BRANCH = re.compile(r"[A-Za-z0-9][\w./+-]{0,200}")


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """A confirmed patch.  ``completion``: what the policy said of it."""

    problem: Problem
    result: RunResult
    certificate: Certificate | None
    completion: str

    @property
    def changed(self) -> list[str]:
        """The paths that the patch changes or adds."""
        base = self.problem.program.files
        return [path for path, text in self.result.best_program.files.items() if base.get(path) != text]

    @property
    def subject(self) -> str:
        """One line: what the policy said first, else which files are faster."""
        said = next((line.strip(" #*`") for line in prose(self.completion).splitlines() if line.strip(" #*`")), "")
        usual = f"Make {', '.join(Path(path).name for path in self.changed[:2])} faster"
        return printable(said)[:_SUBJECT_AT_MOST] if 8 <= len(said) <= _SUBJECT_AT_MOST else usual

    def text(self) -> str:
        """The text of the pull request."""
        return "\n".join([f"# {self.subject}", "", *self._what(), *self._measured(), *self._checked(), *self._repeat()])

    def _what(self) -> Iterator[str]:
        count = len(hunks_of(self.problem.program.files, self.result.best_program.files))
        yield f"{count} change{'s' if count != 1 else ''} in {', '.join(f'`{path}`' for path in self.changed)}."
        said = printable(prose(self.completion)).strip()[:_WHY_AT_MOST]
        since = " The words below were written before that." if said else ""
        yield from (f"{note}.{since}" for note in self.result.notes if "left out" in note)
        yield ""
        if said:
            yield from ("Why it is faster, in the words of the one who proposed it:", "")
            yield from (f"> {line}" for line in said.splitlines() if line.strip("`* :") not in self.changed)
            yield ""

    def _measured(self) -> Iterator[str]:
        found, spec = self.result.speedup, self.problem.spec.repo_spec
        if found is None:
            return
        yield from ("## Speed-up", "")
        yield f"**{found}** ({found.confidence:.0%} interval) in {found.clock} time of the whole process, by"
        yield from ("", "```sh", spec.benchmark, "```", "")
        if found.seconds is not None:
            before, after = found.seconds
            yield f"{before:.3g} s before, {after:.3g} s after (medians of {found.pairs} pairs of runs in random order,"
            yield "each in a sandbox of its own)."
        if self.certificate is not None and self.certificate.control is not None:
            control = self.certificate.control.interval
            yield f"Base against itself in the same way: {control.value:.3f}x [{control.low:.3f}, {control.high:.3f}]."
        machine = self.result.measured.machine
        yield from (f"Machine: {machine.cpu}, {machine.cores} cores, {machine.kernel}.", "")

    def _checked(self) -> Iterator[str]:
        yield from ("## Who judged that it is right", "")
        if self.result.measured.trust is not None:
            yield f"Level of trust: **{self.result.measured.trust.level}**. {self.result.measured.trust.why}."
        yield from (f"- NOT TRUSTED: {doubt}" for doubt in self.result.doubts)
        yield ""

    def _repeat(self) -> Iterator[str]:
        spec = self.problem.spec.repo_spec
        yield from ("## How to repeat it", "", f"Base is `{spec.commit}`. Beside this file, in the run folder:", "")
        command = "maxcode verify certificate.json --problem CLONE/problem.toml" + " --run-setup" * bool(spec.setup)
        yield from ("```sh", command if self.certificate is not None else "git apply best.diff", "```", "")
        yield from ("with this `problem.toml` in the clone:", "", "```toml", toml_of(self.problem).rstrip(), "```", "")


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
        message.write_text(f"{proposal.subject}\n\n{proposal.text().split(chr(10), 2)[2]}")
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
