"""Options that several verbs share, and how a verdict is printed for people."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from maxcode.budget import Caps
from maxcode.completion import Answer
from maxcode.config import model_settings
from maxcode.errors import InputError
from maxcode.evaluate.tiers import TIERS, UNSAFE, VARIABLE
from maxcode.model.connect import Provider
from maxcode.request import Request
from maxcode.types import Clock
from maxcode.verdict import Paid, Speedup, Verdict

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "json_", is_flag=True, help="Print one JSON object on stdout.")

shapes_option = click.option(
    "--shapes", default="", metavar="small|TABLE.toml", help="The shapes of a PyTorch problem: `small` ones that are "
    "found here (inputs and parameters within 4 MB) and kept, or those of a table (`maxcode problems shrink`).  "
    "[default: the problem's own]")  # fmt: skip

_OVERRIDES = (
    click.option("--tests", type=click.Path(path_type=Path), help="Folder of tests: NN.in with NN.out or NN.ans, "
                 "or input.K.txt with output.K.txt."),
    click.option("--flags", help="Build flags in one string, in place of the language's own (-std=c++17 -O3)."),
    click.option("--checker", type=click.Choice(["tokens", "exact", "float"]), help="How outputs are compared."),
    click.option("--tolerance", type=float, help="Relative and absolute tolerance of --checker float."),
    click.option("--goal", type=click.Choice(get_args(Clock)), help="What to make less: CPU seconds (default), wall "
                 "seconds where parallelism is the point, or instructions executed, which no other load changes "
                 "(valgrind counts them; CPU seconds are measured beside)."),
    click.option("--tie-break", type=click.Choice(["instructions"]), help="Count instructions, once, where a race ends "
                 "in a tie; needs valgrind."),
    click.option("--shared-cores", is_flag=True, help="With --goal wall: let wall time count although others used the "
                 "cores meanwhile; the result says so."),
    click.option("--device", type=click.Choice(["cpu", "cuda"]), help="Where a PyTorch module runs (default cpu)."),
    click.option("--constant", "constants", multiple=True, metavar="NAME=NUMBER", help="A module-level number of a "
                 "PyTorch problem to replace, for smaller shapes; may be repeated."),
    shapes_option,
    click.option("--run-limit", type=float, metavar="SECONDS", help="CPU seconds one run may take (default 10)."),
)  # fmt: skip


def problem_options(command: Command) -> Command:
    """The options that say what the problem is."""
    for option in reversed(_OVERRIDES):
        command = option(command)
    return command


_MODELS = (
    click.option("--policy", default="", help="Who proposes: a name (`maxcode list policies`), llm:MODEL, or "
                 "file.py:name.  [default: rewriter; kernels for functions, modules "
                 "for PyTorch modules]"),
    click.option("--critic", default="", help="Who explains: rules, llm (the policy's model), or llm:MODEL.  "
                 "[default: llm with a policy llm:MODEL, else rules]"),
    click.option("--answer", type=click.Choice(get_args(Answer)), default="whole", show_default=True,
                 help="What a model is asked for: whole programs, or SEARCH/REPLACE edits (cheap for long ones)."),
    click.option("--provider", type=click.Choice(get_args(Provider)), help="Whose client to use; auto (the default) "
                 "takes Anthropic's for names that begin with claude."),
    click.option("--base-url", help="The endpoint of llm:MODEL, e.g. http://127.0.0.1:8000/v1.  "
                 "[default: OPENAI_BASE_URL, or the provider's own]"),
    click.option("--models", "config", type=click.Path(path_type=Path, dir_okay=False), help="A TOML file with a table "
                 "[model]: base_url, key_env, concurrency, timeout_s, attempts, ... (docs/models.md)."),
    click.option("--prices", type=click.Path(path_type=Path, dir_okay=False), help="A table of prices of your own."),
    click.option("--max-calls", "calls", type=click.IntRange(0), help="Model calls of the run, the critic's too."),
    click.option("--max-tokens", "tokens", type=click.IntRange(0), help="Tokens of the whole run, in and out."),
    click.option("--max-dollars", "dollars", type=click.FloatRange(0), help="Money of the whole run."),
    click.option("--max-seconds", "seconds", type=click.FloatRange(0), help="Wall seconds of the whole run at work."),
)  # fmt: skip


def model_options(command: Command) -> Command:
    """The options that say who is asked, how, and what it may cost."""
    for option in reversed(_MODELS):
        command = option(command)
    return command


_VALUE = (
    click.option("--value", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="A value model "
                 "(`maxcode train to-go`): methods +value and +rerank ask it, others only record what it expects."),
    click.option("--draw", default=4, show_default=True, help="Methods +rerank: candidates drawn for one that is run."),
    click.option("--unranked", default=0.1, show_default=True, help="Methods +rerank: the share of the candidates that "
                 "is not chosen by the value model, so that what it expects can be checked."),
)  # fmt: skip


def value_options(command: Command) -> Command:
    """The options that say which value model is asked, and how."""
    for option in reversed(_VALUE):
        command = option(command)
    return command


def _demand_tier(context: click.Context, _: click.Parameter, tier: str | None) -> None:
    """Puts the tier where the evaluator and its workers look for it, for as long as the verb runs."""
    if not tier:
        return
    if context.meta.setdefault(VARIABLE, tier) != tier:
        raise click.UsageError("--sandbox and --unsafe-no-sandbox exclude each other; give one of them")
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = tier
    context.call_on_close(lambda: os.environ.pop(VARIABLE) if before is None else os.environ.update({VARIABLE: before}))


_SANDBOX = (
    click.option("--sandbox", type=click.Choice(TIERS), callback=_demand_tier, expose_value=False, help="Tier of the "
                 "sandbox: 1 bubblewrap, 2 Landlock.  [default: MAXCODE_SANDBOX, else the first that works here]"),
    click.option("--unsafe-no-sandbox", flag_value=UNSAFE, callback=_demand_tier, expose_value=False, help="Run "
                 "programs WITHOUT A SANDBOX, as you: they can read and change what you can.  Every result says so."),
)  # fmt: skip


def sandbox_options(command: Command) -> Command:
    """The options that say what stands between programs and this machine."""
    for option in reversed(_SANDBOX):
        command = option(command)
    return command


def chosen(source: Path, tests: Path | None, options: dict[str, Any]) -> Request:
    """The request that the options of ``problem_options``, ``model_options`` and a verb's own make up."""
    rest = dict(options)
    problem = {key: rest.pop(key) for key in _PROBLEM if key in rest}
    given = {key: rest.pop(key) for key in ("provider", "base_url", "prices")}
    models = model_settings(rest.pop("config"), given)
    caps = Caps(**{key: rest.pop(key) for key in ("calls", "tokens", "dollars", "seconds")})
    return Request(source, tests, models=models, caps=caps, overrides=overrides(problem), **rest)


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


