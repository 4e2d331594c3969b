"""Options that several verbs share, and the printing of results."""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click
import msgspec

from maxcode.cli.terminal import echo, echo_json
from maxcode.core.budget import Budget, Caps, budget_of
from maxcode.core.confined import without_setup
from maxcode.core.phases import Recorder, recording
from maxcode.core.types import Clock
from maxcode.errors import BoundaryError, InputError, Interrupted
from maxcode.evaluate.ladder.kept_builds import VARIABLE as NO_CACHE
from maxcode.llm.clients.connect import Provider
from maxcode.llm.completion import Answer
from maxcode.observe.trajectory import TOKENS
from maxcode.problems import named_files
from maxcode.problems.description import LIMIT_BELOW
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.model_tables import model_tables
from maxcode.run.request import Request, capped
from maxcode.sandbox.tiers import TIERS, UNSAFE, VARIABLE

if TYPE_CHECKING:
    from maxcode.run.result import RunResult

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "json_", is_flag=True, help="Print one JSON object on stdout instead of lines.")


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """One decorator for several options; the help shows them in this order."""

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


shapes_option = click.option(
    "--shapes", default="", metavar="small|TABLE.toml", help="Shapes of a PyTorch problem: `small` chooses shapes "
    "whose inputs and parameters fit into 4 MB, TABLE.toml is a table of `maxcode problems shrink`.  "
    "[default: the problem's own]")  # fmt: skip


