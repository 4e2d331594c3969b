"""Does every rule of the built-in rewriter keep every program whole?

    python benchmarks/rules_hold.py [--only NAME ...] [--rules RULE ...] [--generated 100] [--sites 2] [FOLDER ...]

Each rule is applied at up to ``--sites`` places of each program.  The result must build with the program's own flags,
and print the same for the same input, with the same exit status.  Edits that do not touch one another are tried
together first, because compiling takes the time; if that breaks the program, each of them is tried singly
(``--singly``: all are, from the start).  The programs: all examples, those in hold/
(OpenMP, several files, macros, templates, jumps, old C, streams, containers), and ``--generated`` random ones (a third
of them of three files, with templates and macros): 205 in all.  FOLDER: a folder of C or C++ files, each a program, and
tests/*.in; or one with such folders in it, for programs that are not part of this project.

``--nests N`` tries the steps of the kernel policy instead: at least N loop nests after random chains of steps, each
compared with its random original on random arrays of several sizes (hold/nests.py).  A quarter of them are loops that
are easily misread (hold/odd_nests.py).

The table counts by rule; the JSON file has every finding.  Exit status 1 on a finding.  Ctrl-C ends it with the table
of what was tried so far.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import anyio

from hold import nests
from hold.generated import generated
from hold.packed import Case, examples, of_folder, packed
from maxcode.code.cpp.edit import Change, Edit, Rule
from maxcode.code.cpp.unit import Unit
from maxcode.code.languages import language
from maxcode.policy.rules.rewriter import RULES
from maxcode.policy.rules.rewriter.rules import chosen_rules, edits
from maxcode.policy.rules.rewriter.runtime import applied
from maxcode.sandbox.sandbox import Job, Mounts, Sandbox
from trust.rows import table

SHOWN = 2000  # bytes of a diagnostic
SAME = 1e-6  # relative, for rules that may change last digits
SCRIPT = """
export OMP_NUM_THREADS=2 LC_ALL=C
for v in base $(ls /src | grep '^v' | sort -V); do
    cd /src/$v
    if ! {build} > /tmp/said 2>&1; then
        echo "$v unbuilt $(head -c 2000 /tmp/said | base64 -w0)"
        [ $v = base ] && exit
        continue
    fi
    for i in $(ls /src/in); do
        {run}
        echo "status $?" >> /tmp/ran
        if [ $v = base ]; then cp /tmp/ran /tmp/base.$i; fi
        if [ $v = base ] || ! cmp -s /tmp/ran /tmp/base.$i; then
            echo "$v $i $(head -c 60000 /tmp/ran | base64 -w0)"
        fi
    done
    echo "$v done"
done
"""
RUN = "timeout {limit} /tmp/out < /src/in/$i > /tmp/ran 2> /dev/null"


@final
@dataclass(frozen=True, slots=True)
class Variant:
    """A program after some edits, by their rules."""

    case: Case
    made: tuple[tuple[Rule, Edit], ...]
    text: str

    @property
    def exact(self) -> bool:
        return all(rule.exact for rule, _ in self.made)


@final
@dataclass(slots=True)
class Tally:
    """The counts of a rule."""

    programs: set[str] = field(default_factory=set)
    edits: int = 0
    unbuilt: int = 0
    changed: int = 0


@final
@dataclass(slots=True)
class Findings:
    """Everything seen: counts by rule, the broken variants, and the programs that were not used, each with a reason.
    ``waiting``: those whose turn has not ended."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {rule.name: Tally() for rule in RULES})
    broken: list[dict[str, str]] = field(default_factory=list)
    unused: dict[str, str] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)

    def note(self, one: Variant, problem: str, words: str = "") -> None:
        """Counts a variant; ``problem``: empty, ``unbuilt`` or ``changed``."""
        for rule, edit in one.made:
            tally = self.tallies[rule.name]
            tally.programs.add(one.case.name)
            tally.edits += 1
            tally.unbuilt += problem == "unbuilt"
            tally.changed += problem == "changed"
            if problem:
                told = {"program": one.case.name, "edit": edit.label, "problem": problem, "words": words}
                self.broken.append({**told, "text": one.text})


def drawn(case: Case, unit: Unit, rules: Sequence[str], sites: int) -> list[tuple[Rule, Edit]]:
    """Edits of each rule at up to ``sites`` places, drawn by the name of the program."""
    found: list[tuple[Rule, Edit]] = []
    for rule, offered in edits(unit, True, [rule.name for rule in RULES]):
        kinds: dict[str, list[Edit]] = {}
        for edit in offered:
            kinds.setdefault(edit.kind, []).append(edit)
        generator = random.Random(f"{case.name} {rule.name}")
        if not rules or rule.name in rules:
            chosen = generator.sample(sorted(kinds), min(sites, len(kinds)))
            found += [(rule, generator.choice(kinds[kind])) for kind in chosen]
    return found


