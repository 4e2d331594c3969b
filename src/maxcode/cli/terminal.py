"""All output of the command line: no control character of a program or a file reaches the terminal.

Progress lines go through ``maxcode.run.display``, which does the same.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from io import StringIO
from types import TracebackType
from typing import Any

import click

from maxcode.core.printable import printable, printable_json


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Prints lines for people on stdout, or on stderr."""
    click.echo(printable(str(text)), err=err, nl=nl)


def echo_json(text: str) -> None:
    """Prints one JSON document on stdout."""
    click.echo(printable_json(text))


def echo_usage(error: click.ClickException) -> None:
    """Prints an error of the options, which repeats what the user wrote; a missing option with what it is."""
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        error = click.MissingParameter(error.param.help, error.ctx, error.param)
    told = StringIO()
    error.show(told)
    echo(told.getvalue(), err=True, nl=False)


def guard() -> None:
    """Makes printable what Python itself prints in this process: warnings, lines of loggers, and tracebacks."""
    warnings.formatwarning = _warning
    logging.setLogRecordFactory(_Record)
    sys.excepthook = _traceback
    threading.excepthook = lambda ended: _traceback(ended.exc_type, ended.exc_value, ended.exc_traceback)


class _Record(logging.LogRecord):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if self.exc_info is not None and self.exc_info[0] is not None:
            self.exc_text = printable("".join(traceback.format_exception(*self.exc_info)).rstrip())

    def getMessage(self) -> str:  # noqa: N802  the name is Python's
        return printable(super().getMessage())


_format_warning = warnings.formatwarning


def _warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    return printable(_format_warning(message, category, filename, lineno, line))


def _traceback(kind: type[BaseException], error: BaseException | None, at: TracebackType | None) -> None:
    echo("".join(traceback.format_exception(kind, error, at)), err=True, nl=False)