def parse_changes(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> dict[str, Any]:
    """Parses KEY=VALUE words: a dotted key and a TOML value; a value that is not TOML is a string."""
    found: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise click.BadParameter(f"{word} is not KEY=VALUE")
        try:
            found[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key] = value
    return found


goal_options = together(  # what is measured, and where
    click.option("--goal", type=click.Choice(get_args(Clock)), help="What to reduce: CPU seconds, wall seconds (for "
                 "parallel programs), or executed instructions (counted by valgrind; other load does not change "
                 "them).  [default: cpu]"),
    click.option("--flags", help="Build flags in one string; they replace the default ones.  [default: -std=c++17 -O3 "
                 "for C++, -std=gnu17 -O3 for C]"),
    click.option("--device", type=click.Choice(["cpu", "cuda"]), help="Where a PyTorch module runs.  [default: cpu]"),
)  # fmt: skip

problem_options = together(  # what the problem is
    click.option("--tests", type=click.Path(path_type=Path), help="Folder of tests: NN.in with NN.out or NN.ans, "
                 "or input.K.txt with output.K.txt; without an output that of the original is expected."),
    click.option("--args", "args", help="Arguments of the program in one string, the same in every run: '-n 3'."),
    click.option("--file", "files", multiple=True, metavar="[NAME=]PATH", help="Data file that the program can read in "
                 "the folder where it starts; may be repeated."),
    click.option("--env", "env", multiple=True, metavar="NAME=VALUE", help="Variable of the program's environment; may "
                 "be repeated."),
    click.option("--include", "include", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder "
                 "of headers of a C or C++ program; may be repeated.  Headers beside a source are found without it."),
    click.option("--compile-commands", "compile_commands", type=click.Path(path_type=Path), metavar="FILE", help="Take "
                 "flags and include folders from this compile_commands.json.  [default: one beside the source or in "
                 "build*/ or out/, there or above it in the repository, if no --flags are given]"),
    click.option("--venv", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Virtual environment "
                 "of a Python program or function: its interpreter runs original and candidates, with its packages.  "
                 "[default: the system's Python]"),
    goal_options,
    click.option("--checker", type=click.Choice(["tokens", "exact", "float", "pie"]), help="How outputs are compared.  "
                 "pie is the comparison of the PIE benchmark, which accepts some wrong outputs.  [default: tokens]"),
    click.option("--tolerance", type=float, help="Relative and absolute tolerance of outputs; implies --checker "
                 "float."),
    click.option("--tie-break", type=click.Choice(["instructions"]), help="Count instructions if a race ends in a "
                 "tie; needs valgrind."),
    click.option("--shared-cores", is_flag=True, help="Accept measurements although other programs used the cores: "
                 "with --goal wall, and with --cluster.  The result says so."),
    click.option("--constant", "constants", multiple=True, metavar="NAME=NUMBER", help="Replace a module-level number "
                 "of a PyTorch problem, for smaller shapes; may be repeated."),
    shapes_option,
    click.option("--run-limit", type=float, metavar="SECONDS", help="CPU seconds that one run may take.  "
                 "[default: 10]"),
)  # fmt: skip


model_options = together(  # the models, how they are called, and their highest cost
    click.option("--policy", default="", help="Policy that proposes programs: a name (`maxcode "
                 "list policies`), llm:MODEL, command:CMD (prompt on stdin, answer on stdout), agent:CMD (a coding "
                 "agent, which edits files), ask (`maxcode ask` and `maxcode tell`), or file.py:name.  "
                 "[default: rewriter; kernels for functions, modules for PyTorch modules]"),
    click.option("--critic", default="", help="Critic that explains results to the policy: rules, llm (the "
                 "policy's model), llm:MODEL, or command:CMD.  [default: llm with a policy llm:MODEL, else rules]"),
    click.option("--answer", type=click.Choice(get_args(Answer)), default="whole", show_default=True,
                 help="Form of a model's answer: a whole program, or SEARCH/REPLACE edits (cheaper if it is long)."),
    click.option("--provider", type=click.Choice(get_args(Provider)), help="API of the model.  auto: Anthropic for "
                 "names that begin with claude, unless --base-url or OPENAI_BASE_URL is set.  [default: auto]"),
    click.option("--base-url", help="Address of the model's API, e.g. http://127.0.0.1:8000/v1.  "
                 "[default: OPENAI_BASE_URL, or the provider's own]"),
    click.option("--models", "config", type=click.Path(path_type=Path, dir_okay=False), help="TOML file with the "
                 "tables [model], [policy], [critic] and [agent] (docs/how-to/language-models.md)."),
    click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", callback=parse_changes, help="Change a key of "
                 "these tables, e.g. policy.thinking_tokens=8000 or critic.effort=high; may be repeated."),
    click.option("--prices", type=click.Path(path_type=Path, dir_okay=False), help="TOML file of prices per model."),
    click.option("--max-calls", "calls", type=click.IntRange(0), help="Most model calls that the run may make, the "
                 "critic's included."),
    click.option("--max-tokens", "tokens", type=click.IntRange(0), help="Most tokens that the run may use, in "
                 "and out."),
    click.option("--max-dollars", "dollars", type=click.FloatRange(0), help="Most money that the run may cost."),
    click.option("--max-seconds", "seconds", type=click.FloatRange(0), help="Wall seconds of the search, with its "
                 "resumes and the confirmations between its batches: candidates that are being measured then are "
                 "stopped.  Not in it: the admission (a longer one is refused), waits for other maxcode runs, and the "
                 "last confirmation and the certificate, which come after it.  The line `time` shows them all."),
)  # fmt: skip


value_options = together(  # the value model and its use
    click.option("--value", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Value model: a "
                 "folder of `maxcode train to-go`, or busiest-loop, which needs no training.  Methods +value and "
                 "+rerank use its predictions; other methods only record them."),
    click.option("--draw", default=4, show_default=True, help="Methods +rerank: samples per candidate that is run."),
    click.option("--unranked", default=0.1, show_default=True, help="Methods +rerank: share of candidates that are "
                 "chosen without the value model, to check its predictions."),
)  # fmt: skip


