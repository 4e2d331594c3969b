"""Records the calls of one function in the user's own Python process; never imported by maxcode.

It is put on PYTHONPATH as ``sitecustomize.py``, beside the codec.  ``MAXCODE_CAPTURE`` holds JSON: ``module``,
``function``, ``folder`` for what is recorded, ``most`` calls of one process.  Each process appends to files of its own.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

MOST_BYTES = 16 << 20  # of a call
MOST_TOTAL = 256 << 20  # of all calls of a process


class Recorder:
    """Writes down the outermost calls of a function: arguments, result or exception, arguments afterwards."""

    def __init__(self, asked: dict[str, Any]) -> None:
        import codec  # type: ignore[import-not-found,unused-ignore]

        self.codec, self.asked = codec, asked
        self.inside = threading.local()
        self.known: set[int] = set()
        self.total = 0

    def note(self, words: str) -> None:
        self.append("notes", (words + "\n").encode())

    def append(self, kind: str, data: bytes) -> None:
        path = os.path.join(self.asked["folder"], f"{kind}-{os.getpid()}")
        with open(path, "ab") as file:
            file.write(data)

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if getattr(self.inside, "on", False) or len(self.known) >= self.asked["most"]:
                return function(*args, **kwargs)
            self.inside.on = True
            try:
                return self.call(function, args, kwargs)
            finally:
                self.inside.on = False

        return recorded

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        given = self.message([(args, kwargs)])
        encoder = self.codec.Encoder()
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            encoder.raised(error)
            self.keep(given, self.message([(args, kwargs)], encoder))
            raise
        if type(result) in self.codec.ITERATORS:
            items = list(result)
            self.keep(given, self.message([iter(items), (args, kwargs)], encoder))
            return (one for one in items)
        self.keep(given, self.message([result, (args, kwargs)], encoder))
        return result

    def message(self, values: list[Any], encoder: Any = None) -> bytes | None:
        """The values as bytes; None, with a note, where one of them cannot be recorded."""
        encoder = encoder or self.codec.Encoder()
        try:
            for value in values:
                encoder.node(value)
        except self.codec.Refused as refused:
            self.note(f"refused {refused}")
            return None
        return bytes(self.codec.whole(encoder))

    def keep(self, given: bytes | None, found: bytes | None) -> None:
        if given is None or found is None:
            return
        size = len(given) + len(found)
        if size > MOST_BYTES or self.total + size > MOST_TOTAL:
            self.note("refused a call that is too large")
            return
        self.note("call")
        if hash(given) in self.known:
            return
        self.known.add(hash(given))
        self.total += size
        pack = self.codec.PART.pack
        self.append("calls", pack(len(given)) + given + pack(len(found)) + found)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the module with the other finders, and wraps its function once it is loaded."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != self.recorder.asked["module"]:
            return None
        others = (one for one in sys.meta_path if one is not self and hasattr(one, "find_spec"))
        spec = next((found for one in others if (found := one.find_spec(name, path, target)) is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, self.recorder)
        return spec


class Loader(importlib.abc.Loader):
    """Loads with another loader, then wraps the function."""

    def __init__(self, inner: Any, recorder: Recorder) -> None:
        self.inner, self.recorder = inner, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        found: ModuleType | None = self.inner.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        name = self.recorder.asked["function"]
        function = getattr(module, name, None)
        if not callable(function) or isinstance(function, type):
            self.recorder.note(f"absent {name}")
            return
        if getattr(function, "__module__", module.__name__) != module.__name__:
            self.recorder.note(f"elsewhere {function.__module__}")
            return
        setattr(module, name, self.recorder.wrapped(function))
        parent = sys.modules.get(module.__name__.rpartition(".")[0])
        said = {
            "file": os.path.abspath(module.__file__ or ""),
            "package": [os.path.abspath(one) for one in getattr(parent, "__path__", [])],
            "prefix": sys.prefix if sys.prefix != sys.base_prefix else "",
        }
        self.recorder.append("module", json.dumps(said).encode() + b"\n")


def start() -> None:
    asked = json.loads(os.environ["MAXCODE_CAPTURE"])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    sys.meta_path.insert(0, Finder(Recorder(asked)))
    sys.path[:] = [one for one in sys.path if os.path.abspath(one) != here]


if "MAXCODE_CAPTURE" in os.environ:
    start()
