"""Certificates of earlier formats are judged by what they were made by: who wins each pair."""

from __future__ import annotations

from maxcode.core.stats import RaceRule, is_faster
from maxcode.run.certificate.earlier_formats import shown_by_signs

RULE = RaceRule()


def test_evidence_from_signs_does_not_mind_one_large_loss() -> None:
    assert shown_by_signs([1.05] * 12 + [0.7], RULE)
    assert shown_by_signs([1.5] * 9, RULE) and not shown_by_signs([1.5] * 8, RULE)
    assert not shown_by_signs([1.05, 0.96] * 10, RULE)


def test_evidence_of_today_is_shown_by_the_rule_of_today() -> None:
    assert is_faster([1.05] * 12, RULE) and not is_faster([1.05, 0.96] * 10, RULE)
