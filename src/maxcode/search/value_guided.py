"""A value model in a method: the two readings of the paper, as suffixes of the method's name.

    METHOD+value   after execution and critique, the state with the highest expected class is expanded (its text)
    METHOD+rerank  before execution, more candidates are sampled than run, and the best ranked are run (its abstract)

Both together are METHOD+rerank+value.  The paper reports the guided search only.  Other differences between the two
readings are documented in ``search/`` and ``policy/reranked.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from maxcode.core.roles import Policy, PriorValue, Value
from maxcode.errors import InputError
from maxcode.policy.reranked import Reranked

VALUE, RERANK = "+value", "+rerank"
SEARCHES = ("beam", "cuda-llm", "tree")  # searches that select among several states


@final
@dataclass(frozen=True, slots=True)
class Guide:
    """A value model in both roles, and its use before execution: ``draw`` samples per slot, and in a share ``unranked``
    of the slots the model does not choose."""

    value: Value
    foresight: PriorValue
    draw: int = 4
    unranked: float = 0.1


def variants(names: Iterable[str]) -> list[str]:
    """The guided variants of methods."""
    found = []
    for name in names:
        found.append(name + RERANK)
        if name.partition("+")[0] in SEARCHES:
            found += [name + VALUE, name + RERANK + VALUE]
    return found


def explained() -> dict[str, str]:
    """The suffixes, each with its effect."""
    searches = ", ".join(SEARCHES)
    return {
        f"METHOD{VALUE}": f"of {searches}: expands the state with the highest predicted reward-to-go (--value)",
        f"METHOD{RERANK}": "of any method: samples --draw candidates per slot, runs the one that --value ranks first",
    }


def base(name: str) -> str:
    """The name of the method without these suffixes."""
    return name.removesuffix(VALUE).removesuffix(RERANK)


def is_guided(name: str) -> bool:
    """Whether a method asks a value model."""
    return base(name) != name


def guided_policy(name: str, policy: Policy, guide: Guide | None) -> Policy:
    """The policy of a method, with a reranker if the name asks for one; InputError if a value model is needed and
    ``guide`` is None."""
    if not is_guided(name):
        return policy
    if guide is None:
        raise InputError(
            f"the method '{name}' needs a value model, and none is given; train one with `maxcode train to-go --from "
            "RUNS --out FOLDER` and give --value FOLDER, or --value busiest-loop"
        )
    if RERANK not in name:
        return policy
    return Reranked(policy, guide.foresight, guide.draw, guide.unranked)
