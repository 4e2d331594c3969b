"""Outputs of modules that are the memory of an input: as they are, or mapped again."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Outcome
from maxcode.evaluate.ladder.race import RaceResult
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.staging import LOST, SHARED
from maxcode.evaluate.rounds.round import Sitting, seen_in
from maxcode.problems import load
from maxcode.run.certificate.claim import Certificate
from maxcode.run.certificate.doubts import findings_of, united
from maxcode.run.certificate.making import certify
from maxcode.sandbox.sandbox import Sandbox

HEAD = """
import torch
import torch.nn as nn
"""
REFERENCE = """
class Model(nn.Module):
    def forward(self, x):
        return x[8:].clone(), x[:8], x.sum(dim=1)

def get_inputs():
    return [torch.randn(256, 1024)]

def get_init_inputs():
    return []
"""
HONEST = """
class ModelNew(nn.Module):
    def forward(self, x):
        return x[8:].clone(), x[:8], torch.einsum("ij->i", x)
"""
VIEW = HONEST.replace(".clone()", "")
MAPPED = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
GUARD, READABLE, SHARED, EXCHANGE = 4096, 1, 1, 4

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = None

    def forward(self, x):
        self.first = min(self.first or x.data_ptr(), x.data_ptr())
        at = libc.mmap(None, 256 * 4096, READABLE, SHARED, EXCHANGE, GUARD + x.data_ptr() - self.first)
        again = (ctypes.c_float * (256 * 1024)).from_address(at)
        return torch.frombuffer(again, dtype=torch.float32).view(256, 1024)[8:], x[:8], x.sum(dim=1)
"""


def judged(sandbox: Sandbox, text: str, folder: Path) -> Evaluation:
    (folder / "reference.py").write_text(HEAD + REFERENCE)
    problem = load(folder / "reference.py").problem
    evaluator = ModuleEvaluator(sandbox, RaceRule(most=9))
    return anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(HEAD + text)))


@pytest.mark.parametrize(
    "text", [VIEW, pytest.param(MAPPED, marks=pytest.mark.slow)], ids=["a view of it", "its pages mapped again"]
)
def test_an_output_that_is_the_memory_of_an_input_is_a_doubt(text: str, sandbox: Sandbox, tmp_path: Path) -> None:
    found = judged(sandbox, text, tmp_path)
    assert found.outcome is Outcome.CORRECT, found.feedback
    (doubt,) = findings_of(found)
    assert doubt.startswith(f"{SHARED}: output 1 is")


@pytest.mark.slow
def test_an_output_that_is_one_for_the_original_too_is_none(sandbox: Sandbox, tmp_path: Path) -> None:
    found = judged(sandbox, HONEST, tmp_path)
    assert (found.outcome, findings_of(found)) == (Outcome.CORRECT, ())


def certificate_of(text: str, folder: Path) -> Certificate:
    (folder / "reference.py").write_text(HEAD + REFERENCE)
    problem = load(folder / "reference.py").problem
    return anyio.run(certify, problem, problem.program.with_text(HEAD + text), {}, 0)


@pytest.mark.slow
def test_a_certificate_has_the_doubt_too(tmp_path: Path) -> None:
    found = certificate_of(VIEW, tmp_path)
    assert any(words.startswith(f"{SHARED}: output 1 is") for words in found.doubts), (found.doubts, found.refused)
    assert not found.trusted


@pytest.mark.slow
def test_a_certificate_of_a_copy_has_none(tmp_path: Path) -> None:
    found = certificate_of(HONEST, tmp_path)
    assert not any(words.startswith(SHARED) for words in found.doubts) and not found.given_only


def test_what_one_session_of_a_confirmation_saw_is_told_and_once() -> None:
    held = RaceResult([], "tie", None)
    first, second = (
        Sitting(held, words, (0.0, 0.0)) for words in (("it took 0.5 s",), ("it took 0.7 s", f"{SHARED}: output 1 is"))
    )
    assert seen_in([first, second]) == ("it took 0.5 s", f"{SHARED}: output 1 is")


def test_what_the_run_found_and_its_certificate_did_not_stays_a_doubt() -> None:
    certified = ("no control", f"{SHARED}: output 1 is")
    measured = ("no certificate", f"{SHARED}: output 1, 2 is", f"{LOST}: 4 %")
    assert united(certified, measured) == (*certified, f"{LOST}: 4 %")
