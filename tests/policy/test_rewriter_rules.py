"""Every rule fires where it should, and the program still says the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maxcode.policy.rules.rewriter.rules import RULES
from tests.support.rewriter_help import (
    FIRE,
    OF_ARRAYS,
    input_of,
    labels,
    language_of,
    names_of_rules,
    rewritten,
    text_of,
)

Runner = Callable[..., str]
INEXACT = ("split_sum", "product_pow", "fast_math")


def test_every_rule_is_tried_on_a_program() -> None:
    tried = {rule for rules in FIRE.values() for rule in rules} | {*INEXACT, *OF_ARRAYS}
    assert tried == names_of_rules()


@pytest.mark.parametrize(("program", "rule"), [(program, rule) for program, rules in FIRE.items() for rule in rules])
def test_a_rule_fires_on_its_program(program: str, rule: str) -> None:
    """``retune`` needs something to tune."""
    text, language = text_of(program), language_of(program)
    if rule == "retune":
        text = rewritten(text, "unroll", language, sites=1)
    assert labels(rule, text, language), f"{rule} does not fire on {program}"


@pytest.mark.parametrize("program", FIRE)
@pytest.mark.parametrize(
    "pick",
    [pytest.param(0, id="first-parameters"), pytest.param(-1, id="last-parameters", marks=pytest.mark.slow)],
)
def test_rules_together_keep_the_output(program: str, pick: int, compile_and_run: Runner) -> None:
    language, text = language_of(program), text_of(program)
    wanted = compile_and_run(text, input_of(program), language)
    for rule in FIRE[program]:
        text = rewritten(text, rule, language, pick)
    assert text != text_of(program)
    assert compile_and_run(text, input_of(program), language) == wanted


def test_inexact_rules_keep_the_output_within_a_tolerance(compile_and_run: Runner) -> None:
    text = text_of("inexact.cpp")
    wanted = compile_and_run(text, input_of("inexact.cpp"))
    for rule in INEXACT:
        assert labels(rule, text)
        text = rewritten(text, rule)
    found = compile_and_run(text, input_of("inexact.cpp"))
    assert [float(word) for word in found.split()] == pytest.approx([float(word) for word in wanted.split()], rel=1e-6)


def test_the_tied_streams_and_the_runtime_agree(compile_and_run: Runner) -> None:
    """``sync_off`` alone, on a program that uses no C stdio."""
    text = text_of("streams.cpp").replace("ios_base::sync_with_stdio(true);", "")
    assert labels("sync_off", text) == ["sync_off(buffer=0)", "sync_off(buffer=65536)"]
    wanted = compile_and_run(text, input_of("streams.cpp"))
    assert compile_and_run(rewritten(text, "sync_off", pick=-1, sites=1), input_of("streams.cpp")) == wanted


def test_every_rule_says_what_it_does_and_when() -> None:
    for rule in RULES:
        assert rule.summary.endswith("."), rule.name
        assert 20 < len(rule.summary) < 140, rule.name


def test_folklore_comes_last() -> None:
    priors = {rule.name: rule.prior for rule in RULES}
    folklore = {"pragma_target", "pragma_optimize", "anonymous_namespace", "attribute"}
    assert max(priors[name] for name in folklore) <= min(
        prior for name, prior in priors.items() if name not in folklore
    )
    assert [rule.prior for rule in RULES] == sorted(priors.values(), reverse=True)