def show(verdict: Verdict, json_: bool) -> None:
    """Print a verdict on stdout: the JSON contract, or lines for people."""
    click.echo(verdict.as_json() if json_ else "\n".join(_lines(verdict)))


def _lines(verdict: Verdict) -> list[str]:
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
    if (second := verdict.harsher) is not None:
        lines.append(f"harsher    {second['result']} (asked for by {'; '.join(second['triggers'])})")
    if (unseen := verdict.unseen) is not None:
        lines.append(f"unseen     {unseen['told']}")
    lines.append(f"sandbox    {verdict.sandbox}")
    if verdict.outcomes is not None:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(verdict.outcomes.items()))
        lines.append(f"candidates {verdict.candidates}: {counts}")
        lines += [f"best       {verdict.best}", f"report     {verdict.report}"]
    if verdict.certificate is not None:
        lines.append(f"certified  {verdict.certificate}")
    if verdict.spent is not None and verdict.spent.calls:
        lines.append(f"spent      {_spent(verdict.spent)}")
    return lines + [f"note       {note}" for note in verdict.notes]


def _spent(paid: Paid) -> str:
    money = "price unknown" if paid.dollars is None else f"${paid.dollars:.4g}"
    tokens = f"{paid.prompt_tokens} + {paid.completion_tokens} tokens"
    return f"{paid.calls} model calls, {tokens}, {money}; {paid.seconds:.0f} s"


def _speedup(verdict: Verdict) -> str:
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


def _counted(found: Speedup, verdict: Verdict) -> str:
    ratio = f"{found.value:.3f}x [{found.low:.3f}, {found.high:.3f}] (least to largest of {found.pairs} counts a side)"
    if not found.significant:
        return f"{ratio}: {verdict.why}"
    return f"{ratio}, fewer instructions; {_seconds(verdict)}"


def _seconds(verdict: Verdict) -> str:
    beside = verdict.seconds
    if beside is None:
        return "not confirmed"
    sure = "confirmed" if beside.significant else "not proved faster"
    return f"by CPU time {beside.value:.2f}x [{beside.low:.2f}, {beside.high:.2f}], {beside.pairs} pairs, {sure}"
