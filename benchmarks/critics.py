"""Do critics find planted bottlenecks?  Only the benchmark knows the line and the class of each program in `planted/`.

    python benchmarks/critics.py                                       the built-in rules
    python benchmarks/critics.py --model NAME --models FILE            a language model too, behind any endpoint
    python benchmarks/critics.py --model NAME --replay runs/critics    its recorded answers, scored again

The evaluator builds, runs and profiles every program; then each critic is called twice: with the profile and without
it.  The line (exact, and within two) and the class are scored.  The built-in rules are a real critic; the scripted
critics only show that the scoring separates right, wrong and unreadable answers.

A language model is called only with --model, and sees what it sees in a search, the machine and the timed input
included.  All of its prompts are in flight at once, one for each program (with --hidden one more, without the profile).
OUT/calls.jsonl keeps every prompt and answer, OUT/critics.json the scores, each critique, and who answered.

A planted file begins with `INPUT n` (its input; `INPUT integers n`: n numbers after their count) and marks a line with
`BOTTLENECK class|class`; both are removed before use.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

import anyio

from maxcode.code.languages import language_of
from maxcode.core.roles import Critic
from maxcode.core.types import NO_GAIN, Action, Case, Evaluation, Problem, Program, ProgramSpec, Step, Usage
from maxcode.errors import MaxcodeError, ProviderError
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import describe as describe_machine
from maxcode.evaluate.program.evaluator import ProgramEvaluator, open_evaluator
from maxcode.llm.clients import Completion, ModelRequest
from maxcode.llm.clients.connect import recorded
from maxcode.llm.journal import Journal
from maxcode.observe.critique import LlmCritic, RuleCritic
from maxcode.observe.critique.rule_critic import TOPICS
from maxcode.problems import load
from maxcode.run.model_tables import model_tables
from maxcode.run.names import critic as critic_called

PLANTED = Path(__file__).parent / "planted"
MARKER = re.compile(r"[ \t]*(?://|#) BOTTLENECK (?P<classes>[\w|-]+)[ \t]*$", re.MULTILINE)
INPUT = re.compile(r"\A(?://|#) INPUT (?P<kind>integers )?(?P<n>\d+)\n")
NEAR = 2


@final
@dataclass(frozen=True, slots=True)
class Plant:
    """A program and its true bottleneck: the line, and the classes that count as right."""

    problem: Problem
    line: int
    classes: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The answer of one critic on one program; ``profiled``: whether the evaluator could profile the program."""

    program: str
    critic: str
    hidden: bool
    profiled: bool
    line: int | None
    bottleneck: str | None
    exact: bool
    near: bool
    right_class: bool
    unread: bool
    truth: tuple[int, tuple[str, ...]]
    words: str


@final
@dataclass(frozen=True, slots=True)
class Scripted:
    """A model that answers with the result of ``write`` for the prompt; it tests the scoring and measures nothing."""

    write: Callable[[str], str]

    async def complete(self, request: ModelRequest) -> Completion:
        prompt = next(message.text for message in request.messages if message.role == "user")
        return Completion(self.write(prompt), Usage(calls=1))


# ------------------------------------------------------------------------------------------------------ the programs


def planted(folder: Path, names: Sequence[str]) -> list[Plant]:
    """The programs, by name; their inputs are written into ``folder``."""
    sources = sorted(path for path in PLANTED.iterdir() if path.is_dir() or path.suffix in (".c", ".cpp", ".py"))
    chosen = [path for path in sources if not names or path.stem in names]
    return [_function(path) if path.is_dir() else _program(path, folder) for path in chosen]


def _program(path: Path, folder: Path) -> Plant:
    text = path.read_text()
    asked = INPUT.search(text)
    assert asked is not None, f"{path} does not begin with INPUT"
    n = int(asked["n"])
    numbers = "\n".join(str(i * 48271 % 1_000_003) for i in range(n)) + "\n" if asked["kind"] else ""
    given = folder / f"{path.stem}.in"
    given.write_text(f"{n}\n{numbers}")
    tongue = language_of(path.name)
    spec = ProgramSpec(flags=tongue.default_flags, seen=(Case("planted", str(given), None),))
    clean, line, classes = stripped(text[asked.end() :], path)
    program = Program({f"program{path.suffix}": clean})
    return Plant(Problem(path.stem, "program", tongue.name, program, spec), line, classes)


