"""What is kept of texts: the last ones, and no more letters than are allowed."""

from __future__ import annotations

from maxcode.evaluate.repo.kept_texts import AT_MOST, kept


def test_the_texts_asked_about_last_are_kept_and_large_ones_push_the_others_out() -> None:
    asked: list[str] = []

    @kept
    def first(text: str) -> str:
        asked.append(text[:1])
        return text[:1]

    half = "x" * (AT_MOST // 2)
    for text in ("a", "b", "a", half, "a", "c" + half, "a", "b", half):
        assert first(text) == text[:1]
    assert asked == ["a", "b", "x", "c", "b", "x"]
