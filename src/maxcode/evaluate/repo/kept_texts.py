"""Keeps what was found out about texts: a search asks about the files of base for each candidate."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar, TypeVarTuple

AT_MOST = 64_000_000  # letters of the texts that one function keeps
_Texts = TypeVarTuple("_Texts")
_Answer = TypeVar("_Answer")


def kept(function: Callable[[*_Texts], _Answer]) -> Callable[[*_Texts], _Answer]:
    """The function, which does not answer twice for the texts that it was asked about last."""
    answers: dict[tuple[*_Texts], _Answer] = {}
    lock, held = Lock(), 0

    @wraps(function)
    def asked(*texts: *_Texts) -> _Answer:
        nonlocal held
        with lock:
            if texts in answers:
                answers[texts] = answers.pop(texts)  # now the last one
                return answers[texts]
        answer = function(*texts)
        with lock:
            held += 0 if texts in answers else _letters(texts)
            answers[texts] = answer
            while held > AT_MOST:
                oldest = next(iter(answers))
                del answers[oldest]
                held -= _letters(oldest)
        return answer

    return asked


def _letters(texts: tuple[object, ...]) -> int:
    return 100 + sum(len(one) for one in texts if isinstance(one, str))