def _function(path: Path) -> Plant:
    problem = load(path).problem
    clean, line, classes = stripped(problem.program.text, path)
    return Plant(replace(problem, program=problem.program.with_text(clean)), line, classes)


def stripped(text: str, path: Path) -> tuple[str, int, tuple[str, ...]]:
    """The text without its one marker, the marked line (1-based), and the classes named there."""
    found = list(MARKER.finditer(text))
    assert len(found) == 1, f"{path} has {len(found)} markers, not one"
    line = text.count("\n", 0, found[0].start()) + 1
    return MARKER.sub("", text), line, tuple(found[0]["classes"].split("|"))


# -------------------------------------------------------------------------------------------------------- the critics


def critics(plant: Plant) -> dict[str, Critic]:
    """The critics that need no endpoint; the scripted ones know the true bottleneck."""

    def answer(line: int, bottleneck: str) -> str:
        fields = {"diagnosis": "Scripted.", "bottleneck": bottleneck, "line": line, "steps": ["Scripted."]}
        return f"<think>Line 1?</think>Here it is:\n```json\n{json.dumps(fields)}\n```\n"

    size = plant.problem.program.text.count("\n")
    far = 1 if plant.line > 1 + NEAR else size
    wrong = next(kind for kind in ("parallelism", "build") if kind not in plant.classes)
    return {
        "rules": RuleCritic(),
        "scripted: right": LlmCritic(Scripted(lambda _: answer(plant.line, plant.classes[0])), RuleCritic()),
        "scripted: wrong": LlmCritic(Scripted(lambda _: answer(far, wrong)), RuleCritic()),
        "scripted: malformed": LlmCritic(Scripted(lambda _: '{"diagnosis": "cut o'), RuleCritic()),
    }


_STATED = re.compile(r"^Bottleneck: ([\w-]+)(?: at line (\d+)(?:, `.*`)?)?\.$", re.MULTILINE)
_UNREAD = "The model's critique could not be read"
_SPENT = re.compile(r"\bat line (\d+)\b")


def named(words: str) -> tuple[int | None, str | None]:
    """The first line and class that a critique names; a rule's advice counts as its class."""
    if words.startswith(NO_GAIN):
        return None, "limit"
    if (stated := _STATED.search(words)) is not None:
        return int(stated[2]) if stated[2] else None, stated[1]
    spent = _SPENT.search(words)
    told = [(words.find(topic.advice), topic.bottleneck) for topic in TOPICS if topic.advice in words]
    return int(spent[1]) if spent is not None else None, min(told)[1] if told else None


async def ask(plant: Plant, critic: tuple[str, Critic], found: Evaluation, hidden: bool) -> Row:
    """Calls one critic on one admitted program.  What an endpoint fails to answer is an unread row with the reason."""
    shown = replace(found, profile=()) if hidden else found
    try:
        words = await critic[1].critique(plant.problem, Step(Action(plant.problem.program), shown, 1.0), None)
    except ProviderError as error:
        words = f"{_UNREAD}: {error}"
    line, kind = (None, None) if words.startswith(_UNREAD) else named(words)
    return Row(
        program=plant.problem.id,
        critic=critic[0],
        hidden=hidden,
        profiled=bool(found.profile),
        line=line,
        bottleneck=kind,
        exact=line == plant.line,
        near=line is not None and abs(line - plant.line) <= NEAR,
        right_class=kind in plant.classes,
        unread=words.startswith(_UNREAD),
        truth=(plant.line, plant.classes),
        words=words,
    )


