"""Options that several verbs share, and how a verdict is printed for people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from maxcode.run import Verdict

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "json_", is_flag=True, help="Print one JSON object on stdout.")

_OVERRIDES = (
    click.option("--tests", type=click.Path(path_type=Path), help="Folder of tests: NN.in with NN.out or NN.ans, "
                 "or input.K.txt with output.K.txt."),
    click.option("--flags", help="Build flags in one string, in place of the language's own (-std=c++17 -O3)."),
    click.option("--checker", type=click.Choice(["tokens", "exact", "float"]), help="How outputs are compared."),
    click.option("--tolerance", type=float, help="Relative and absolute tolerance of --checker float."),
    click.option("--goal", type=click.Choice(["cpu", "wall"]), help="Which time to make less: CPU seconds (default), "
                 "or wall seconds where parallelism is the point."),
    click.option("--run-limit", type=float, metavar="SECONDS", help="CPU seconds one run may take (default 10)."),
)  # fmt: skip


def problem_options(command: Command) -> Command:
    """The options that say what the problem is."""
    for option in reversed(_OVERRIDES):
        command = option(command)
    return command


def overrides(
    flags: str | None, checker: str | None, tolerance: float | None, goal: str | None, run_limit: float | None
) -> dict[str, Any]:
    """The options as keys of problem.toml; those not given are left out."""
    found: dict[str, Any] = {}
    if flags is not None:
        found["flags"] = flags.split()
    if checker is not None or tolerance is not None:
        found["checker"] = {"kind": checker or "float"}
        if tolerance is not None:
            found["checker"] |= {"abs_tol": tolerance, "rel_tol": tolerance}
    if goal is not None:
        found["goal"] = goal
    if run_limit is not None:
        found["limits"] = {"run_s": run_limit}
    return found


def show(verdict: Verdict, json_: bool) -> None:
    """Print a verdict on stdout: the JSON contract, or lines for people."""
    click.echo(verdict.as_json() if json_ else "\n".join(_lines(verdict)))


def _lines(verdict: Verdict) -> list[str]:
    tests = ", ".join(f"{count} {kind.replace('_', '-')}" for kind, count in verdict.tests.items() if count)
    lines = [f"outcome    {verdict.outcome}"]
    lines += [f"           {reason}" for reason in verdict.reasons]
    lines.append(f"speed-up   {_speedup(verdict)}")
    if (rate := verdict.gflops) is not None:
        lines.append(
            f"rate       {rate.value:.1f} GFLOPS [{rate.low:.1f}, {rate.high:.1f}], {rate.share:.0%} of the roofline "
            f"({rate.roofline:.0f})"
        )
    lines.append(f"tests      {tests}; {verdict.inputs_timed} timed")
    lines.append(f"sandbox    {verdict.sandbox}")
    if verdict.outcomes is not None:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(verdict.outcomes.items()))
        lines.append(f"candidates {verdict.candidates}: {counts}")
        lines += [f"best       {verdict.best}", f"report     {verdict.report}"]
    return lines + [f"note       {note}" for note in verdict.notes]


def _speedup(verdict: Verdict) -> str:
    found = verdict.speedup
    if found is None:
        return verdict.why or "not measured"
    if found.pairs == 0:
        return f"none: {verdict.why}"
    sure = "confirmed on fresh pairs" if verdict.confirmed and found.significant else verdict.why or "not confirmed"
    interval = f"{found.value:.2f}x [{found.low:.2f}, {found.high:.2f}]"
    return f"{interval} {found.confidence:.0%} interval, {found.pairs} pairs, {found.clock} time; {sure}"
