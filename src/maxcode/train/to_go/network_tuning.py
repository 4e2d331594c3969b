"""Training the generative value model: LoRA of rank 8, AdamW, batches of 8, one epoch, as in the paper.

Without given weights, a small model of the same architecture is made first: a tokenizer and next-token training on the
prompts of the training side, with their labels, so that LoRA has a base that can read them; the other code is shared.
Learning rates are ours; the paper names none.

A checkpoint is one file of tensors (safetensors, with those of the optimiser) and a line with its job and its batch.  A
killed training resumes from it with the same batches as before, because the seed sets their order.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.core.files import read_text, replacing
from maxcode.errors import InputError, MachineError
from maxcode.search.value import SMALL, Generative, Model, NetworkShape, Predictor, Situation
from maxcode.search.value.generative import needs_extra
from maxcode.search.value.settings import ADAPTER, BASE, TOKENIZER
from maxcode.search.value.text import VERSION, prompt
from maxcode.train.to_go.dataset import Dataset
from maxcode.train.to_go.fit import Fit, rows

BATCH, EPOCHS, RATES = 8, 1, {"base": 2e-3, "lora": 1e-3, "named": 1e-4}
CHECKPOINT = "checkpoint.safetensors"
EVERY = 20  # batches between checkpoints


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """Token ids of a prompt, and the index of its label among the label tokens."""

    ids: list[int]
    label: int


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a training: its name, learning rate, the loss of a batch, and the job of its checkpoints."""

    name: str
    rate: float
    loss: Callable[[Any, Sequence[Sample]], Any]
    job: str
    folder: Path
    seed: int
    say: Callable[[str], None]


def tune(data: Dataset, how: Fit) -> tuple[Model, Predictor]:
    """A generative model of the training side, with its files in ``how.folder``; a killed training is resumed.

    Raises InputError, before anything is written, if the extra or the weights of the base are missing, or if the folder
    holds another training.  The checkpoint stays there, because the caller has not saved the model yet.
    """
    network = needs_extra()
    situations, labels = rows(data, data.train)
    base = _lasting(how.base)
    settings = Generative(VERSION, base, how.shape if base == SMALL else None, data.classes, how.context)
    job = _job(settings, situations, labels, how.seed)
    _begun(how.folder / CHECKPOINT, job)
    _adapted(settings, situations, labels, job, how)
    return settings, network.reopened(how.folder, settings)


def _lasting(base: str) -> str:
    """The base as a path or name that is valid from any folder."""
    return str(Path(base).resolve()) if base != SMALL and Path(base).is_dir() else base


def _adapted(settings: Generative, situations: Sequence[Situation], labels: Sequence[int], job: str, how: Fit) -> None:
    """Trains the adapter, after a small base if there are no weights."""
    network = needs_extra()
    _seeded(how.seed)
    if settings.shape is None:
        tokenizer, model = network.named(settings.base, local=False)
        reader = network.Reader(tokenizer, settings)
        _made(how.folder)
    else:
        _made(how.folder)
        reader, model = _based(settings, situations, labels, job, how)
    samples = [Sample(reader.prompt(one), label) for one, label in zip(situations, labels, strict=True)]
    model = network.with_lora(model, settings)
    if settings.shape is None:
        network.spare_memory(model)
    rate = RATES["lora" if settings.shape is not None else "named"]
    _trained(model, samples, Stage("lora", rate, _label_loss(reader.labels), job, how.folder, how.seed, how.say))
    network.keep(how.folder / ADAPTER, network.adapter_of(model))


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}; choose another --out") from error


def _job(settings: Generative, situations: Sequence[Situation], labels: Sequence[int], seed: int) -> str:
    """The job of a checkpoint: a hash of settings, data and seed."""
    total = hashlib.sha256(msgspec.json.encode(settings) + f"/{seed}/{BATCH}/{EPOCHS}/{RATES}".encode())
    for one, label in zip(situations, labels, strict=True):
        total.update(f"{label}/{prompt(one, settings.classes)}".encode())
    return total.hexdigest()


def _seeded(seed: int) -> None:
    import torch

    torch.manual_seed(seed)
    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # small batches on a machine that also builds and times: more threads would wait


# ------------------------------------------------------------------------------------------------------ a small base


def _based(
    settings: Generative, situations: Sequence[Situation], labels: Sequence[int], job: str, how: Fit
) -> tuple[Any, Any]:
    """(reader, base) of a small model: both from the folder if they are complete, else new."""
    network = needs_extra()
    assert settings.shape is not None
    _tokenizer_made(how.folder / TOKENIZER, settings.shape, [prompt(one, settings.classes) for one in situations])
    reader = network.Reader(network.quick_tokenizer(how.folder / TOKENIZER), settings)
    model = network.small(settings.shape)
    base, whose = how.folder / BASE, how.folder / "base.job"
    if base.exists() and whose.exists() and read_text(whose) == job:
        with _whole(base):
            model.load_state_dict(network.load_file(base))
        return reader, model
    samples = [
        Sample([*reader.prompt(one), reader.labels[label]], label)
        for one, label in zip(situations, labels, strict=True)
    ]
    _trained(model, samples, Stage("base", RATES["base"], _next_loss, job, how.folder, how.seed, how.say))
    network.keep(base, model.state_dict())
    whose.write_text(job)
    return reader, model


