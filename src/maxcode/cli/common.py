"""Options that several verbs share, and how a verdict is printed for people."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from maxcode.core.budget import Budget, Caps, budget_of
from maxcode.core.types import Clock
from maxcode.errors import InputError
from maxcode.evaluate.cluster import SlotUse
from maxcode.llm.clients.connect import Provider
from maxcode.llm.completion import Answer
from maxcode.run.names import model_settings
from maxcode.run.request import Request
from maxcode.run.result_json import Paid, RunResult, Speedup
from maxcode.sandbox.tiers import TIERS, UNSAFE, VARIABLE

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "json_", is_flag=True, help="Print JSON on stdout, in place of lines.")


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """One decorator of several options, shown in this order."""

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


shapes_option = click.option(
    "--shapes", default="", metavar="small|TABLE.toml", help="The shapes of a PyTorch problem: `small` ones that are "
    "found here (inputs and parameters within 4 MB) and kept, or those of a table (`maxcode problems shrink`).  "
    "[default: the problem's own]")  # fmt: skip

problem_options = _together(  # what the problem is
    click.option("--tests", type=click.Path(path_type=Path), help="Folder of tests: NN.in with NN.out or NN.ans, "
                 "or input.K.txt with output.K.txt."),
    click.option("--flags", help="Build flags in one string, in place of the language's own (-std=c++17 -O3, "
                 "-std=gnu17 -O3 for C)."),
    click.option("--checker", type=click.Choice(["tokens", "exact", "float", "pie"]), help="How outputs are "
                 "compared; pie is PIE's own way, with its holes."),
    click.option("--tolerance", type=float, help="Relative and absolute tolerance of --checker float, "
                 "which it implies; for programs."),
    click.option("--goal", type=click.Choice(get_args(Clock)), help="What to make less: CPU seconds (default), wall "
                 "seconds where parallelism is the point, or instructions executed, which no other load changes "
                 "(valgrind counts them; CPU seconds are measured beside)."),
    click.option("--tie-break", type=click.Choice(["instructions"]), help="Count instructions, once, where a race ends "
                 "in a tie; needs valgrind."),
    click.option("--shared-cores", is_flag=True, help="With --goal wall: let wall time count although others used the "
                 "cores meanwhile; with --cluster: measure on nodes whose cores others use; the result says so."),
    click.option("--device", type=click.Choice(["cpu", "cuda"]), help="Where a PyTorch module runs (default cpu)."),
    click.option("--constant", "constants", multiple=True, metavar="NAME=NUMBER", help="A module-level number of a "
                 "PyTorch problem to replace, for smaller shapes; may be repeated."),
    shapes_option,
    click.option("--run-limit", type=float, metavar="SECONDS", help="CPU seconds one run may take (default 10)."),
)  # fmt: skip


model_options = _together(  # who is asked, how, and what it may cost
    click.option("--policy", default="", help="Who proposes: a name (`maxcode list policies`), llm:MODEL, or "
                 "file.py:name.  [default: rewriter; kernels for functions, modules "
                 "for PyTorch modules]"),
    click.option("--critic", default="", help="Who explains: rules, llm (the policy's model), or llm:MODEL.  "
                 "[default: llm with a policy llm:MODEL, else rules]"),
    click.option("--answer", type=click.Choice(get_args(Answer)), default="whole", show_default=True,
                 help="What a model is asked for: whole programs, or SEARCH/REPLACE edits (cheap for long ones)."),
    click.option("--provider", type=click.Choice(get_args(Provider)), help="Whose client to use; auto (the default) "
                 "takes Anthropic's for names that begin with claude, unless --base-url or OPENAI_BASE_URL is set."),
    click.option("--base-url", help="The endpoint of llm:MODEL, e.g. http://127.0.0.1:8000/v1.  "
                 "[default: OPENAI_BASE_URL, or the provider's own]"),
    click.option("--models", "config", type=click.Path(path_type=Path, dir_okay=False), help="A TOML file with a table "
                 "[model]: base_url, key_env, concurrency, timeout_s, attempts, ... (docs/how-to/language-models.md)."),
    click.option("--prices", type=click.Path(path_type=Path, dir_okay=False), help="A table of prices of your own."),
    click.option("--max-calls", "calls", type=click.IntRange(0), help="Model calls of the run, the critic's too."),
    click.option("--max-tokens", "tokens", type=click.IntRange(0), help="Tokens of the whole run, in and out."),
    click.option("--max-dollars", "dollars", type=click.FloatRange(0), help="Money of the whole run."),
    click.option("--max-seconds", "seconds", type=click.FloatRange(0), help="Wall seconds of the whole run at work."),
)  # fmt: skip


value_options = _together(  # which value model is asked, and how
    click.option("--value", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="A value model "
                 "(`maxcode train to-go`), or busiest-loop, which needs no training: methods +value and +rerank ask "
                 "it, others only record what it expects."),
    click.option("--draw", default=4, show_default=True, help="Methods +rerank: candidates drawn for one that is run."),
    click.option("--unranked", default=0.1, show_default=True, help="Methods +rerank: the share of the candidates that "
                 "is not chosen by the value model, so that what it expects can be checked."),
)  # fmt: skip


def _demand_tier(context: click.Context, _: click.Parameter, tier: str | None) -> None:
    """Puts the tier where the evaluator and its workers look for it, for as long as the verb runs."""
    if not tier:
        return
    if context.meta.setdefault(VARIABLE, tier) != tier:
        raise click.UsageError("--sandbox and --unsafe-no-sandbox exclude each other; give one of them")
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = tier
    context.call_on_close(lambda: os.environ.pop(VARIABLE) if before is None else os.environ.update({VARIABLE: before}))


sandbox_options = _together(  # what stands between programs and this machine
    click.option("--sandbox", type=click.Choice(TIERS), callback=_demand_tier, expose_value=False, help="Tier of the "
                 "sandbox: 1 bubblewrap, 2 Landlock.  [default: MAXCODE_SANDBOX, else the first that works here]"),
    click.option("--unsafe-no-sandbox", flag_value=UNSAFE, callback=_demand_tier, expose_value=False, help="Run "
                 "programs WITHOUT A SANDBOX, as you: they can read and change what you can.  Every result says so."),
)  # fmt: skip


cluster_options = _together(  # where candidates are measured
    click.option("--cluster", default="", metavar="WHERE", help="Measure on benchmark nodes: local:SLOTS, "
                 "tcp://HOST:PORT, slurm:SITE.toml, pbs:SITE.toml, ray:auto or ray:HOST:PORT "
                 "(docs/how-to/use-a-cluster.md).  [default: here]"),
)  # fmt: skip


def _budget(context: click.Context, _: click.Parameter, words: str) -> Budget:
    return budget_of(words)


budget_options = _together(  # how far a run may go
    click.option("--budget", default="24", show_default=True, callback=_budget, metavar="AMOUNT", help="How far each "
                 "run may go: 24 (candidates), 200k-tokens, 0.5-dollars, 300-calls, 15-minutes."),
    click.option("--width-for", type=click.IntRange(1), default=24, show_default=True, metavar="CANDIDATES",
                 help="With a --budget of something else: the search is as wide as for so many candidates."),
)  # fmt: skip


def _capped(caps: Caps, budget: Budget) -> Caps:
    """The caps with the budget among them; InputError where it is capped twice."""
    bounds = {name: bound for name, bound in asdict(budget.caps).items() if bound is not None}
    for name in bounds:
        if getattr(caps, name) is not None:
            raise InputError(f"--budget is of {name}, and --max-{name} is given too; leave one of them out")
    return replace(caps, **bounds)


def chosen(source: Path, tests: Path | None, options: dict[str, Any]) -> Request:
    """The request that the options of ``problem_options``, ``model_options`` and a verb's own make up."""
    rest = dict(options)
    problem = {key: rest.pop(key) for key in _PROBLEM if key in rest}
    given = {key: rest.pop(key) for key in ("provider", "base_url", "prices")}
    models = model_settings(rest.pop("config"), given)
    budget: Budget = rest.pop("budget")
    caps = _capped(Caps(**{key: rest.pop(key) for key in ("calls", "tokens", "dollars", "seconds")}), budget)
    rest |= {"budget": budget.candidates, "caps": caps}
    return Request(source, tests, models=models, overrides=overrides(problem), **rest)


