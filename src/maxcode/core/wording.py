"""Counts and durations in words, for messages and reports."""

from __future__ import annotations


def number_of(count: int, noun: str) -> str:
    """A number of things: ``1 pair``, ``2 pairs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Seconds in readable units."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
