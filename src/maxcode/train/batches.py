"""Examples as batches of tokens, for a loss on the completions alone: pre-training and imitation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

_IGNORED = -100  # a label without a loss


def encoded(examples: Iterable[tuple[str, str]], tokenizer: Any, most: int) -> list[dict[str, list[int]]]:
    """Rows of tokens and labels, of (prompt, completion); examples longer than ``most`` tokens are left out."""
    rows = []
    for prompt, completion in examples:
        asked = tokenizer.encode(prompt)
        answer = [*tokenizer.encode(completion), tokenizer.eos_token_id]
        if len(answer) <= most and len(asked) + len(answer) <= 2 * most:
            rows.append({"input_ids": asked + answer, "labels": [_IGNORED] * len(asked) + answer})
    return rows


@final
@dataclass(frozen=True, slots=True)
class Padded:
    """Rows as one batch, padded on the right."""

    pad: int

    def __call__(self, rows: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
        import torch

        most = max(len(row["input_ids"]) for row in rows)
        fill = {"input_ids": self.pad, "labels": _IGNORED, "attention_mask": 0}
        whole = [{**row, "attention_mask": [1] * len(row["input_ids"])} for row in rows]
        return {
            name: torch.tensor([row[name] + [value] * (most - len(row[name])) for row in whole])
            for name, value in fill.items()
        }
