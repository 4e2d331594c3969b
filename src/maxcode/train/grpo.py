"""Online RL through TRL's unmodified GRPOTrainer.

    lazy rows -> TRL generates -> judge (evaluator, reward, advantages) -> TRL learns -> checkpoint with the archive

Prompts are made when their rows are fetched (``Dataset.with_transform``), so that they follow the stages and the
archive.  Advantages come from the first reward function, already centred within their groups, and
``scale_rewards="none"`` leaves them unchanged.  The true score is the second reward function, with weight 0, for the
log.  If the machine failed, both are None, and TRL leaves the answer out of its group.  The loss is GRPO's in TRL's
usual form (``dapo``: a mean over all tokens of a step, ratios of tokens).  arXiv 2602.12049 writes the ratio of whole
answers.  Every step learns from its own answers, so either ratio is 1 and nothing is clipped; the forms differ in the
weight of long answers, also with ``importance_sampling_level = "sequence"``, which is TRL's geometric mean over tokens.
KL is off by default (the paper writes a KL term and does not publish its weight).

A resumed run continues from the last complete checkpoint and gives the same result as an unbroken one: TRL restores
weights, optimizer, random numbers and position; archive and stages are in the same folder (``diversity.json``), which
is written last.
"""

from __future__ import annotations

import logging
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from maxcode.core.files import replacing, write_whole
from maxcode.core.types import Machine, Problem
from maxcode.errors import InputError, MachineError
from maxcode.train.config import GrpoTable, TrainConfig
from maxcode.train.diversity import FILE, ArchiveProgress, PromptRow, archive_as_json
from maxcode.train.explore import Explore
from maxcode.train.imitation import Imitation
from maxcode.train.judge import Judge, Judged, Rules, StepLine
from maxcode.train.measuring import Measuring
from maxcode.train.prompts import Chat, Compact, Prompts, Scheduled
from maxcode.train.rewards import REWARDS

if TYPE_CHECKING:
    from trl import GRPOTrainer

MISSING = "training needs torch, transformers, peft and trl: pip install 'maxcode[train]'"
ARCHIVE = "archive.json"

Watch = Callable[[StepLine], None]
_USUAL = {
    "activation_checkpointing": False,
    "importance_sampling_level": "token",
    "logging_steps": 1,
    "loss_type": "dapo",
    "lr_scheduler_type": "constant_with_warmup",
}
"""Options of TRL's that [grpo.more] may change."""


@final
@dataclass(frozen=True, slots=True)
class Learner:
    """The model in training: weights and tokenizer, as transformers has them."""

    model: Any
    tokenizer: Any


def prompts_of(config: TrainConfig, machine: Machine | None = None) -> Prompts:
    """The form of the prompts in a configuration; ``machine``: the one that measures."""
    if config.completion == "schedule":
        return Scheduled(config.corpus.templates)
    return Chat(machine) if config.model.prompts == "chat" else Compact()


def new_judge(
    config: TrainConfig,
    problems: Sequence[Problem],
    measuring: Measuring,
    folder: Path,
    machine: Machine | None = None,
) -> Judge:
    """The judge of a run, with empty archives; if several processes train, only the first writes."""
    progress = ArchiveProgress(problems, config.grpo.prompts, config.rules, config.seed)
    rules = Rules(prompts_of(config, machine), REWARDS[config.reward.kind](), config.advantage)
    explore = Explore(config.grpo.explore, config.corpus, config.seed) if config.grpo.explore else None
    return Judge(progress, measuring, rules, folder, writes=rank() == 0, explore=explore)


def train(config: TrainConfig, learner: Learner, judge: Judge, folder: Path, watch: Watch = lambda line: None) -> Path:
    """Trains from the beginning, or from the last complete checkpoint in ``folder``; returns the folder of the weights.

    The archive of all measured kernels is written there last.  If it exists, the weights are complete and unchanged.
    """
    trainer = build_trainer(config, learner, judge, folder, watch)
    checkpoint = last_whole(folder)
    if checkpoint is None:
        judge.resume(0)
    else:
        judge.progress.load(checkpoint / FILE)
        judge.resume(step_of(checkpoint))
    final_folder = folder / "final"
    if checkpoint is not None and step_of(checkpoint) >= config.grpo.steps and (folder / ARCHIVE).exists():
        return final_folder
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint is not None else None)
    trainer.save_model(str(final_folder))
    if trainer.accelerator.is_main_process:
        learner.tokenizer.save_pretrained(final_folder)
        write_whole(folder / ARCHIVE, archive_as_json(judge.progress).encode())
    return final_folder


