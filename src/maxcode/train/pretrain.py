"""A small model learns to write the kernels of a corpus, from random weights, through transformers' own Trainer.

The loss is on the kernel alone, not on its prompt.  A run that is taken up again goes on from its last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from maxcode.train.config import TrainConfig
from maxcode.train.corpus import Example
from maxcode.train.grpo import Learner, quiet, require_train
from maxcode.train.model import load_model, load_tokenizer, new_model, save, train_tokenizer

DONE = "config.json"  # written with the weights
WEIGHT_DECAY, BETAS = 0.05, (0.9, 0.95)
_IGNORED = -100  # a label that takes no part in the loss

Say = Callable[[int, int, float], None]


def pretrained(
    config: TrainConfig,
    corpus: Sequence[Example],
    folder: Path,
    say: Say = lambda step, steps, loss: None,
) -> Learner:
    """The model in ``folder``, trained now where it is not there yet; ``say`` hears (step, steps, loss)."""
    require_train()
    if (folder / DONE).exists():
        found = load_tokenizer(str(folder), "compact")
        return Learner(load_model(str(folder), config.model), found)
    tokenizer = train_tokenizer((one.prompt + one.kernel for one in corpus), config.model.scratch.vocabulary)
    model = new_model(config.model.scratch, tokenizer, config.seed)
    rows = encoded(corpus, tokenizer, config.corpus.most_tokens)
    _train(config, model, rows, folder.with_name(folder.name + "-checkpoints"), _Told(say, config.pretrain.steps))
    scratch = folder.with_name(folder.name + ".new")
    save(model, tokenizer, scratch)
    scratch.rename(folder)
    return Learner(model, tokenizer)


def encoded(corpus: Sequence[Example], tokenizer: Any, most: int) -> list[dict[str, list[int]]]:
    """Rows of tokens and labels; examples longer than ``most`` tokens are left out."""
    rows = []
    for one in corpus:
        asked = tokenizer.encode(one.prompt)
        answer = [*tokenizer.encode(one.kernel), tokenizer.eos_token_id]
        if len(answer) <= most and len(asked) + len(answer) <= 2 * most:
            rows.append({"input_ids": asked + answer, "labels": [_IGNORED] * len(asked) + answer})
    return rows


def _train(config: TrainConfig, model: Any, rows: list[dict[str, list[int]]], folder: Path, told: _Told) -> None:
    import torch
    from datasets import Dataset
    from transformers import DataCollatorForSeq2Seq, PrinterCallback, Trainer, TrainingArguments
    from transformers.trainer_utils import get_last_checkpoint

    torch.set_num_threads(config.grpo.threads)
    quiet()
    table = config.pretrain
    arguments = TrainingArguments(
        output_dir=str(folder),
        seed=config.seed,
        use_cpu=config.model.device == "cpu",
        per_device_train_batch_size=table.batch,
        max_steps=table.steps,
        learning_rate=table.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=min(50, table.steps // 10),
        weight_decay=WEIGHT_DECAY,
        adam_beta2=BETAS[1],
        train_sampling_strategy="group_by_length",
        logging_steps=max(1, min(20, table.steps // 20)),
        save_steps=table.save_steps,
        save_total_limit=2,
        report_to=list(config.grpo.report_to) or "none",
        disable_tqdm=True,
    )
    data = Dataset.from_list([{**row, "length": len(row["input_ids"])} for row in rows])
    collate = DataCollatorForSeq2Seq(told.tokenizer_of(model), padding=True, label_pad_token_id=_IGNORED)
    trainer = Trainer(model=model, args=arguments, train_dataset=data, data_collator=collate, callbacks=[told.heard()])
    trainer.remove_callback(PrinterCallback)
    last = get_last_checkpoint(str(folder)) if folder.exists() else None
    trainer.train(resume_from_checkpoint=last)
