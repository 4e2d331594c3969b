"""Records the calls of one function in the user's own Python process; never imported by maxcode.

It is put on PYTHONPATH as ``sitecustomize.py``, beside the codec.  ``MAXCODE_CAPTURE`` holds JSON: ``module``,
``function``, ``folder`` for what is recorded, ``most`` calls of one process.  Each process appends to files of its own.
What the user's code sees is what it would see without: iterators are never used up, and items are handed on one by one.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from types import FunctionType, ModuleType
from typing import Any

MOST_BYTES = 16 << 20  # of a call
MOST_ITEMS = 1 << 20  # of an iterator that a call gives
MOST_TOTAL = 256 << 20  # of all calls of a process


class Recorder:
    """Writes down the outermost calls of a function: arguments, result or exception, arguments afterwards."""

    def __init__(self, asked: dict[str, Any]) -> None:
        import codec  # type: ignore[import-not-found,unused-ignore]

        self.codec, self.asked = codec, asked
        self.iterators, codec.ITERATORS = codec.ITERATORS, frozenset()  # to write one down would use it up
        self.named = {f"a {one.__module__}.{one.__qualname__}" for one in self.iterators}
        self.inside = threading.local()
        self.known: set[int] = set()
        self.total = 0

    def note(self, words: str) -> None:
        self.append("notes", (words + "\n").encode())

    def append(self, kind: str, data: bytes) -> None:
        path = os.path.join(self.asked["folder"], f"{kind}-{os.getpid()}")
        with open(path, "ab") as file:
            file.write(data)

    def wrapped(self, function: Callable[..., Any], owner: type | None) -> Callable[..., Any]:
        """The function, or the method of a class, recording.  Of a method what it is called on is left out: it is made
        anew for the problem, without arguments."""

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if getattr(self.inside, "on", False) or len(self.known) >= self.asked["most"]:
                return function(*args, **kwargs)
            if owner is None:
                return self.call(function, args, kwargs)
            if not args or type(args[0]) is not owner:
                return function(*args, **kwargs)
            return self.call(functools.partial(function, args[0]), args[1:], kwargs)

        for name in {*dir(function)} - {*dir(recorded)}:  # such as ``cache_clear``
            with contextlib.suppress(AttributeError):
                setattr(recorded, name, getattr(function, name))
        return recorded

    def quietly(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of a call, in which no call is recorded."""
        self.inside.on = True
        try:
            return function(*args, **kwargs)
        finally:
            self.inside.on = False

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        given = self.quietly(self.message, [(args, kwargs)])
        if given is None:
            return self.quietly(function, *args, **kwargs)
        encoder = self.codec.Encoder()
        try:
            result = self.quietly(function, *args, **kwargs)
        except Exception as error:
            encoder.raised(error)
            self.keep(given, self.message([(args, kwargs)], encoder))
            raise
        if type(result) in self.iterators:
            return self.watched(given, result, (args, kwargs))
        self.keep(given, self.message([result, (args, kwargs)], encoder))
        return result

    def watched(self, given: bytes, result: Any, arguments: Any) -> Generator[Any, Any, Any]:
        """Hands on the items of an iterator that a call gave; the call is kept when all of them are taken."""
        items: list[Any] = []
        sent, is_kept, why = None, True, "an iterator that is not used to its end, or fails"
        try:
            while True:
                one = self.quietly(next, result) if sent is None else self.quietly(result.send, sent)
                if is_kept:
                    items.append(one)
                sent = yield one
                if sent is not None or len(items) == MOST_ITEMS:
                    is_kept, why = False, "an iterator that is sent values, or has too many items"
                    items.clear()
        except StopIteration as stop:
            if is_kept:
                why = ""
                self.keep(given, self.message([arguments], items=items))
            return stop.value
        finally:
            if why:
                self.note(f"refused {why}")

    def message(self, values: list[Any], encoder: Any = None, items: list[Any] | None = None) -> bytes | None:
        """The values as bytes, behind an iterator of ``items``, if there are some; None, with a note, where one of them
        cannot be recorded."""
        encoder = encoder or self.codec.Encoder()
        try:
            if items is not None:
                encoder.is_known(items)  # so that the iterator has its number
                encoder.out += b"g"
                encoder.items(items)
            for value in values:
                encoder.node(value)
        except self.codec.Refused as refused:
            is_iterator = str(refused) in self.named
            self.note(f"refused {refused}{' (an iterator, which writing down would use up)' if is_iterator else ''}")
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
        key = hash((given, found))
        if key in self.known:
            return
        self.known.add(key)
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
    """Loads with another loader, then wraps the function, or the method."""

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
        of, _, last = name.rpartition(".")
        owner = getattr(module, of, None) if of else None
        function = inspect.getattr_static(owner, last, None) if of else getattr(module, name, None)
        is_method = isinstance(owner, type) and type(function) is FunctionType
        if not callable(function) or not (is_method if of else not isinstance(function, type)):
            self.recorder.note(f"absent {name}")
            return
        place = getattr(owner if of else function, "__module__", module.__name__)
        if place != module.__name__:
            self.recorder.note(f"elsewhere {place}")
            return
        setattr(owner if of else module, last, self.recorder.wrapped(function, owner if of else None))
        parent = sys.modules.get(module.__name__.rpartition(".")[0])
        said = {
            "file": os.path.abspath(module.__file__ or ""),
            "package": [os.path.abspath(one) for one in getattr(parent, "__path__", [])],
            "prefix": sys.prefix if sys.prefix != sys.base_prefix else "",
            "python": sys.executable,
        }
        self.recorder.append("module", json.dumps(said).encode() + b"\n")


def start() -> None:
    asked = json.loads(os.environ["MAXCODE_CAPTURE"])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    recorder = Recorder(asked)
    recorder.append("started", sys.version.partition(" ")[0].encode() + b"\n")
    sys.meta_path.insert(0, Finder(recorder))
    sys.path[:] = [one for one in sys.path if os.path.abspath(one) != here]
    hidden = importlib.machinery.PathFinder.find_spec("sitecustomize")  # the environment's own
    if hidden is not None and hidden.loader is not None:
        hidden.loader.exec_module(importlib.util.module_from_spec(hidden))


if "MAXCODE_CAPTURE" in os.environ:
    start()