def build_trainer(
    config: TrainConfig, learner: Learner, judge: Judge, folder: Path, watch: Watch = lambda line: None
) -> GRPOTrainer:
    """TRL's trainer with the judge as its reward."""
    require_train()
    import torch
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    torch.set_num_threads(config.grpo.threads)
    quiet()
    steps = Steps(judge, watch)
    trainer = GRPOTrainer(
        model=learner.model,
        reward_funcs=[steps.advantage, steps.score],
        args=arguments(config, folder),
        train_dataset=rows_of(config, judge),
        processing_class=learner.tokenizer,
        callbacks=[callback(steps, Imitation(config, judge.progress, judge.rules.prompts, learner.tokenizer))],
        peft_config=adapters(config),
    )
    trainer.remove_callback(PrinterCallback)  # ``watch`` reports the steps
    if trainer.accelerator.num_processes > 1:
        from accelerate.utils import gather_object

        judge.share = gather_object
    return trainer


def require_train() -> None:
    """Raises InputError, with what to install, if the extra ``train`` is missing."""
    try:
        import peft  # noqa: F401
        import trl  # noqa: F401
    except ImportError as error:
        raise InputError(f"{MISSING} ({error})") from error


def arguments(config: TrainConfig, folder: Path) -> Any:
    """The options of TRL's trainer."""
    from trl import GRPOConfig

    grpo = config.grpo
    at_once, pieces = portions(grpo, processes())
    try:
        return GRPOConfig(
            output_dir=str(folder),
            seed=config.seed,
            use_cpu=config.model.device == "cpu",
            bf16=config.model.dtype == "bfloat16",
            per_device_train_batch_size=at_once,
            gradient_accumulation_steps=pieces,
            num_generations=grpo.generations,
            max_completion_length=grpo.max_completion,
            max_steps=grpo.steps,
            learning_rate=grpo.learning_rate,
            warmup_steps=grpo.warmup_steps,
            temperature=grpo.temperature,
            beta=grpo.beta,
            scale_rewards="none",
            reward_weights=[1.0, 0.0],
            shuffle_dataset=False,
            save_strategy="steps",
            save_steps=grpo.save_steps,
            save_total_limit=grpo.save_limit,
            report_to=list(grpo.report_to) or "none",
            disable_tqdm=True,
            dataloader_num_workers=0,  # rows depend on the state of this process
            **{**_USUAL, **_vllm(grpo), **grpo.more},
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"TRL does not take [grpo]: {error}") from error


def processes() -> int:
    """The number of processes that train together, from the environment that torchrun and accelerate set."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def rank() -> int:
    """The number of this process; process 0 writes the shared files."""
    return int(os.environ.get("RANK", "0"))


def portions(grpo: GrpoTable, count: int) -> tuple[int, int]:
    """The number of answers that go through the model together in a process, and the number of such pieces, so that
    ``count`` processes make one step; raises InputError if that is impossible."""
    whole = grpo.prompts * grpo.generations
    share = whole // count
    at_once = grpo.at_once or share
    if whole % count or share % at_once or at_once % grpo.generations:
        raise InputError(
            f"a step of {grpo.prompts} groups of {grpo.generations} answers cannot be shared by {count} processes "
            f"in pieces of {at_once}: every piece must hold whole groups; change grpo.prompts or grpo.at_once"
        )
    return at_once, share // at_once


def _vllm(grpo: GrpoTable) -> dict[str, Any]:
    if grpo.vllm is None:
        return {}
    found: dict[str, Any] = {"use_vllm": True, "vllm_mode": grpo.vllm.mode}
    if grpo.vllm.mode == "server":
        found |= {"vllm_server_base_url": grpo.vllm.url, "vllm_server_timeout": grpo.vllm.timeout_s}
    return found


def adapters(config: TrainConfig) -> Any:
    """The low-rank adapters to train; None: train all weights."""
    lora = config.model.lora
    if lora is None:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        task_type="CAUSAL_LM",
    )


def rows_of(config: TrainConfig, judge: Judge) -> Any:
    """The training data: numbers, which become prompts when they are fetched."""
    from datasets import Dataset

    count = config.grpo.steps * config.grpo.prompts
    return Dataset.from_dict({"row": list(range(count))}).with_transform(PromptMaker(judge))


@final
class PromptMaker:
    """Makes prompts of rows.  It has no state, so its fingerprint, which the data set requires, is its name."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def __call__(self, batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        rows = [self._judge.progress.row(number) for number in batch["row"]]
        return {"row": batch["row"], "prompt": [self._prompt(row) for row in rows]}

    def _prompt(self, row: PromptRow) -> Any:
        ask = self._judge.rules.prompts.ask
        if row.beginning:
            return ask(row.problem) + row.beginning
        return ask(row.problem, [row.shown] if row.shown is not None else [])

    def __getstate__(self) -> dict[str, object]:
        return {}


