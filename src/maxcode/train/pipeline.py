"""A whole training run, from a configuration to a report; an interrupted phase is resumed.

    corpus -> pre-training -> assessment -> GRPO with Staged Quality-Diversity -> assessment -> report
    (a given model needs no corpus and no pre-training)

The run folder: ``run.toml``, ``corpus.jsonl``, ``corpus/``, ``pretrained/``, ``before/``, ``grpo/``, ``after/``,
``best/``, ``result.json``, ``report.html``.  A complete phase is not repeated.
"""

from __future__ import annotations

import dataclasses
import fcntl
import gc
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import anyio
import msgspec

from maxcode.core.files import read_text, write_whole
from maxcode.core.types import Action, Interval, Machine, Problem
from maxcode.errors import InputError, RecordError
from maxcode.problems import digest
from maxcode.run.record import check_header
from maxcode.search.archive import Kept
from maxcode.train import corpus as kernels
from maxcode.train.assess import Assessment, Exam, as_json, assess, generator, stages_to_ask
from maxcode.train.config import TrainConfig
from maxcode.train.corpus import Beyond, beyond
from maxcode.train.decoding import kept_legal
from maxcode.train.evaluators import TrainTarget
from maxcode.train.grpo import (
    Learner,
    arguments,
    last_whole,
    new_judge,
    processes,
    prompts_of,
    rank,
    require_train,
    step_of,
    train,
)
from maxcode.train.judge import Judge, StepLine
from maxcode.train.measuring import Measuring
from maxcode.train.model import load_model, load_tokenizer, size
from maxcode.train.page import Comparison, View, write_page
from maxcode.train.pretrain import pretrained
from maxcode.train.rewards import rate

RESULT = "result.json"


@final
@dataclass(frozen=True, slots=True)
class Note:
    """The current activity: the phase, how much of it is done, and words."""

    phase: str
    done: int
    whole: int
    words: str = ""


Say = Callable[[Note], None]


class TrainResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run.

    ``corpus_best``  the rate of the fastest evaluated kernel of the corpus
    ``best``         the rate of the fastest kernel of all, measured again
    ``best_step``    the step that made it; None if no step did
    ``beyond``       by problem, the part of the archive that is not in the corpus
    """

    seconds: dict[str, float]
    parameters: int
    kernels: int
    corpus_best: float
    before: dict[str, Any]
    after: dict[str, Any]
    best: Interval | None
    best_step: int | None
    beyond: dict[str, Beyond]
    report: str


def run(config: TrainConfig, out: Path, bench: TrainTarget, say: Say = lambda note: None) -> TrainResult:
    """Runs all phases, resumed if interrupted; of a finished run it only measures the best kernel and writes the report
    again."""
    require_train()
    if config.grpo.steps:
        arguments(config, out / "grpo")  # what TRL does not take is refused now, not after the phases before
    if config.model.path:
        load_tokenizer(config.model.path, config.model.prompts)  # likewise, before the folder is this configuration's
    if processes() > 1 and (not config.model.path or config.assess.samples):
        raise InputError(
            f"{processes()} processes can only train a given model, without an assessment: pre-train in one process, "
            "set model.path to its folder, and set assess.samples = 0"
        )
    if rank():  # the first process owns the folder
        return _Run(config, out, bench, bench.problems(config), say).go()
    with _owned(out):
        problems = _problems(config, bench)
        check_header(out, _header(config, problems, bench.machine), frozenset({"machine"}))
        return _Run(config, out, bench, problems, say).go()


@final
class _Run:
    def __init__(
        self, config: TrainConfig, out: Path, bench: TrainTarget, problems: Sequence[Problem], say: Say
    ) -> None:
        self._config, self._out, self._bench, self._say = config, out, bench, say
        self._problems = problems
        self._clock = _Clock(out / (f"seconds-{rank()}.json" if rank() else "seconds.json"))

    def go(self) -> TrainResult:
        corpus: list[kernels.Example] = []
        known = kernels.verified((), (), ())
        if not self._config.model.path:
            with self._clock.phase("corpus"):
                corpus, known = self._corpus()
            with self._clock.phase("pretrain"):
                learner = self._pretrained(corpus)
        else:
            learner = self._given(self._config.model.path)
        learner = kept_legal(self._config, learner, self._problems)
        parameters = size(learner.model)
        with self._clock.phase("before"):
            before = self._assessed("before", learner) if self._config.assess.before else Assessment(())
        with self._clock.phase("grpo"):
            judge = self._learned(learner, known)
        del learner  # its memory is for the final weights
        with self._clock.phase("after"):
            assesses = self._config.grpo.steps and self._config.assess.samples
            after = self._assessed("after", self._final()) if assesses else Assessment(())
        with self._clock.phase("best"):
            best, measured = self._best(judge)
        result = TrainResult(
            seconds=self._clock.seconds,
            parameters=parameters,
            kernels=len(judge.measuring),
            corpus_best=known.best,
            before=json.loads(as_json(before)) if before.answers else {},
            after=json.loads(as_json(after)) if after.answers else {},
            best=measured,
            best_step=best.made if best is not None and best.made >= 0 else None,
            beyond=self._beyond(corpus, judge),
            report=str(self._out / "report.html"),
        )
        return result if rank() else self._written(result, before, after, judge, best)

    def _corpus(self) -> tuple[list[kernels.Example], kernels.Verified]:
        path, checked = self._out / "corpus.jsonl", self._out / "corpus.json"
        table = self._config.corpus
        if not path.exists():
            made = []
            staged = self._config.rules.stages is not None
            for one in kernels.examples(self._problems, table, self._config.seed, self._config.completion, staged):
                made.append(one)
                if len(made) % 200 == 0:
                    self._say(Note("corpus", len(made), table.kernels))
            kernels.write(path, made)
        found = kernels.load(path)
        if not checked.exists():
            self._say(Note("corpus", table.kernels, table.kernels, f"evaluating {table.verified} of its kernels"))
            verify = partial(kernels.verify, count=table.verified, seed=self._config.seed)
            measuring = Measuring(self._bench.training, None, self._out / "corpus")
            measuring.resume(1)
            evaluated = anyio.run(verify, found, self._problems, measuring)
            known = kernels.verified(found, evaluated, self._problems)
            write_whole(checked, msgspec.json.encode(known) + b"\n")
        return found, msgspec.json.decode(read_text(checked), type=kernels.Verified)

    def _pretrained(self, corpus: Sequence[kernels.Example]) -> Learner:
        def told(step: int, steps: int, loss: float) -> None:
            self._say(Note("pretrain", step, steps, f"loss {loss:.3f}"))

        return pretrained(self._config, corpus, self._out / "pretrained", told)

    def _given(self, path: str) -> Learner:
        self._say(Note("model", 0, 1, f"loading {path}"))
        return Learner(load_model(path, self._config.model), load_tokenizer(path, self._config.model.prompts))

    def _assessed(self, name: str, learner: Learner) -> Assessment:
        if not self._config.assess.samples:
            return Assessment(())

        def told(done: int, whole: int) -> None:
            self._say(Note(name, done, whole))

        told(0, 1)
        asked = stages_to_ask(self._problems, self._config.rules.stages)
        exam = Exam(self._config, asked, self._bench.assessing, self._out / name)
        return assess(exam, generator(self._config, learner), prompts_of(self._config, self._bench.machine), told)

    def _learned(self, learner: Learner, known: kernels.Verified) -> Judge:
        folder = self._out / "grpo"
        measuring = Measuring(self._bench.training, self._bench.afresh, folder, rank())
        judge = new_judge(self._config, self._problems, measuring, folder, self._bench.machine)
        if self._config.diversity.begin == "corpus":
            judge.progress.begin(known.measured)
        if self._config.grpo.distinct:
            kept_legal(self._config, learner, self._problems, judge.has)
        steps = self._config.grpo.steps
        if not steps:
            return judge

        def told(line: StepLine) -> None:
            self._say(Note("grpo", line.step + 1, steps, in_words(line)))

        checkpoint = last_whole(folder)
        self._say(Note("grpo", step_of(checkpoint) if checkpoint is not None else 0, steps))
        train(self._config, learner, judge, folder, told)
        return judge

    def _final(self) -> Learner:
        gc.collect()  # a trainer is in cycles with its model and optimizer, which may fill a GPU
        final_folder = str(self._out / "grpo" / "final")
        tokenizer = load_tokenizer(final_folder, self._config.model.prompts)
        if self._config.model.lora is None:
            model = load_model(final_folder, self._config.model)
        else:
            base = self._config.model.path or str(self._out / "pretrained")
            model = _with_adapters(load_model(base, self._config.model), final_folder)
        return kept_legal(self._config, Learner(model, tokenizer), self._problems)

    def _best(self, judge: Judge) -> tuple[Kept | None, Interval | None]:
        """The best kernel of the archives, measured again."""
        found = [(problem, judge.progress.archive(problem.id).best) for problem in self._problems]
        leaders = [(problem, one) for problem, one in found if one is not None]
        if not leaders or rank():
            return None, None
        problem, best = max(leaders, key=lambda entry: entry[1].quality)
        evaluation = anyio.run(self._bench.assessing.evaluate, problem, Action(best.program))
        for path, text in best.program.files.items():
            write_whole(self._out / "best" / path, text.encode())
        if best.schedule:
            write_whole(self._out / "best" / "schedule.txt", best.schedule.encode())
        return best, rate(evaluation)

    def _beyond(self, corpus: Sequence[kernels.Example], judge: Judge) -> dict[str, Beyond]:
        if not corpus:
            return {}
        return {one.id: beyond(corpus, judge.progress.archive(one.id), one) for one in self._problems}

    def _written(
        self, result: TrainResult, before: Assessment, after: Assessment, judge: Judge, best: Kept | None
    ) -> TrainResult:
        beside = Comparison(result.corpus_best, result.beyond, result.seconds)
        view = View(self._config, beside, before, after, judge, best, result.best)
        write_page(self._out, view)
        write_whole(self._out / RESULT, msgspec.json.format(msgspec.json.encode(result)) + b"\n")
        return result


def _with_adapters(model: Any, folder: str) -> Any:
    from peft import PeftModel

    return PeftModel.from_pretrained(model, folder)


def assess_model(
    config: TrainConfig, adapter: Path | None, out: Path, bench: TrainTarget, say: Say = lambda note: None
) -> Assessment:
    """Measures fresh answers of a given model, with trained adapters or without, at every stage.

    Raises RecordError if ``out`` holds the answers of another model, or of other questions to it."""
    if not config.model.path:
        raise InputError("model.path is not set; give the folder of a model, or its name: --set model.path=FOLDER")
    mark = _adapter_mark(adapter) if adapter is not None else ""
    with _owned(out):
        problems = _problems(config, bench)
        tokenizer = load_tokenizer(config.model.path, config.model.prompts)
        check_header(out, _assess_header(config, problems, bench.machine, mark), frozenset({"machine"}))
        model = load_model(config.model.path, config.model)
        if adapter is not None:
            model = _with_adapters(model, str(adapter))
        learner = kept_legal(config, Learner(model, tokenizer), problems)
        asked = stages_to_ask(problems, config.rules.stages)
        exam = Exam(config, asked, bench.assessing, out)
        prompts = prompts_of(config, bench.machine)
        return assess(exam, generator(config, learner), prompts, lambda done, of: say(Note("assess", done, of)))


def _adapter_mark(folder: Path) -> str:
    """Equal for folders with the same adapters; raises InputError if there are none."""
    files = sorted(folder.glob("adapter_*"))
    if not any(path.name == "adapter_config.json" for path in files):
        raise InputError(
            f"{folder} holds no adapters (adapter_config.json); give RUN/grpo/final of a training with model.lora, or, "
            f"if all weights were trained, leave --adapter out and give --set model.path={folder}"
        )
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            total.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def in_words(line: StepLine) -> str:
    """A step in one line of text."""
    told = (
        f"mean {line.mean:.1f}, best {line.best:.1f}, valid {line.valid:.0%}, unique {line.unique:.0%}, "
        f"{line.fresh} measured, {line.generate_s + line.evaluate_s + line.learn_s:.1f} s"
    )
    return f"{told}; {'; '.join(line.alarms)}" if line.alarms else told


def _problems(config: TrainConfig, bench: TrainTarget) -> list[Problem]:
    """The admitted problems; raises InputError for two of one name, because results are kept by name."""
    found = bench.problems(config)
    for at, problem in enumerate(found):
        if problem.id in [other.id for other in found[:at]]:
            raise InputError(
                f"two problems have the id '{problem.id}' (the last is {config.paths[at]}); leave one out, or give it "
                "another id in its problem.toml"
            )
    return found


_PLACES = ("folder", "bench")  # keys that do not define a run


def _header(config: TrainConfig, problems: Sequence[Problem], machine: Machine) -> dict[str, Any]:
    table = {one.name: getattr(config, one.name) for one in dataclasses.fields(config) if one.name not in _PLACES}
    stages = config.rules.stages
    return {
        "version": version("maxcode"),
        "digests": {problem.id: digest(problem) for problem in problems},
        "config": msgspec.json.encode(table, order="sorted").decode(),
        "stages": msgspec.json.encode(stages, order="sorted").decode(),
        "machine": dataclasses.asdict(machine),
    }


def _assess_header(config: TrainConfig, problems: Sequence[Problem], machine: Machine, adapter: str) -> dict[str, Any]:
    """What the answers of an assessment depend on: not their number, and not how a policy would be trained."""
    grpo = config.grpo
    sampled = {"seed": config.seed, "temperature": grpo.temperature, "most": grpo.max_completion, "more": grpo.more}
    asked = {"model": config.model, "completion": config.completion, "templates": config.corpus.templates, **sampled}
    whole = _header(config, problems, machine)
    return {**whole, "config": msgspec.json.encode(asked, order="sorted").decode(), "adapter": adapter}


@contextmanager
def _owned(out: Path) -> Iterator[None]:
    """The run folder, locked against a second process."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with open(out / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError as error:
        raise RecordError(f"{out} is in use by another maxcode; wait for it, or choose another --out") from error
    except PermissionError as error:
        raise InputError(f"cannot write to {out}: {error.strerror}; choose another --out") from error


@final
class _Clock:
    """Wall seconds of every phase, summed over all processes that worked on it; a killed one does not tell its last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.seconds: dict[str, float] = json.loads(read_text(path)) if path.exists() else {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began, before = time.monotonic(), self.seconds.get(name, 0.0)
        try:
            yield
        finally:
            self.seconds[name] = round(before + time.monotonic() - began, 1)
            write_whole(self._path, (json.dumps(self.seconds) + "\n").encode())
