"""Writes docs/reference/prompts.md: the prompts of a real search at depth 3, as they were sent.

    python scripts/prompts.py [--example examples/caesar] [--out docs/reference/prompts.md]

The search is `cuda-llm+maxcode` with nine candidates over HTTP; what answers is `maxcode serve`, whose models are the
built-in rules, so the words that came back are theirs and no language model's.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import msgspec

from maxcode.code.source import fenced
from maxcode.core.types import StateId
from maxcode.llm import prompts
from maxcode.llm.clients import Message
from maxcode.llm.clients.connect import ModelSettings
from maxcode.llm.journal import CALLS
from maxcode.run.job import Request, optimize_source
from maxcode.run.record import Record
from maxcode.serve import serving

PAGE = """# Prompts

This page shows what a language model is asked. The templates are in `src/maxcode/llm/prompts/`, one Markdown
file each. Their hash goes into the `run.toml` of every run (`prompts`). `maxcode optimize ... --dry-run` prints
the first prompt of your own run.

`python scripts/prompts.py` writes this page. Templates: `{digest}`. It shows one prompt of the policy at depth
{depth} and one of the critic, in full, as they were sent in a search of `{example}` with the method
`cuda-llm+maxcode` and nine candidates. The built-in rules answered in the place of a language model. So the
words of earlier answers and critiques are those of the rules.

## The policy at depth {depth}

{policy}

## The critic

{critic}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", type=Path, default=Path("examples/caesar"))
    parser.add_argument("--out", type=Path, default=Path("docs/reference/prompts.md"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, serving() as running:
        run = Path(scratch) / "run"
        settings = ModelSettings(base_url=running.base_url)
        optimize_source(
            Request(options.example, policy="llm:maxcode-rewriter", method="cuda-llm+maxcode", budget=9, out=run,
                    models=settings, certificate=False)
        )  # fmt: skip
        depth, policy = deepest(run)
        critic = next(call for call in calls(run) if call[1].text.startswith("# Critique this step"))
    page = PAGE.format(digest=prompts.digest(), depth=depth, example=options.example,
                       policy=shown(policy), critic=shown(critic))  # fmt: skip
    options.out.write_text(page)


def calls(run: Path) -> list[tuple[Message, ...]]:
    """The messages of every answered call, in the order of the answers."""
    lines = [msgspec.json.decode(line) for line in (run / CALLS).read_bytes().splitlines()]
    asked = [line["request"]["messages"] for line in lines if line["call"] == "answered"]
    return [msgspec.convert(messages, tuple[Message, ...]) for messages in asked]


def deepest(run: Path) -> tuple[int, tuple[Message, ...]]:
    """The longest prompt of the policy at the greatest depth that the search reached, and that depth."""
    with Record(run) as record:
        depths: dict[StateId, int] = {(0, 0): 0}
        for batch, line in sorted(record.batches.items()):
            depths |= {(batch, slot): depths[parent] + 1 for slot, parent in enumerate(line.parents)}
    depth = max(depths.values())
    told = f"Step {depth - 1}"
    found = [call for call in calls(run) if call[1].text.startswith("# Problem") and told in call[1].text]
    return depth, max(found, key=lambda call: len(call[1].text))


def shown(messages: tuple[Message, ...]) -> str:
    return "\n\n".join(f"{message.role.capitalize()}:\n\n{fenced(message.text, 'text')}" for message in messages)


if __name__ == "__main__":
    main()
