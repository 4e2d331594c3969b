"""Tokens, a causal language model with LoRA, and the probability of its label tokens.

The class is read from the probabilities of the label tokens at the place of the label: a softmax over their rows of the
output layer.  That is the paper's softmax(W h), with W made of those rows.  It is also the expectation of the class
that the model would generate.  So it meets both of the paper's descriptions of its model.

Files in a folder are JSON and safetensors.  The configuration is built here from checked numbers, and is never read
from the folder; no code comes with weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from maxcode.core.files import replacing
from maxcode.errors import InputError
from maxcode.search.value.settings import ADAPTER, BASE, SMALL, TOKENIZER, Generative, NetworkShape
from maxcode.search.value.situation import Situation
from maxcode.search.value.text import GAP, cut, sections, shared


@final
class Reader:
    """A tokenizer: prompts to token ids, ``context`` at most, and the ids of the labels."""

    def __init__(self, tokenizer: Any, settings: Generative) -> None:
        self._tokenizer, self._settings = tokenizer, settings
        self.labels = [self._label(at) for at in range(settings.classes)]
        self._gap = self.ids(GAP)

    def _label(self, at: int) -> int:
        ids = self.ids(str(at))
        if len(ids) != 1:
            raise InputError(f"the tokenizer of '{self._settings.base}' has no single token for the label {at}")
        return ids[0]

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without special tokens."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return found

    def prompt(self, one: Situation) -> list[int]:
        """The tokens of a situation; each section is cut to its share of the room that the leads leave."""
        parts = sections(one, self._settings.classes)
        leads, texts = [self.ids(part.lead) for part in parts], [self.ids(part.text) for part in parts]
        room = max(0, self._settings.context - sum(map(len, leads)))
        shares = shared([len(text) for text in texts], [part.weight for part in parts], room)
        found: list[int] = []
        for lead, text, share in zip(leads, texts, shares, strict=True):
            found += [*lead, *cut(text, share, self._gap)]
        return found[-self._settings.context :]  # even if the leads are too long, the label's place stays


def quick_tokenizer(path: Path) -> Any:
    """The tokenizer in a file.  Not ``AutoTokenizer``: for a Qwen2 folder transformers 5 builds its own and ignores the
    file's splitting rules, so the same text would become other tokens."""
    try:
        return PreTrainedTokenizerFast(tokenizer_file=str(path))
    except Exception as error:  # the Rust library raises a bare Exception for a file it cannot read
        raise InputError(f"{path} is not a tokenizer ({error}); train the model again") from error


def small(shape: NetworkShape) -> Any:
    """A Qwen2-architecture model of this shape with random weights (torch's generator)."""
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=shape.vocabulary,
            hidden_size=shape.hidden,
            intermediate_size=4 * shape.hidden,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.heads,
            max_position_embeddings=1 << 15,
            tie_word_embeddings=False,
            attn_implementation="eager",  # twice as fast as sdpa at this size on a CPU
            bos_token_id=None,
            eos_token_id=None,
        )
    )


def named(base: str, local: bool) -> tuple[Any, Any]:
    """(tokenizer, model) of weights by name or folder; ``local``: only from this machine, without a download."""
    told = {"local_files_only": local, "trust_remote_code": False}
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    try:
        tokenizer = AutoTokenizer.from_pretrained(base, **told)
        model = AutoModelForCausalLM.from_pretrained(base, use_safetensors=True, dtype=dtype, **told)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the weights '{base}' cannot be loaded ({str(error).splitlines()[0]}); give --base a folder that holds "
            f"them as safetensors, or --base {SMALL}"
        ) from error
    return tokenizer, model


def with_lora(model: Any, settings: Generative) -> Any:
    """The model with new adapters; only these are trained."""
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=0.0,  # the paper names none; without it a resumed training equals an unbroken one
        target_modules=settings.targets,
        task_type="CAUSAL_LM",
    )
    with warnings.catch_warnings():  # peft 0.21 uses a deprecated name of transformers 5
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing", category=FutureWarning)
        return get_peft_model(model, lora)


def spare_memory(model: Any) -> None:
    """Trains with gradient checkpointing: activations inside a layer are computed again in the backward pass.  A batch
    of 8 prompts of 2048 tokens of a 7B model needs far more memory than one GPU has without it."""
    model.enable_input_require_grads()
    with warnings.catch_warnings():  # transformers 5 renames it; 4 has this name alone
        warnings.filterwarnings("ignore", message=".*gradient_checkpointing_enable", category=FutureWarning)
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})


def device() -> torch.device:
    """The device on which networks run."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def label_logits(model: Any, prompts: Sequence[Sequence[int]], labels: Sequence[int]) -> torch.Tensor:
    """(prompts, labels): the logits of the label tokens after each prompt.  Shorter prompts are padded on the left."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(one)) + list(one) for one in prompts], device=device())
    mask = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in prompts], device=device())
    logits: torch.Tensor = model(input_ids=ids, attention_mask=mask, logits_to_keep=1, use_cache=False).logits
    return logits[:, -1, list(labels)].float()


@final
class Opened:
    """A network in memory."""

    def __init__(self, model: Any, reader: Reader) -> None:
        self._model, self._reader = model.to(device()).eval(), reader

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The expected class of every situation; computed one at a time, so that no prediction depends on another
        situation."""
        return [self._expected(one) for one in situations]

    def _expected(self, one: Situation) -> float:
        with torch.inference_mode():
            shares = label_logits(self._model, [self._reader.prompt(one)], self._reader.labels).softmax(-1)[0]
            return float((shares * torch.arange(len(shares), device=shares.device)).sum())


def reopened(folder: Path, settings: Generative) -> Opened:
    """The network that training wrote to a folder; InputError if it is damaged."""
    if settings.shape is not None:
        tokenizer, model = quick_tokenizer(folder / TOKENIZER), small(settings.shape)
        if len(tokenizer) > settings.shape.vocabulary:
            raise InputError(f"{folder / TOKENIZER} is the tokenizer of another model; train it again")
        model.load_state_dict(_tensors(folder / BASE, model.state_dict()))
    else:
        tokenizer, model = named(settings.base, local=True)
    model = with_lora(model, settings)
    adapter = _tensors(folder / ADAPTER, get_peft_model_state_dict(model))
    set_peft_model_state_dict(model, adapter)
    return Opened(model, Reader(tokenizer, settings))


def keep(path: Path, tensors: dict[str, torch.Tensor], told: dict[str, str] | None = None) -> None:
    """Write tensors to a file atomically."""
    with replacing(path) as scratch:
        save_file({name: one.detach().cpu().contiguous().clone() for name, one in tensors.items()}, scratch, told)


def adapter_of(model: Any) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = get_peft_model_state_dict(model)
    return found


def _tensors(path: Path, like: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a file, which must have the names and shapes of ``like``."""
    try:
        found: dict[str, torch.Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"cannot read {path} ({error}); train the model again") from error
    if {name: one.shape for name, one in found.items()} != {name: one.shape for name, one in like.items()}:
        raise InputError(f"{path} holds the tensors of another model; train it again")
    return found