async def measure(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    found: list[tuple[Plant, Admitted]] = []
    with tempfile.TemporaryDirectory() as folder:
        evaluator: ProgramEvaluator = await open_evaluator()
        for plant in planted(Path(folder), options.only):
            admitted = await evaluator.admit(plant.problem)
            found.append((plant, admitted))
            for critic in critics(plant).items():
                rows += [await ask(plant, critic, admitted.baseline, hidden) for hidden in (False, True)]
    return rows + await asked_model(found, options) if options.model else rows


async def asked_model(found: Sequence[tuple[Plant, Admitted]], options: argparse.Namespace) -> list[Row]:
    """The rows of a language model: all its prompts in flight at once, scored when the last is answered."""
    options.out.mkdir(parents=True, exist_ok=True)
    tables = model_tables(options.models, {}, {"concurrency": 2 * len(found)})
    rows: dict[tuple[str, bool], Row] = {}
    with Journal(None if options.replay else options.out, options.replay) as journal:
        made = critic_called(
            f"llm:{options.model}", "", lambda name: recorded(name, tables.model, journal), tables.critic
        )
        assert isinstance(made, LlmCritic)

        async def one(plant: Plant, admitted: Admitted, hidden: bool) -> None:
            critic = replace(made, machine=here, facts=admitted.facts)
            row = await ask(plant, (options.model, critic), admitted.baseline, hidden)
            rows[plant.problem.id, hidden] = row

        here = describe_machine("")  # prompts do not tell the sandbox
        async with anyio.create_task_group() as group:
            for plant, admitted in found:
                for hidden in (False, True) if options.hidden else (False,):
                    group.start_soon(one, plant, admitted, hidden)
    return [rows[key] for key in sorted(rows)]


# -------------------------------------------------------------------------------------------------------- the tables


def wilson(right: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share."""
    share = right / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def share(rows: Sequence[Row], scored: Callable[[Row], bool]) -> str:
    right = sum(map(scored, rows))
    low, high = wilson(right, len(rows))
    return f"{right:2}/{len(rows)} [{low:.2f}, {high:.2f}]"


def table(rows: Sequence[Row]) -> list[str]:
    """One line for each critic, with the profile and with it hidden."""
    told = [f"{'critic':26} {'profile':8} {'line exact':20} {'line within 2':20} {'class':20} unread"]
    for critic in dict.fromkeys(row.critic for row in rows):
        for hidden in (False, True):
            some = [row for row in rows if row.critic == critic and row.hidden is hidden]
            if not some:
                continue
            marks = [share(some, pick) for pick in (lambda r: r.exact, lambda r: r.near, lambda r: r.right_class)]
            unread = sum(row.unread for row in some)
            told.append(
                f"{critic:26} {'hidden' if hidden else 'shown':8} {' '.join(f'{m:20}' for m in marks)} {unread:2}"
            )
    return told


def misses(rows: Sequence[Row], critic: str) -> list[str]:
    """The programs for which a critic with the profile named another line or class."""
    wrong = [r for r in rows if r.critic == critic and not r.hidden and not (r.near and r.right_class)]
    return [
        f"{r.program:12} said line {r.line}, {r.bottleneck}; it is line {r.truth[0]}, {' or '.join(r.truth[1])}"
        f"{'' if r.profiled else ' (no profile: not a compiled program)'}"
        for r in wrong
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--model", default="", help="a language model to ask too, as `--policy llm:` names it")
    parser.add_argument("--models", type=Path, help="a TOML file with [model] and [critic], as for `maxcode optimize`")
    parser.add_argument("--hidden", action="store_true", help="ask the language model without the profile too")
    parser.add_argument("--replay", type=Path, metavar="OUT", help="take its answers from OUT/calls.jsonl")
    parser.add_argument("--out", type=Path, default=Path("runs/critics"))
    options = parser.parse_args()
    try:
        rows = anyio.run(measure, options)
    except MaxcodeError as error:
        parser.error(str(error))
    if not rows:
        parser.error(f"no planted program is called {' or '.join(options.only)}")
    note = f"measured: {options.model}" if options.model else "No language model was measured here."
    print(f"{len({row.program for row in rows})} planted bottlenecks; counts with Wilson 95 % intervals. {note}")
    print("The scripted critics are given the truth: they show that the scoring works, and nothing else.")
    print("\n".join(table(rows)))
    for critic in ("rules", options.model) if options.model else ("rules",):
        print(f"\nwhere {critic} missed, with the profile:")
        print("\n".join(misses(rows, critic) or ["nowhere"]))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "critics.json").write_text(json.dumps(told(rows, options), indent=1) + "\n")


def told(rows: Sequence[Row], options: argparse.Namespace) -> dict[str, Any]:
    """The content of critics.json; ``answered``: the programs that the language model gave a readable critique of."""
    own = [row for row in rows if options.model and row.critic == options.model]
    return {
        "language model": options.model or None,
        "asked": len(own),
        "answered": sum(not row.unread for row in own),
        "replayed from": str(options.replay) if options.replay else None,
        "rows": [asdict(row) for row in rows],
    }


if __name__ == "__main__":
    main()
