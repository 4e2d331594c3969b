"""What is told on stderr while something runs: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self, final

from rich.console import Console
from rich.live import Live
from rich.text import Text


@final
class Display:
    """One line that says what is going on now, and lines that stay."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, refresh_per_second=4) if self._console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def is_live(self) -> bool:
        """Whether ``say`` overwrites what it said before."""
        return self._live is not None

    def say(self, text: str) -> None:
        """What is going on now."""
        if self._live is not None:
            self._live.update(Text(text))
        else:
            self.note(text)

    def note(self, text: str) -> None:
        """A line that stays."""
        if self._live is not None:
            self._console.print(text)
        else:
            print(text, file=sys.stderr, flush=True)
