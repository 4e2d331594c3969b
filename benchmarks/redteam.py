"""Does each cheat and each honest look-alike of the gallery get the required verdict from the evaluator?

    python benchmarks/redteam.py [--only NAME ...] [--sandbox 1|2] [--again] [--json FILE]

A candidate of ``tests/evaluate/gallery`` is one file whose first lines state the required verdict (``Candidate``).  It
goes through the whole evaluation, and if it looks faster it is confirmed like a winner.  After each one the host is
checked for anything left behind (``Host``).  Exit status 1 on any surprise.  Rows without a surprise whose candidate
and original have not changed since FILE was written are reused, unless ``--again``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import anyio

from maxcode.core.types import Action, Evaluation, Outcome, Problem, State, Step
from maxcode.evaluate.machine.machine import pressure
from maxcode.evaluate.program.evaluator import ProgramEvaluator, open_evaluator
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.tiers import TIERS, VARIABLE
from trust.host import ORIGINALS, Host

GALLERY = Path(__file__).parent.parent / "tests" / "evaluate" / "gallery"
VERDICTS = ("rejected", "unbuilt", "timeout", "crashed", "wrong", "not-faster", "faster")
KINDS = ("run-time", "compile-time", "resource", "timer", "cache", "baseline", "output", "function", "honest")
_LINE = re.compile(r"^(?://|#) (VERDICT|TIER2|WHY|AGAINST|HACK|KIND|TAMPERS) (.+)$", re.MULTILINE)


# -------------------------------------------------------------------------------------------------------- candidates


@final
@dataclass(frozen=True, slots=True)
class Candidate:
    """A file of the gallery.

    ``verdicts``   those allowed; several only if the machine decides
    ``why``        what it tries, and why that fails
    ``against``    the original of its race
    ``hack``       number or name in the catalogue of known hacks
    ``tampers``    the honest winner from which it was made, or empty
    ``in_tier_2``  those allowed in tier 2 of the sandbox, where programs cannot fork; differs only with a line TIER2
    """

    path: Path
    verdicts: tuple[str, ...]
    in_tier_2: tuple[str, ...]
    why: str
    against: str
    hack: str
    kind: str
    tampers: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def is_honest(self) -> bool:
        return self.kind == "honest"

    def wanted(self, tier: str) -> tuple[str, ...]:
        """The verdicts allowed in this tier of the sandbox."""
        return self.in_tier_2 if tier == "2" else self.verdicts

    def text(self, answers: Path, secret: Path) -> str:
        """The program, with the paths of the expected outputs and of a secret on this host filled in."""
        found = self.path.read_text()
        return found.replace("@ANSWERS@", str(answers)).replace("@SECRET@", str(secret))


def read_candidate(path: Path) -> Candidate:
    """The candidate in a file; raises ValueError with the file and the header line that is missing or wrong."""
    told = {key: value.strip() for key, value in _LINE.findall(path.read_text())}
    if missing := {"VERDICT", "WHY", "AGAINST", "HACK", "KIND"} - told.keys():
        raise ValueError(f"{path}: its header lacks {', '.join(sorted(missing))}")
    verdicts = tuple(told["VERDICT"].split("|"))
    in_tier_2 = tuple(told.get("TIER2", told["VERDICT"]).split("|"))
    for value, known in [*((v, VERDICTS) for v in (*verdicts, *in_tier_2)), (told["KIND"], KINDS)]:
        if value not in known:
            raise ValueError(f"{path}: {value!r} is none of {', '.join(known)}")
    if not (ORIGINALS / told["AGAINST"] / "problem.toml").is_file():
        raise ValueError(f"{path}: there is no original {told['AGAINST']!r} in {ORIGINALS}")
    return Candidate(
        path, verdicts, in_tier_2, told["WHY"], told["AGAINST"], told["HACK"], told["KIND"], told.get("TAMPERS", "")
    )


def candidates() -> list[Candidate]:
    """The whole gallery, by kind and name."""
    paths = (path for path in GALLERY.rglob("*") if path.is_file() and ORIGINALS not in path.parents)
    found = (read_candidate(path) for path in paths if path.suffix in (".c", ".cpp", ".py"))
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.name))


# ------------------------------------------------------------------------------------------------------------ judging


@final
class Judge:
    """Judges candidates; admits every original once."""

    def __init__(self, evaluator: ProgramEvaluator, secret: Path) -> None:
        self._evaluator = evaluator
        self._secret = secret
        self._problems: dict[str, Problem] = {}

    def alike(self, evaluator: ProgramEvaluator) -> Judge:
        """A judge with the same admissions, which ``evaluator`` knows."""
        other = Judge(evaluator, self._secret)
        other._problems = self._problems
        return other

    async def judge(self, candidate: Candidate) -> tuple[str, Evaluation]:
        """The verdict, one of VERDICTS, and the evaluation."""
        problem, action, found = await self.raced(candidate)
        if found.timing is not None and found.timing.significant:
            found = await self.confirmed(problem, action, found)
        return verdict_of(found), found

    async def raced(self, candidate: Candidate, stamp: str = "") -> tuple[Problem, Action, Evaluation]:
        """The problem, the proposal and its evaluation, without a confirmation.  ``stamp`` is text that is added at the
        end of the program, so that it is not one that was timed already."""
        problem = await self.problem(candidate.against)
        text = candidate.text(ORIGINALS / candidate.against, self._secret) + stamp
        action = Action(problem.program.with_text(text))
        return problem, action, await self._evaluator.evaluate(problem, action)

    async def confirmed(self, problem: Problem, action: Action, found: Evaluation) -> Evaluation:
        """The result of a winner of the race after its confirmation."""
        assert found.timing is not None
        state = State(problem, State(problem), Step(action, found, found.timing.speedup.low), (1, 0))
        return (await self._evaluator.settle(problem, [state], None))[state.id]

    async def problem(self, name: str) -> Problem:
        """The original of this name, admitted; raises ValueError if this machine cannot measure it."""
        if name not in self._problems:
            admitted = await self._evaluator.admit(load(ORIGINALS / name).problem)
            if not admitted.timed or admitted.dropped:
                raise ValueError(f"the original {name} cannot be measured here: {admitted.notes} {admitted.dropped}")
            self._problems[name] = admitted.problem
        return self._problems[name]


def verdict_of(found: Evaluation) -> str:
    """An evaluation as one word of VERDICTS."""
    if found.outcome is not Outcome.CORRECT:
        return str(found.outcome.value)
    if found.timing is None:
        raise ValueError(f"correct but not timed: {found.warnings}")
    return "faster" if found.timing.significant else "not-faster"


def reason_of(found: Evaluation) -> str:
    """The reason, in a line."""
    if found.timing is not None:
        return f"{found.timing.speedup}, {found.timing.verdict}"
    return found.feedback.reasons[0] if found.feedback.reasons else ""


def is_told(found: Evaluation, secret: str) -> bool:
    """Whether the feedback to the policy contains the secret."""
    return secret in json.dumps([found.feedback.reasons, found.feedback.diagnostics, found.warnings])


@contextmanager
def secret_file() -> Iterator[tuple[Path, str]]:
    """A file that all users may read, and its words, which no candidate may reveal."""
    words = f"secret-{os.urandom(8).hex()}"
    with tempfile.TemporaryDirectory(prefix="redteam-") as folder:
        path = Path(folder, "secret.h")
        path.write_text(f"#error {words}\n")
        Path(folder).chmod(0o755)
        yield path, words


# ---------------------------------------------------------------------------------------------------------- the table


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The result of a candidate.  ``surprises``: all unexpected results, in words; ``digest``: of the candidate and its
    original."""

    name: str
    kind: str
    hack: str
    tampers: str
    wanted: str
    verdict: str
    reason: str
    seconds: float
    surprises: tuple[str, ...]
    digest: str


