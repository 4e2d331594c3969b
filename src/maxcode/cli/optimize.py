"""``maxcode optimize``: make a program faster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import (
    as_json,
    budget_options,
    chosen,
    cluster_options,
    model_options,
    problem_options,
    profiled,
    resumable,
    sandbox_options,
    self_options,
    show,
    total_option,
    value_options,
)
from maxcode.cli.fail_on import fail_on, status_of
from maxcode.cli.option_groups import GroupedCommand
from maxcode.cli.terminal import echo, echo_json
from maxcode.errors import Unanswered
from maxcode.evaluate.cluster.site import script
from maxcode.run.dry_run import first_prompt
from maxcode.run.job import optimize_source
from maxcode.run.progress import SearchProgress
from maxcode.search.methods import candidates


@click.command(cls=GroupedCommand)
@click.argument("source", type=click.Path(path_type=Path))
@problem_options
@model_options
@value_options
@click.option("--method", default="", help="Search method (`maxcode list methods`).  "
              "[default: cuda-llm+maxcode; elites+maxcode for functions]")  # fmt: skip
@click.option("--without", multiple=True, metavar="PART",
              help="Leave out a part of the prompt (`maxcode list parts`); may be repeated.")  # fmt: skip
@click.option(
    "--with-rule",
    "with_rules",
    multiple=True,
    metavar="RULE",
    help="Let the built-in rewriter use a rule that it uses only on request (`maxcode list rules`); may be repeated.",
)
@click.option(
    "--without-rule",
    "without_rules",
    multiple=True,
    metavar="RULE",
    help="Forbid the built-in rewriter a rule (`maxcode list rules`); may be repeated.",
)
@click.option("--anyway", is_flag=True, help="Go on although the built-in policy has no rule for the program, or its "
              "tests are too short to time.")  # fmt: skip
@budget_options
@total_option
@click.option("--seed", default=0, show_default=True, help="Random seed of the proposals.")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder.  The same command resumes it, also with "
              "a larger budget.  [default: runs/PROBLEM, then --method and --seed if given]")  # fmt: skip
@click.option("--replay", type=click.Path(path_type=Path), metavar="RUN",
              help="Repeat a search with the recorded answers of another run; no model is called.")  # fmt: skip
@click.option("--certificate/--no-certificate", default=True, show_default=True, help="Build, verify and time the "
              "winner again from its file, and write RUN/certificate.json.")  # fmt: skip
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the first prompt and an estimate of the cost, and call no model.  With --cluster slurm: or pbs: "
    "print the job script.",
)
@click.option("--branch", default="", metavar="NAME", help="Of a repository: commit the winner to this new branch; the "
              "work tree does not change.")  # fmt: skip
@fail_on("not-faster", "doubt", "uncompared")
@cluster_options
@sandbox_options
@self_options
@as_json
def optimize(
    source: Path, tests: Path | None, json_: bool, dry_run: bool, fail_on: Sequence[str], **options: Any
) -> int:
    """Make SOURCE faster: a program with --tests, a folder with problem.toml (a program, function or repository), a
    PyTorch module in the KernelBench contract, or the name of a suite's problem (kernelbench:LEVEL/ID, pie:SPLIT/NAME,
    polybench:NAME, algotune:TASK).

    The built-in policies know C and C++ (rewriter, kernels), Python (rewriter) and PyTorch (modules).  Programs in
    Rust, Go, Java and JavaScript need --policy llm:MODEL or ask.

    One Ctrl-C stops within seconds (a model's answer under way is waited for); the same command resumes the run.
    """
    profiles = options.pop("profile_self")
    request = chosen(source, tests, options)
    if dry_run and (found := script(request.cluster)) is not None:
        echo(found)
        return 0
    if dry_run:
        shown = first_prompt(request)
        if json_:
            echo_json(shown.as_json())
        else:
            echo(shown.as_text())
        return 0
    with profiled(profiles) as recorder, SearchProgress(candidates(request.method, request.budget)) as progress:
        try:
            with resumable():
                result = optimize_source(
                    request, progress.watch, progress.admitted, progress.say, spending=progress.spending
                )
        except Unanswered as waits:
            echo_json(json.dumps({"waiting": str(waits)})) if json_ else echo(str(waits))
            return 0
    show(result, json_, recorder)
    return status_of(result.measured, fail_on)
