"""The rule of a race for tests in which the figure is not the point."""

from __future__ import annotations

from maxcode.core.stats import RaceRule

# Nine pairs are the fewest that can prove a gain at alpha 0.01, and then every one of them must be won: for gains that
# no other load on the machine hides.
SHORT = RaceRule(confirm_least=9, confirm_most=9)