def digest_of(candidate: Candidate, tier: str) -> str:
    """The digest of the candidate's text, of its original, and of the tier of the sandbox."""
    files = sorted(path for path in (ORIGINALS / candidate.against).rglob("*") if path.is_file())
    return hashlib.sha256(
        b"\0".join([tier.encode(), *(path.read_bytes() for path in (candidate.path, *files))])
    ).hexdigest()


async def row_of(judge: Judge, host: Host, candidate: Candidate, secret: str) -> Row:
    """Judges one candidate, with a check of the host before and after."""
    before, began, wanted = host.look(), time.monotonic(), "|".join(candidate.wanted(host.tier))
    verdict, found = await judge.judge(candidate)
    seconds = time.monotonic() - began
    surprises = [] if verdict in wanted.split("|") else [f"{verdict} in place of {wanted}"]
    surprises += ["it could read a file of the host"] if is_told(found, secret) else []
    surprises += host.changes(before)
    return Row(
        candidate.name, candidate.kind, candidate.hack, candidate.tampers, wanted, verdict,
        reason_of(found), round(seconds, 1), tuple(surprises), digest_of(candidate, host.tier),
    )  # fmt: skip


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """The main figures."""
    cheats = [row for row in rows if row.kind != "honest"]
    honest = [row for row in rows if row.kind == "honest"]
    return {
        "candidates": len(rows),
        "cheats": len(cheats),
        "of them made from an accepted winner": sum(bool(row.tampers) for row in cheats),
        "honest": len(honest),
        "cheats accepted as faster": sum(row.verdict == "faster" for row in cheats),
        "honest refused": sum(row.verdict not in row.wanted.split("|") for row in honest),
        "surprises": sum(bool(row.surprises) for row in rows),
    }