@final
class Steps:
    """Presents one judge as TRL's two reward functions; TRL's callbacks report the start and end of a step."""

    def __init__(self, judge: Judge, watch: Watch) -> None:
        self.judge = judge
        self.watch = watch
        self._judged: Judged | None = None

    def advantage(self, completions: list[Any], row: list[int], **more: Any) -> list[float | None]:
        """Judges a step; returns advantages, centred within each group.  TRL calls its reward functions in order."""
        self._judged = self.judge.judge(row, completions)
        for name, value in _told(self._judged.step):
            more["log_metric"](name, value)
        return self._judged.advantages

    def score(self, completions: list[Any], **more: Any) -> list[float | None]:
        """The true scores of the last judged step, for the log."""
        assert self._judged is not None
        return self._judged.scores

    def ended(self) -> None:
        """Reports the end of a step."""
        line = self.judge.finish()
        if line is not None:
            self.watch(line)


def _told(line: StepLine) -> list[tuple[str, float]]:
    """The figures of a step, for trackers."""
    names = ("mean", "best", "best_of", "valid", "unique", "fresh")
    seconds = ("generate_s", "evaluate_s", "compile_s", "queue_s", "measure_s")
    found = [(f"kernels/{name}", float(getattr(line, name))) for name in names]
    found += [(f"seconds/{name.removesuffix('_s')}", float(getattr(line, name))) for name in seconds]
    found += [(f"stage/{name}", float(stage)) for name, stage in line.stages.items()]
    return found + [(f"cells/{name}", float(count)) for name, count in line.cells.items()]


def callback(steps: Steps, imitation: Imitation | None = None) -> Any:
    """TRL's callback that reports the steps, imitates after them, and writes archive and stages into every
    checkpoint."""
    from transformers import TrainerCallback

    class Marks(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            steps.judge.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            control.should_log |= control.should_save  # a gradient is looked at where it is logged
            if imitation is not None:
                norm = imitation.after(state.global_step - 1, more["model"], more["optimizer"])
                refuse_divergence({"grad_norm": norm}, state.global_step, "grpo")
            steps.ended()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
            refuse_divergence(logs or {}, state.global_step, "grpo")

        def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            steps.judge.share([])  # waits until every process has written its part of the checkpoint
            if steps.judge.writes:
                folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
                with replacing(folder / FILE) as scratch:
                    steps.judge.progress.save(scratch)

    return Marks()


def refuse_divergence(logs: Mapping[str, Any], step: int, table: str) -> None:
    """Raises MachineError if a gradient is no number: all weights are none from then on, and no checkpoint may keep
    them.  Trainers log before they save, if they do both."""
    norm = logs.get("grad_norm")
    if norm is not None and not math.isfinite(norm):
        raise MachineError(
            f"the training diverged: the gradient of [{table}] is {norm} after step {step}; lower "
            f"{table}.learning_rate, and choose another --out"
        )


def step_of(checkpoint: Path) -> int:
    """The number of steps before a checkpoint."""
    return int(checkpoint.name.removeprefix("checkpoint-"))


def last_whole(folder: Path) -> Path | None:
    """The last complete checkpoint; None if there is none."""
    found = [
        path
        for path in folder.glob("checkpoint-*")
        if re.fullmatch(r"checkpoint-\d+", path.name) and (path / FILE).exists()
    ]
    return max(found, key=step_of, default=None)


def quiet() -> None:
    """Turns off progress bars, which are useless for small models, and warnings about TRL's own behaviour.

    One of these warnings repeats the whole text of a row each time the machine fails; the judge logs that in one line.
    """
    import datasets
    from transformers.utils import logging as told

    warnings.filterwarnings("ignore", message=".*gradient_checkpointing.*", category=FutureWarning)  # TRL's own doing
    told.disable_progress_bar()
    datasets.disable_progress_bars()
    logging.getLogger("trl.trainer.grpo_trainer").setLevel(logging.ERROR)
