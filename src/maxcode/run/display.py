"""Progress output: a live line on a terminal and in a notebook, else plain lines on stderr; control characters are
shown as escapes."""

from __future__ import annotations

import sys
import threading
import time
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self, final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from maxcode.core.printable import printable


class Screen(Protocol):
    """The output device.  ``is_live``: whether ``say`` overwrites its previous text."""

    @property
    def is_live(self) -> bool: ...

    def open(self) -> None: ...

    def say(self, text: str) -> None: ...

    def note(self, text: str) -> None: ...

    def close(self) -> None: ...


@final
class Display:
    """One line for the current activity, and lines that stay."""

    def __init__(self) -> None:
        self._screen = _screen()

    def __enter__(self) -> Self:
        self._screen.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._screen.close()

    @property
    def is_live(self) -> bool:
        """Whether ``say`` overwrites its previous text."""
        return self._screen.is_live

    def say(self, text: str) -> None:
        """Shows the current activity."""
        self._screen.say(printable(text))

    def note(self, text: str) -> None:
        """Adds a line that stays."""
        self._screen.note(printable(text))


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    return Console().is_jupyter


def _screen() -> Screen:
    if in_notebook():
        return NotebookScreen(import_module("IPython.display"))
    console = Console(stderr=True, highlight=False)
    return TerminalScreen(console) if console.is_terminal else PlainScreen()


@final
class TerminalScreen:
    """A terminal: the overwritten line is below the lines that stay."""

    is_live = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=4)

    def open(self) -> None:
        self._live.start()

    def say(self, text: str) -> None:
        self._live.update(Text(text))

    def note(self, text: str) -> None:
        self._console.print(Text(text))  # Text: no markup, because a program may have written it

    def close(self) -> None:
        self._live.stop()


@final
class NotebookScreen:
    """One output of a cell, as plain text that is replaced as a whole."""

    is_live = True

    def __init__(self, ipython_display: Any) -> None:
        self._display = ipython_display.display
        self._handle: Any = None
        self._notes: list[str] = []
        self._now = ""

    def open(self) -> None:
        self._handle = self._display(_plain(""), raw=True, display_id=True)

    def say(self, text: str) -> None:
        self._now = text
        self._show()

    def note(self, text: str) -> None:
        self._notes.append(text)
        self._show()

    def _show(self) -> None:
        self._handle.update(_plain("\n".join([*self._notes, self._now])), raw=True)

    def close(self) -> None:
        pass


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}


@final
class PlainScreen:
    """Lines on stderr, one after another.  After ``quiet_s`` seconds without one the current activity is shown again,
    then after twice as long, and so on: a log that stands still looks like a program that hangs."""

    is_live = False

    def __init__(self, quiet_s: float = 60.0) -> None:
        self._quiet_s = quiet_s
        self._now, self._since = "", time.monotonic()
        self._spoke = threading.Event()
        self._is_closed = False

    def open(self) -> None:
        threading.Thread(target=self._remind, daemon=True).start()

    def say(self, text: str) -> None:
        self._now, self._since = text, time.monotonic()
        self.note(text)

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)
        self._spoke.set()

    def close(self) -> None:
        self._is_closed = True
        self._spoke.set()

    def _remind(self) -> None:
        pause = self._quiet_s
        while not self._is_closed:
            if self._spoke.wait(pause):
                self._spoke.clear()
                pause = self._quiet_s
            elif self._now:
                seconds = time.monotonic() - self._since
                print(f"still at this, {seconds:.0f} s later: {self._now}", file=sys.stderr, flush=True)
                pause *= 2