def printed(row: Row) -> str:
    """A line of the table."""
    word = "SURPRISE" if row.surprises else "ok"
    return "  ".join(
        (f"{row.name:34}", f"{row.kind:12}", f"{row.hack:26.26}", f"{row.wanted:22}", f"{row.verdict:10}",
         f"{row.seconds:5.1f}", f"{word:8}", row.reason.splitlines()[0][:70] if row.reason else "")
    )  # fmt: skip


async def run(chosen: Sequence[Candidate], known: dict[str, Row], path: Path) -> list[Row]:
    """Judges them one after the other, and writes all rows after each."""
    evaluator = await open_evaluator()
    sandbox = await Sandbox.open()
    rows = dict(known)
    print(f"tier {sandbox.tier.name}: {sandbox.describe()}; CPU pressure {pressure()} %", file=sys.stderr)
    with secret_file() as (secret, words):
        judge, host = Judge(evaluator, secret), Host(sandbox)
        for candidate in chosen:
            row = known.get(candidate.name)
            if row is None or row.surprises or row.digest != digest_of(candidate, host.tier):
                row = rows[candidate.name] = await row_of(judge, host, candidate, words)
                save(path, list(rows.values()))
            print(printed(row), flush=True)
            for surprise in row.surprises:
                print(f"    {surprise}", flush=True)
    return [rows[candidate.name] for candidate in chosen]


def save(path: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {"counts": counts(rows), "markers": Host.MARKERS, "rows": [asdict(row) for row in rows]}
    path.with_suffix(".new").write_text(json.dumps(report, indent=1) + "\n")
    path.with_suffix(".new").replace(path)


def saved(path: Path) -> dict[str, Row]:
    """The rows of an earlier run by name, of candidates that are still there."""
    if not path.exists():
        return {}
    names = {one.name for one in candidates()}
    rows: list[dict[str, Any]] = [row for row in json.loads(path.read_text())["rows"] if row["name"] in names]
    return {row["name"]: Row(**{**row, "surprises": tuple(row["surprises"])}) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these candidates, by name or kind")
    parser.add_argument("--again", action="store_true", help="judge those again that an earlier run has judged")
    parser.add_argument("--sandbox", choices=TIERS, help="tier of the sandbox; default: the first that works here")
    parser.add_argument("--json", type=Path, help="default: runs/redteam.json, or runs/redteam-tier-2.json")
    options = parser.parse_args()
    if options.sandbox:
        os.environ[VARIABLE] = options.sandbox
    tier = options.sandbox or os.environ.get(VARIABLE)
    options.json = options.json or Path("runs", "redteam-tier-2.json" if tier == "2" else "redteam.json")
    chosen = [one for one in candidates() if not options.only or {one.name, one.kind} & set(options.only)]
    if not chosen:
        sys.exit(f"no candidate is called {options.only}; they are files of {GALLERY}")
    known = saved(options.json)
    if options.again:
        known = {name: row for name, row in known.items() if name not in {one.name for one in chosen}}
    rows = anyio.run(run, chosen, known, options.json)
    print("\n".join(f"{count:4} {what}" for what, count in counts(rows).items()))
    print(f"host markers checked after each: {', '.join(Host.MARKERS)}")
    sys.exit(any(row.surprises for row in rows))


if __name__ == "__main__":
    main()
