"""Pre-trains a small model on the kernels of a corpus, from random weights, through transformers' own Trainer.

The loss is on the completion alone, not on its prompt.  A resumed run starts from its last checkpoint.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from maxcode.core.files import read_text
from maxcode.errors import InputError
from maxcode.train.batches import Padded, encoded
from maxcode.train.config import TrainConfig
from maxcode.train.corpus import Example
from maxcode.train.grpo import Learner, quiet, refuse_divergence, require_train
from maxcode.train.model import PIECES, load_model, load_tokenizer, new_model, save, train_tokenizer

DONE = "config.json"  # written with the weights
WEIGHT_DECAY, BETA_2 = 0.05, 0.95

Say = Callable[[int, int, float], None]
log = logging.getLogger(__name__)


def pretrained(
    config: TrainConfig,
    corpus: Sequence[Example],
    folder: Path,
    say: Say = lambda step, steps, loss: None,
) -> Learner:
    """The model in ``folder``, trained now if it is not there yet; ``say`` is called with (step, steps, loss)."""
    require_train()
    if (folder / DONE).exists():
        return Learner(load_model(str(folder), config.model), load_tokenizer(str(folder), "compact"))
    texts = (one.prompt + one.completion for one in corpus)
    tokenizer = train_tokenizer(texts, config.model.scratch.vocabulary, PIECES[config.completion])
    model = new_model(config.model.scratch, tokenizer, config.seed, attention=config.model.attention)
    rows = encoded(((one.prompt, one.completion) for one in corpus), tokenizer, config.corpus.most_tokens)
    if not rows:
        most = config.corpus.most_tokens
        raise InputError(f"no example of the corpus has {most} tokens or fewer; raise corpus.most_tokens")
    if 2 * len(rows) < len(corpus):
        log.warning(
            "%d of %d examples of the corpus have more than %d tokens and are left out; see corpus.most_tokens",
            len(corpus) - len(rows), len(corpus), config.corpus.most_tokens,
        )  # fmt: skip
    _train(config, Learner(model, tokenizer), rows, folder.with_name(folder.name + "-checkpoints"), say)
    scratch = folder.with_name(folder.name + ".new")
    save(model, tokenizer, scratch)
    scratch.rename(folder)
    model.config.name_or_path = str(folder)  # TRL reads the reference of the KL term from there
    return Learner(model, tokenizer)


def _train(
    config: TrainConfig, learner: Learner, rows: list[dict[str, list[int]]], checkpoints: Path, say: Say
) -> None:
    import torch
    from datasets import Dataset
    from transformers import PrinterCallback, Trainer

    torch.set_num_threads(config.grpo.threads)
    quiet()
    trainer = Trainer(
        model=learner.model,
        args=_arguments(config, checkpoints),
        train_dataset=Dataset.from_list([{**row, "length": len(row["input_ids"])} for row in rows]),
        data_collator=Padded(learner.tokenizer.pad_token_id),
        callbacks=[_heard(say, config.pretrain.steps)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))


def last_checkpoint(folder: Path) -> str | None:
    """The last complete checkpoint: its state, which is written last, can be read."""
    for path in sorted(folder.glob("checkpoint-*"), key=lambda one: int(one.name.rpartition("-")[2]), reverse=True):
        with suppress(InputError, ValueError):
            json.loads(read_text(path / "trainer_state.json"))
            return str(path)
    return None


def _arguments(config: TrainConfig, folder: Path) -> Any:
    from transformers import TrainingArguments

    table = config.pretrain
    return TrainingArguments(
        output_dir=str(folder),
        seed=config.seed,
        use_cpu=config.model.device == "cpu",
        bf16=config.model.dtype == "bfloat16",
        per_device_train_batch_size=table.batch,
        max_steps=table.steps,
        learning_rate=table.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=min(50, table.steps // 10),
        weight_decay=WEIGHT_DECAY,
        adam_beta2=BETA_2,
        train_sampling_strategy="group_by_length",
        logging_steps=max(1, min(20, table.steps // 20)),
        save_steps=table.save_steps,
        save_total_limit=2,
        report_to=list(config.grpo.report_to) or "none",
        disable_tqdm=True,
    )


def _heard(say: Say, steps: int) -> Any:
    from transformers import TrainerCallback

    class Heard(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            control.should_log |= control.should_save  # a gradient is looked at where it is logged

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
            refuse_divergence(logs or {}, state.global_step, "pretrain")
            if logs and "loss" in logs:
                say(state.global_step, steps, float(logs["loss"]))

    return Heard()