def _set_variable(context: click.Context, name: str, value: str) -> None:
    """Sets an environment variable, from which the evaluator and its workers read it, while the verb runs."""
    before = os.environ.get(name)
    os.environ[name] = value
    context.call_on_close(lambda: os.environ.pop(name, None) if before is None else os.environ.update({name: before}))


def _demand_tier(context: click.Context, _: click.Parameter, tier: str | None) -> None:
    if not tier:
        return
    if context.meta.setdefault(VARIABLE, tier) != tier:
        raise click.UsageError("--sandbox and --unsafe-no-sandbox exclude each other; give one of them")
    _set_variable(context, VARIABLE, tier)


def _ask_for_setup(context: click.Context, _: click.Parameter, allowed: bool) -> None:
    """While the verb runs, no set-up is run that the user has neither allowed nor run before."""
    context.with_resource(without_setup(not allowed))


run_setup_option = click.option(
    "--run-setup", is_flag=True, callback=_ask_for_setup, expose_value=False, help="Run the set-up of a repository, as "
    "you and with the network, although you have not run it before here.",
)  # fmt: skip


def _keep_nothing(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        _set_variable(context, NO_CACHE, "1")


self_options = together(  # how maxcode itself works
    click.option("--profile-self", is_flag=True, help="Show where the seconds of this command go: builds, "
                 "verifications, timing, waits.  In JSON the key is `profile`."),
    click.option("--no-cache", is_flag=True, callback=_keep_nothing, expose_value=False, help="Build and "
                 "admit the original again, although an earlier command has kept that in the cache folder."),
)  # fmt: skip


sandbox_options = together(  # what protects this machine from the programs
    click.option("--sandbox", type=click.Choice(TIERS), callback=_demand_tier, expose_value=False, help="Tier of the "
                 "sandbox: 1 bubblewrap, 2 Landlock.  [default: MAXCODE_SANDBOX, else the first that works here]"),
    click.option("--unsafe-no-sandbox", flag_value=UNSAFE, callback=_demand_tier, expose_value=False, help="Run "
                 "programs WITHOUT A SANDBOX, as your user: they can read and change your files.  Every result says "
                 "so."),
)  # fmt: skip


cluster_options = together(  # where candidates are measured
    click.option("--cluster", default="", metavar="WHERE", help="Measure on benchmark nodes: local:SLOTS, "
                 "tcp://HOST:PORT, slurm:SITE.toml, pbs:SITE.toml, ray:auto or ray:HOST:PORT "
                 "(docs/how-to/use-a-cluster.md).  [default: this machine]"),
)  # fmt: skip


def _budget(context: click.Context, _: click.Parameter, words: str | None) -> Budget | None:
    return budget_of(words) if words is not None else None


total_option = click.option(
    "--total-seconds", type=click.FloatRange(0, min_open=True), help="Wall seconds of this command as a whole: "
    "admission, waits, search, confirmation and certificate.  What does not fit is named in the result; the same "
    "command with more seconds goes on.",
)  # fmt: skip


budget_options = together(  # how far a run may go
    click.option("--budget", callback=_budget, metavar="AMOUNT", help="How far each run may go: 24 (candidates), "
                 "15-minutes, 0.5-dollars, 200k-tokens, 300-calls.  A METHOD/paper takes no more than the paper.  "
                 "[default: 24; a METHOD/paper: the paper's]"),
    click.option("--gamma", default=1.0, show_default=True, help="Discount of rewards along a path: the best so far "
                 "that a prompt shows is the best discounted one."),
    click.option("--trajectory-tokens", default=TOKENS, show_default=True, metavar="TOKENS", help="How long the "
                 "trajectory in a prompt may be; the oldest steps are shortened first."),
    click.option("--width-for", type=click.IntRange(1), default=24, show_default=True, metavar="CANDIDATES",
                 help="With a --budget that does not count candidates: choose the search width as for this many."),
)  # fmt: skip


@contextmanager
def resumable() -> Iterator[None]:
    """A run that ends early in the block says how to resume it."""
    try:
        yield
    except (Interrupted, BoundaryError) as error:
        error.add_note(f"to resume: {shlex.join(['maxcode', *sys.argv[1:]])}")
        raise


def chosen(source: Path, tests: Path | None, options: dict[str, Any]) -> Request:
    """The request from the options of ``problem_options``, ``model_options`` and the verb."""
    rest = dict(options)
    problem = {key: rest.pop(key) for key in _PROBLEM if key in rest}
    given = {key: rest.pop(key) for key in ("provider", "base_url", "prices")}
    tables = model_tables(rest.pop("config"), rest.pop("changes"), given)
    budget: Budget | None = rest.pop("budget")
    caps = Caps(**{key: rest.pop(key) for key in ("calls", "tokens", "dollars", "seconds")})
    if budget is not None:
        caps = capped(caps, budget)
    rest |= {"budget": budget.candidates if budget is not None else 0, "caps": caps}
    rest |= {"models": tables.model, "ask_policy": tables.policy, "ask_critic": tables.critic, "agent": tables.agent}
    return Request(source, tests, overrides=overrides(problem), **rest)


_PROBLEM = (
    "flags", "checker", "tolerance", "goal", "tie_break", "shared_cores", "device", "constants", "run_limit", "args",
    "files", "env", "include", "compile_commands", "venv",
)  # fmt: skip


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
    if given.get("venv") is not None:
        found["python"] = {"venv": str(given["venv"].absolute())}
    if (run_s := given.get("run_limit")) is not None:
        if not 0 < run_s < LIMIT_BELOW:
            raise InputError(f"--run-limit is {run_s:g}; give a number of seconds above 0 and below {LIMIT_BELOW:g}")
        found["limits"] = {"run_s": run_s}
    found |= {key: given[key] for key in ("include", "compile_commands") if given.get(key)}
    return {**found, **_started_with(given)}


def _started_with(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, variables and data files of a program, as ``problems.load`` takes them."""
    found: dict[str, Any] = {}
    if given.get("args") is not None:
        try:
            found["args"] = shlex.split(given["args"])
        except ValueError as error:
            raise InputError(f"--args {given['args']!r}: {error}; close the quotation marks") from error
    if files := named_files(given.get("files", ())):
        found["files"] = files
    for word in given.get("env", ()):
        name, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"--env {word} is not NAME=VALUE, e.g. --env OMP_NUM_THREADS=2")
        found.setdefault("env", {})[name] = value
    return found


def _numbers(words: tuple[str, ...]) -> dict[str, int]:
    """Parses NAME=NUMBER words; raises InputError for any other word."""
    found = {}
    for word in words:
        name, _, number = word.partition("=")
        try:
            found[name.strip()] = int(number)
        except ValueError as error:
            raise InputError(f"--constant {word} is not NAME=NUMBER, e.g. --constant batch_size=16") from error
    return found


def show(result: CandidateResult | RunResult, json_: bool, recorder: Recorder | None = None) -> None:
    """Print a result on stdout: the JSON contract, or lines for people; with the phases if they were recorded."""
    if json_:
        echo_json(with_profile(result.as_json(), recorder))
    else:
        echo(result)
        echo_profile(recorder)


@contextmanager
def profiled(asked: bool) -> Iterator[Recorder | None]:
    """Records the phases of the block if that was ``asked``."""
    if not asked:
        yield None
        return
    with recording() as recorder:
        yield recorder


def with_profile(answer: str, recorder: Recorder | None) -> str:
    """A JSON object with the key ``profile`` if phases were recorded."""
    if recorder is None:
        return answer
    return msgspec.json.encode({**msgspec.json.decode(answer), "profile": recorder.profile().table()}).decode()


def echo_profile(recorder: Recorder | None) -> None:
    """Prints the recorded phases as a table."""
    for line in recorder.profile().lines() if recorder is not None else ():
        echo(line)