def _tokenizer_made(path: Path, shape: NetworkShape, texts: Sequence[str]) -> None:
    """Writes ``tokenizer.json``: byte-level BPE with one token per digit; checks it by reading it back."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    splits = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    made.pre_tokenizer = pre_tokenizers.Sequence(splits)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=shape.vocabulary, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(texts, trainer)
    with replacing(path) as scratch:
        made.save(str(scratch))
    again = needs_extra().quick_tokenizer(path)
    for text in texts[:20]:
        if again.encode(text, add_special_tokens=False) != made.encode(text).ids:
            raise MachineError(f"{path} is read back with other tokens than it was trained with; report it")


def _next_loss(model: Any, batch: Sequence[Sample]) -> Any:
    """The loss of every next token, including the label."""
    import torch

    longest = max(len(one.ids) for one in batch)
    ids = torch.tensor([one.ids + [0] * (longest - len(one.ids)) for one in batch])
    mask = torch.tensor([[1] * len(one.ids) + [0] * (longest - len(one.ids)) for one in batch])
    where = needs_extra().device()
    targets = ids.masked_fill(mask == 0, -100).to(where)
    return model(input_ids=ids.to(where), attention_mask=mask.to(where), labels=targets, use_cache=False).loss


def _label_loss(labels: Sequence[int]) -> Callable[[Any, Sequence[Sample]], Any]:
    """The paper's loss: cross-entropy over the classes, at the place of the label."""

    def loss(model: Any, batch: Sequence[Sample]) -> Any:
        import torch

        logits = needs_extra().label_logits(model, [one.ids for one in batch], labels)
        return torch.nn.functional.cross_entropy(
            logits, torch.tensor([one.label for one in batch], device=logits.device)
        )

    return loss


# --------------------------------------------------------------------------------------------------------- the epochs


def _trained(model: Any, samples: Sequence[Sample], stage: Stage) -> None:
    """Trains the trainable weights, from the stage's checkpoint if there is one."""
    import torch

    model.to(needs_extra().device()).train()
    weights = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=stage.rate, weight_decay=0.01)
    batches = _batches(samples, stage)
    began, losses = time.monotonic(), []
    first = _resumed(weights, optimiser, stage)
    for step, batch in enumerate(batches[first:], start=first + 1):
        loss = stage.loss(model, batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
        if not math.isfinite(losses[-1]):
            raise MachineError(
                f"the loss of {stage.name} is {losses[-1]} at batch {step}; train again with another seed"
            )
        if step % EVERY == 0 or step == len(batches):
            _checkpoint(weights, optimiser, stage, step)
            mean = sum(losses[-EVERY:]) / len(losses[-EVERY:])
            stage.say(
                f"{stage.name}: batch {step} of {len(batches)}, loss {mean:.3f}, {time.monotonic() - began:.0f} s"
            )


def _batches(samples: Sequence[Sample], stage: Stage) -> list[list[Sample]]:
    """All batches of the stage, in the order that the seed sets."""
    found = []
    for epoch in range(EPOCHS):
        order = random.Random(f"{stage.name}/{stage.seed}/{epoch}").sample(range(len(samples)), len(samples))
        found += [[samples[at] for at in order[start : start + BATCH]] for start in range(0, len(order), BATCH)]
    return found


def _checkpoint(weights: Sequence[Any], optimiser: Any, stage: Stage, step: int) -> None:
    state = [optimiser.state[one] for one in weights]
    tensors = {f"weight {at}": one for at, one in enumerate(weights)}
    tensors |= {f"{name} {at}": one[name] for at, one in enumerate(state) for name in ("exp_avg", "exp_avg_sq")}
    told = {"about": json.dumps({"job": stage.job, "stage": stage.name, "step": step})}
    needs_extra().keep(stage.folder / CHECKPOINT, tensors, told)


def _resumed(weights: Sequence[Any], optimiser: Any, stage: Stage) -> int:
    """The number of finished batches: 0, or that of the checkpoint, whose weights and moments are then loaded."""
    import torch
    from safetensors import safe_open

    path = stage.folder / CHECKPOINT
    about = _begun(path, stage.job)
    if about.get("stage") != stage.name:
        return 0
    with _whole(path), safe_open(path, "pt") as file, torch.no_grad():
        for at, one in enumerate(weights):
            one.copy_(file.get_tensor(f"weight {at}"))
            moments = {name: file.get_tensor(f"{name} {at}").to(one) for name in ("exp_avg", "exp_avg_sq")}
            optimiser.state[one] = {"step": torch.tensor(float(about["step"])), **moments}
    stage.say(f"{stage.name}: resumes after batch {about['step']}")
    return int(about["step"])


def _begun(path: Path, job: str) -> dict[str, Any]:
    """The header of a checkpoint, empty if there is none; raises InputError if it belongs to another job."""
    from safetensors import safe_open

    if not path.exists():
        return {}
    with _whole(path), safe_open(path, "pt") as file:
        about: dict[str, Any] = json.loads((file.metadata() or {}).get("about", "{}"))
    if about.get("job") != job:
        raise InputError(
            f"{path} is of another training (other runs, options or seed); choose another --out, or remove "
            f"{path.parent} to discard that training"
        )
    return about


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Raises InputError, with a remedy, if the file of an unfinished training is damaged."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, SafetensorError) as error:
        told = str(error).partition("\n")[0]
        raise InputError(f"cannot read {path} ({told}); remove {path.parent} and repeat the command") from error