def singles(case: Case, made: Iterable[tuple[Rule, Edit]]) -> list[Variant]:
    """The program after each edit alone."""
    unit = Unit(case.language, case.text, case.others, case.flags)
    return [Variant(case, ((rule, edit),), applied(unit, edit)) for rule, edit in made]


def groups(case: Case, unit: Unit, made: Iterable[tuple[Rule, Edit]]) -> list[Variant]:
    """The program after as many edits at once as do not touch one another; exact ones apart from others."""
    rows: list[list[tuple[Rule, Edit]]] = []
    for rule, edit in made:
        fits = (row for row in rows if row[0][0].exact == rule.exact and all(apart(edit, e) for _, e in row))
        row = next(fits, None)
        if row is None:
            rows.append([(rule, edit)])
        else:
            row.append((rule, edit))
    return [Variant(case, tuple(row), applied(unit, union([edit for _, edit in row]))) for row in rows]


def apart(one: Edit, other: Edit) -> bool:
    """Whether two edits change different places; edits of a whole program by one rule, or of one snippet, are not."""
    if one.rule == other.rule and not one.site:
        return False
    if {name for name, _ in one.change.snippets} & {name for name, _ in other.change.snippets}:
        return False
    pairs = ((a, b) for a in one.change.patches for b in other.change.patches)
    return all(a.end < b.start or b.end < a.start for a, b in pairs)


def union(made: Sequence[Edit]) -> Edit:
    """One edit that makes all of them."""
    changes = [edit.change for edit in made]
    patches = tuple(patch for change in changes for patch in change.patches)
    snippets = tuple(snippet for change in changes for snippet in change.snippets)
    includes = tuple(dict.fromkeys(name for change in changes for name in change.includes))
    return replace(made[0], change=Change(patches, snippets, includes))


async def examined(sandbox: Sandbox, case: Case, options: argparse.Namespace, findings: Findings) -> int:
    """Tries all edits of a program; returns their number."""
    unit = Unit(case.language, case.text, case.others, case.flags)
    made = drawn(case, unit, options.rules, options.sites)
    if not made:
        return 0
    if options.singly:
        await tried(sandbox, case, singles(case, made), findings)
        return len(made)
    first = Findings()
    await tried(sandbox, case, groups(case, unit, made), first)
    findings.unused |= first.unused
    failed = {one["edit"] for one in first.broken}
    for name, tally in first.tallies.items():
        whole = findings.tallies[name]
        broken = sum(rule.name == name and edit.label in failed for rule, edit in made)
        whole.edits += tally.edits - broken
        whole.programs |= tally.programs
    again = [(rule, edit) for rule, edit in made if edit.label in failed]
    if again:
        await tried(sandbox, case, singles(case, again), findings)
    return len(made)


async def tried(sandbox: Sandbox, case: Case, made: Sequence[Variant], findings: Findings) -> None:
    """Builds and runs a program and its variants in one session, and notes what differs."""
    sources = {f"base/{path}": text for path, text in case.files.items()}
    for number, one in enumerate(made):
        sources |= {f"v{number}/{path}": text for path, text in {**case.files, case.name_of_main: one.text}.items()}
    sources |= {f"in/{number}": text for number, text in enumerate(case.inputs)}
    row = language(case.language)
    names = [path for path in case.files if path.endswith(row.suffixes)]
    words = {"{flags}": case.flags, "{sources}": names, "{out}": ["/tmp/out"], "{libraries}": []}
    argv = [word for part in row.build for word in words.get(part, [part])]
    if not case.runs:
        argv.append("-c")
    script = SCRIPT.format(build=" ".join(argv), run=RUN.format(limit=case.seconds) if case.runs else ": > /tmp/ran")
    async with sandbox.session([], Mounts({**sources, "script.sh": script})) as session:
        job = Job(("/bin/sh", "/src/script.sh"), cpu_s=1500, wall_s=2900, memory_mb=2048, output_mb=64)
        ran = await session.run(job)
    note_all(case, made, ran.stdout.decode(), findings)


def note_all(case: Case, made: Sequence[Variant], told: str, findings: Findings) -> None:
    """Reads what the script printed."""
    lines = [line.split(" ") for line in told.splitlines()]
    base = {line[1]: plain(line[2]) for line in lines if line[0] == "base" and len(line) == 3}
    if "unbuilt" in base or not any(line[:2] == ["base", "done"] for line in lines):
        findings.unused[case.name] = base.get("unbuilt", "it did not end")[:SHOWN]
        return
    for number, one in enumerate(made):
        mine = {line[1]: plain(line[2]) for line in lines if line[0] == f"v{number}" and len(line) == 3}
        if "unbuilt" in mine:
            findings.note(one, "unbuilt", mine["unbuilt"][:SHOWN])
            continue
        ended = [f"v{number}", "done"] in lines
        differ = [i for i, text in mine.items() if one.exact or not alike(base[i], text)]
        words = f"input {differ[0]}: {first_difference(base[differ[0]], mine[differ[0]])}" if differ else ""
        findings.note(one, "changed" if differ or not ended else "", words)