_PROBLEM = ("flags", "checker", "tolerance", "goal", "tie_break", "shared_cores", "device", "constants", "run_limit")


def overrides(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``problem_options`` as keys of problem.toml; those not given are left out."""
    found = {key: given[key] for key in ("goal", "tie_break", "shared_cores") if given.get(key)}
    module = {"device": given.get("device"), "constants": _numbers(given.get("constants", ()))}
    if any(module.values()):
        found["module"] = {key: value for key, value in module.items() if value}
    checker, tolerance = given.get("checker"), given.get("tolerance")
    if given.get("flags") is not None:
        found["flags"] = given["flags"].split()
    if tolerance is not None and checker not in (None, "float"):
        raise InputError(f"--tolerance goes with --checker float, not with {checker}; leave one of them out")
    if checker is not None or tolerance is not None:
        found["checker"] = {"kind": checker or "float"}
        if tolerance is not None:
            found["checker"] |= {"abs_tol": tolerance, "rel_tol": tolerance}
    if given.get("run_limit") is not None:
        found["limits"] = {"run_s": given["run_limit"]}
    return found


def _numbers(words: tuple[str, ...]) -> dict[str, int]:
    """NAME=NUMBER words as a table; InputError for another one."""
    found = {}
    for word in words:
        name, _, number = word.partition("=")
        try:
            found[name.strip()] = int(number)
        except ValueError as error:
            raise InputError(f"--constant {word} is not NAME=NUMBER, e.g. --constant batch_size=16") from error
    return found


def show(verdict: RunResult, json_: bool) -> None:
    """Print a verdict on stdout: the JSON contract, or lines for people."""
    click.echo(verdict.as_json() if json_ else "\n".join(_lines(verdict)))


def _lines(verdict: RunResult) -> list[str]:
    tests = ", ".join(f"{count} {kind.replace('_', '-')}" for kind, count in verdict.tests.items() if count)
    lines = [f"outcome    {verdict.outcome}"]
    lines += [f"           {reason}" for reason in verdict.reasons]
    unit = "counted" if verdict.speedup is not None and verdict.speedup.clock == "instructions" else "speed-up"
    lines.append(f"{unit:<10} {_speedup(verdict)}")
    if (rate := verdict.gflops) is not None:
        lines.append(
            f"rate       {rate.value:.1f} GFLOPS [{rate.low:.1f}, {rate.high:.1f}], {rate.share:.0%} of the roofline "
            f"({rate.roofline:.0f})"
        )
    if (moved := verdict.gbytes) is not None:
        lines.append(
            f"memory     {moved.value:.1f} GB/s [{moved.low:.1f}, {moved.high:.1f}], {moved.share:.0%} of the roofline "
            f"({moved.roofline:.0f})"
        )
    if (one := verdict.single) is not None:
        lines.append(f"one core   {one['value']:.2f}x [{one['low']:.2f}, {one['high']:.2f}] by CPU time")
    if (one := verdict.over_compiled) is not None:
        lines.append(f"compiled   {one['value']:.2f}x [{one['low']:.2f}, {one['high']:.2f}] over torch.compile")
    lines += [f"remark     line {one['line']}: {one['text']}" for one in verdict.remarks or ()]
    lines.append(f"tests      {tests}; {verdict.inputs_timed} timed")
    if verdict.pie_correct is not None:
        lines.append(f"by PIE     {'correct' if verdict.pie_correct else 'not correct'} (its own checker, beside ours)")
    if verdict.node is not None:
        lines.append(f"node       {verdict.node}")
    if (second := verdict.harsher) is not None:
        lines.append(f"harsher    {second['result']} (asked for by {'; '.join(second['triggers'])})")
    if (unseen := verdict.unseen) is not None:
        lines.append(f"unseen     {unseen['told']}")
    lines.append(f"sandbox    {verdict.sandbox}")
    if verdict.outcomes is not None:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(verdict.outcomes.items()))
        lines.append(f"candidates {verdict.candidates}: {counts}")
        lines += [f"best       {verdict.best}", f"report     {verdict.report}"]
    lines += [f"{'slots' if at == 0 else '':<10} {line}" for at, line in enumerate(_slots(verdict))]
    if verdict.certificate is not None:
        lines.append(f"certified  {verdict.certificate}")
    if verdict.spent is not None and verdict.spent.calls:
        lines.append(f"spent      {_spent(verdict.spent)}")
    return lines + [f"note       {note}" for note in verdict.notes]


def _slots(verdict: RunResult) -> list[str]:
    """What the slots of a cluster did."""
    table = verdict.cluster or {"slots": [], "events": []}
    slots = [SlotUse(one["name"], one["orders"], one["seconds"]) for one in table["slots"]]
    return [*map(str, slots), *table["events"]]


def _spent(paid: Paid) -> str:
    money = "price unknown" if paid.dollars is None else f"${paid.dollars:.4g}"
    tokens = f"{paid.prompt_tokens} + {paid.completion_tokens} tokens"
    return f"{paid.calls} model calls, {tokens}, {money}; {paid.seconds:.0f} s"


def _speedup(verdict: RunResult) -> str:
    found = verdict.speedup
    if found is None:
        return verdict.why or "not measured"
    if found.pairs == 0:
        return f"none: {verdict.why}"
    if found.clock == "instructions":
        return _counted(found, verdict)
    sure = "confirmed on fresh pairs" if verdict.confirmed and found.significant else verdict.why or "not confirmed"
    interval = f"{found.value:.2f}x [{found.low:.2f}, {found.high:.2f}]"
    return f"{interval} {found.confidence:.0%} interval, {found.pairs} pairs, {found.clock} time; {sure}"


def _counted(found: Speedup, verdict: RunResult) -> str:
    ratio = f"{found.value:.3f}x [{found.low:.3f}, {found.high:.3f}] (least to largest of {found.pairs} counts a side)"
    if not found.significant:
        return f"{ratio}: {verdict.why}"
    return f"{ratio}, fewer instructions; {_seconds(verdict)}"


def _seconds(verdict: RunResult) -> str:
    beside = verdict.seconds
    if beside is None:
        return "not confirmed"
    sure = "confirmed" if beside.significant else "not proved faster"
    return f"by CPU time {beside.value:.2f}x [{beside.low:.2f}, {beside.high:.2f}], {beside.pairs} pairs, {sure}"
