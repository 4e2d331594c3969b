"""The policy's weights and tokenizer: from a folder, from the Hub, or new and small."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maxcode.errors import InputError
from maxcode.train.config import ModelTable, ScratchModel
from maxcode.train.prompts import BOS

PAD, EOS = "<pad>", "<eos>"
PIECES = {
    "text": r"\d+|[^\d\n]+\n?|\n",  # numbers are separate tokens, so that a policy can write new ones
    "schedule": r"//\w*|\)\n| in |, |\d+|_?[A-Za-z]+[(=]?|\n",  # steps, subjects, names of parameters, values
}
"""By what a policy writes, the longest pieces of text that are one token.  No piece goes on in the next line."""


def train_tokenizer(texts: Iterable[str], vocabulary: int, pieces: str = PIECES["text"]) -> Any:
    """A byte-level BPE tokenizer of ``vocabulary`` tokens, none of them longer than a piece."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pieces), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, BOS, EOS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=BOS, eos_token=EOS, pad_token=PAD, padding_side="left"
    )


def new_model(shape: ScratchModel, tokenizer: Any, seed: int, length: int = 2048, attention: str = "eager") -> Any:
    """A model of the Qwen2 architecture with random weights; about two heads share their keys and values."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden,
        intermediate_size=2 * shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=next(count for count in range((shape.heads + 1) // 2, 0, -1) if shape.heads % count == 0),
        max_position_embeddings=length,
        tie_word_embeddings=True,
        attn_implementation=attention,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen2ForCausalLM(config)


def load_tokenizer(path: str, prompts: str) -> Any:
    """The tokenizer in a folder, or of a name on the Hub; raises InputError if there is none for such prompts.

    Our own tokenizers are read from their file: the class in a model's configuration would replace the pre-tokenizer's
    rules, and every text would become other tokens.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    kind = PreTrainedTokenizerFast if prompts == "compact" else AutoTokenizer
    try:
        found = kind.from_pretrained(path, padding_side="left")
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"cannot load the tokenizer of {path}: {error}; see [model] of the configuration") from error
    if prompts == "compact" and found.bos_token != BOS:
        raise InputError(
            f"{path} was not pre-trained by maxcode on compact prompts (its texts do not begin with {BOS}); set "
            'model.prompts = "chat"'
        )
    if prompts == "chat" and not found.chat_template:
        raise InputError(
            f"{path} is no chat model: its tokenizer has no chat template; give one that has, such as ...-Instruct"
        )
    return found


def load_model(path: str, table: ModelTable) -> Any:
    """The weights in a folder, or of a name on the Hub; raises InputError if there are none.

    Weights from scratch are float32 in training, whatever ``table.dtype`` its products have; so they are here.
    """
    import torch
    from transformers import AutoModelForCausalLM

    dtype = getattr(torch, table.dtype) if table.path else torch.float32
    try:
        return AutoModelForCausalLM.from_pretrained(path, dtype=dtype, attn_implementation=table.attention)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot load the model {path}: {error}; see [model] of the configuration") from error


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Writes weights and tokenizer where ``load_model`` and ``load_tokenizer`` read them."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def size(model: Any) -> int:
    """The number of parameters of a model."""
    return sum(one.numel() for one in model.parameters())
