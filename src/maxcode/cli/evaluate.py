"""``maxcode evaluate``: measure one candidate against the original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import (
    as_json,
    cluster_options,
    overrides,
    problem_options,
    profiled,
    resumable,
    sandbox_options,
    self_options,
    show,
    total_option,
)
from maxcode.cli.fail_on import fail_on, status_of
from maxcode.cli.option_groups import GroupedCommand
from maxcode.cli.terminal import echo
from maxcode.core.types import Outcome
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.display import Display
from maxcode.run.evaluation import evaluate_source
from maxcode.run.request import Request
from maxcode.run.score import metric_line
from maxcode.run.waits import waits_on

UNVERIFIED_STATUS = 4  # the candidate was compiled but did not run, and the user asked for a run


@click.command(cls=GroupedCommand)
@click.argument("candidate", type=click.Path(path_type=Path), required=False)
@click.option("--against", "source", type=click.Path(path_type=Path), required=True,
              help="The original: a source file with --tests, a folder with problem.toml, or "
              "the name of a suite's problem.")  # fmt: skip
@click.option("--reference", is_flag=True, help="Measure the suite's own faster version (PIE's human target) "
              "instead of a CANDIDATE.")  # fmt: skip
@problem_options
@total_option
@click.option("--out", type=click.Path(path_type=Path), help="Run folder: write record, difference, certificate and "
              "report there, as `maxcode optimize` does for its winner.")  # fmt: skip
@click.option("--certificate/--no-certificate", default=True, show_default=True, help="With --out: measure a faster "
              "candidate again from its file.  The same command makes a certificate that was left out.")  # fmt: skip
@click.option("--metric-line", is_flag=True, help="Print a last line `METRIC score=... speedup=...`, for loops that "
              "read one (docs/how-to/other-loops.md).")  # fmt: skip
@fail_on("wrong", "slower", "not-faster", "doubt", "uncompared")
@cluster_options
@sandbox_options
@self_options
@as_json
def evaluate(
    candidate: Path | None, source: Path, tests: Path | None, json_: bool, fail_on: Sequence[str], **options: Any
) -> int:
    """Verify and time CANDIDATE, a whole program, against the original: a file, or a folder with all of its files.

    Without a GPU a CUDA candidate is only compiled: its outcome is "unverified", and the exit status is 4; --out, the
    folder of a measured run, is refused then.
    """
    shapes, reference, cluster = options.pop("shapes"), options.pop("reference"), options.pop("cluster")
    out, profiles, is_metric = options.pop("out"), options.pop("profile_self"), options.pop("metric_line")
    if is_metric and json_:
        raise click.UsageError("--metric-line and --json exclude each other: the JSON has the same figures")
    if candidate is None and not reference:
        raise click.UsageError("no CANDIDATE: give the program to measure, a file or a folder")
    if candidate is not None and reference:
        raise click.UsageError("--reference measures the suite's own version; leave out it or the CANDIDATE")
    request = Request(
        source,
        tests,
        overrides=overrides(options),
        shapes=shapes,
        cluster=cluster,
        out=out,
        total_seconds=options.pop("total_seconds"),
        certificate=options.pop("certificate"),
    )
    if out is not None:
        return _into(candidate, request, json_, fail_on, profiles, is_metric)
    with profiled(profiles) as recorder, Display() as display, waits_on(display):
        result = evaluate_source(candidate, request, "slower" in fail_on, display.say)
    show(result, json_, recorder)
    _metric(result, is_metric)
    return UNVERIFIED_STATUS if result.outcome is Outcome.UNVERIFIED else status_of(result, fail_on)


def _into(
    candidate: Path | None, request: Request, json_: bool, fail_on: Sequence[str], profiles: bool, is_metric: bool
) -> int:
    """Evaluates a candidate into a run folder, and prints the result; returns the exit status."""
    if candidate is None:
        raise click.UsageError("--out needs a CANDIDATE: a run folder does not keep the version of a suite")
    from maxcode.run.evaluation_run import evaluate_into  # what makes a search is not imported for a single verdict
    from maxcode.run.progress import SearchProgress

    with profiled(profiles) as recorder, SearchProgress(1) as progress, resumable():
        result = evaluate_into(candidate, request, progress.watch, progress.say)
    show(result, json_, recorder)
    _metric(result.measured, is_metric)
    return status_of(result.measured, fail_on)


def _metric(result: CandidateResult, is_asked: bool) -> None:
    if is_asked:
        echo(metric_line(result))