def plain(word: str) -> str:
    try:
        return base64.b64decode(word).decode(errors="replace")
    except binascii.Error:
        return word


def alike(wanted: str, found: str) -> bool:
    """Whether the words agree, numbers within a tolerance."""
    pairs = list(zip(wanted.split(), found.split(), strict=False))
    return len(wanted.split()) == len(found.split()) and all(a == b or close(a, b) for a, b in pairs)


def close(a: str, b: str) -> bool:
    try:
        one, other = (float.fromhex(x) if "0x" in x else float(x) for x in (a, b))
    except ValueError:
        return False
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)


def first_difference(wanted: str, found: str) -> str:
    pairs = zip([*wanted.splitlines(), "(end)"], [*found.splitlines(), "(end)"], strict=False)
    return next((f"expected {a[:80]!r}, got {b[:80]!r}" for a, b in pairs if a != b), "it ended early")


async def hold(cases: Sequence[Case], options: argparse.Namespace, findings: Findings) -> None:
    """All programs, ``--at-once`` at a time; what is found goes to ``findings`` at once."""
    sandbox = await Sandbox.open()
    until = time.monotonic() + 60 * options.minutes
    limiter, left = anyio.CapacityLimiter(options.at_once), [len(cases)]

    async def one(case: Case) -> None:
        async with limiter:
            if time.monotonic() > until:
                findings.unused[case.name] = "no time left"
                return
            before = len(findings.broken)
            made = await examined(sandbox, case, options, findings)
            findings.waiting.discard(case.name)
            left[0] -= 1
            found = f", {len(findings.broken) - before} FINDINGS" if len(findings.broken) > before else ""
            print(f"{case.name}: {made} edits{found}; {left[0]} programs left", file=sys.stderr, flush=True)

    findings.waiting |= {case.name for case in cases}
    async with anyio.create_task_group() as group:
        for case in cases:
            group.start_soon(one, case)


def chosen(options: argparse.Namespace) -> list[Case]:
    """The programs that the options select."""
    found = [*examples(), *packed(), *generated(options.generated, options.seed)]
    found += [case for folder in options.folders for case in of_folder(folder)]
    return [case for case in found if not options.only or any(word in case.name for word in options.only)]


def report(findings: Findings, cases: Sequence[Case]) -> Mapping[str, object]:
    """Prints the table, and returns all of it."""
    rows = [
        {"rule": name, "programs": len(t.programs), "edits": t.edits, "do not build": t.unbuilt, "change": t.changed}
        for name, t in findings.tallies.items()
    ]
    total = {key: sum(int(str(row[key])) for row in rows) for key in ("edits", "do not build", "change")}
    print(table([*rows, {"rule": "all", "programs": len(cases) - len(findings.unused), **total}]))
    for name, why in findings.unused.items():
        print(f"NOT USED {name}: {why.splitlines()[0] if why else ''}")
    for one in findings.broken:
        print(f"FINDING {one['program']}: {one['edit']}: {one['problem']}: {one['words'][:300]}")
    return {"rules": rows, "broken": findings.broken, "unused": findings.unused, "programs": [c.name for c in cases]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="programs with this word in their name")
    parser.add_argument("--rules", nargs="+", default=[], metavar="RULE")
    parser.add_argument("--generated", type=int, default=100, help="number of random programs")
    parser.add_argument("--nests", type=int, default=0, metavar="N", help="try steps of kernels on N random nests")
    parser.add_argument("--sites", type=int, default=2, help="edits of each rule in a program, at most")
    parser.add_argument("--singly", action="store_true", help="try every edit alone from the start")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no program after this time")
    parser.add_argument("--at-once", type=int, default=2, help="programs at the same time")
    parser.add_argument("--json", type=Path, default=Path("runs/rules_hold.json"))
    options = parser.parse_args()
    chosen_rules(options.rules)
    os.nice(5)
    if options.nests:
        rows, broken = anyio.run(nests.held, options.nests, options.seed, options.at_once, options.minutes)
        print(table(rows), *(f"FINDING {one}" for one in broken), sep="\n")
        sys.exit(bool(broken))
    cases = chosen(options)
    findings = Findings()
    try:
        anyio.run(hold, cases, options, findings)
    except KeyboardInterrupt:
        findings.unused |= dict.fromkeys(sorted(findings.waiting), "interrupted before it was tried")
    found = report(findings, cases)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(bool(findings.broken))


if __name__ == "__main__":
    main()
