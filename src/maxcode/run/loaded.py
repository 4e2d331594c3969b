"""Loads the problem of a request."""

from __future__ import annotations

from dataclasses import replace

from maxcode.problems import Loaded, load
from maxcode.problems.small_shapes import shaped
from maxcode.run.request import Request


def loaded_of(request: Request) -> tuple[Loaded, Request]:
    """Loads the problem in the requested shapes; the returned request holds these shapes as overrides."""
    overrides = shaped(request.source, request.tests, request.overrides, request.shapes)
    return load(request.source, request.tests, overrides), replace(request, overrides=overrides)
