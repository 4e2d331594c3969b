"""Runs one side of a Python function inside the sandbox; never imported by maxcode.

    driver.py calls|idle|describe|make|check|profile|replay

What it does for a candidate is trusted no more than the candidate, whose process it shares: what counts is read by the
shim outside.  ``/src/meta.json`` says which function, and the layout of the exchange memory (``shim_calls.h``):
descriptors 4 the memory, 5 go, 6 done.  In ``calls`` each part of a round hands over the arguments of some calls; each
is decoded when the one before has returned, and its result is encoded before the next begins, all under the clock.
``idle`` is the same with a function that does nothing.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
import inspect
import json
import mmap
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

sys.path.insert(0, "/src")
import codec  # type: ignore[import-not-found,unused-ignore]
import codec_memory  # type: ignore[import-not-found,unused-ignore]
import decoder  # type: ignore[import-not-found,unused-ignore]
from side import (  # type: ignore[import-not-found,unused-ignore]
    GUARD,
    WRONG_OUTPUT,
    begin,
    built,
    imported,
    keep_memory,
    leave,
    load_meta,
    rounds,
)

sys.path.pop(0)
for name in ("codec", "codec_memory", "decoder", "side"):
    del sys.modules[name]  # the program may have files of these names

TABLE_BYTES = 8 * (1 + 2 * 255)
TOO_LARGE = 99  # exit status of the maker where no input fits
PROGRAM = "/src/program"
DRAWS = 20  # of the inputs of a slot, at most
MOST_SHOWN = 64 << 20  # bytes of arguments
LEAST_DESCRIBED, DESCRIBED_S = 3, 5.0  # of inputs that take long to make only some are looked at


def prepare(meta: dict[str, Any]) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(meta["threads"])
    if meta["threads"] == 1:
        os.cpu_count = lambda: 1  # pools of threads and processes ask it, and workers=-1 of scipy.fft
    os.environ["NUMBA_CACHE_DIR"] = "/tmp"
    sys.dont_write_bytecode = True
    sys.path[:0] = [PROGRAM, *meta["paths"]]


def load_function(meta: dict[str, Any]) -> Callable[..., Any]:
    """The function of the program; whatever goes wrong is an error of its build."""
    return built(lambda: loaded(meta))  # type: ignore[no-any-return]


def loaded(meta: dict[str, Any]) -> Callable[..., Any]:
    name, path = meta["module"], meta["file"]
    parent, _, last = name.rpartition(".")
    beside = importlib.import_module(parent) if parent else None
    known = importlib.util.find_spec(name) if meta["known"] else None  # the installed one: data may lie beside it
    places = known.submodule_search_locations if known is not None else None
    spec: Any = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    module = importlib.util.module_from_spec(spec)
    if known is not None and known.origin is not None:
        module.__file__ = known.origin
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if beside is not None:
        setattr(beside, last, module)
    found: Any = module
    for word in meta["function"].split("."):
        found = getattr(found() if isinstance(found, type) else found, word)
    if not callable(found):
        raise TypeError(f"{meta['function']} is a {type(found).__name__}, which cannot be called")
    return found  # type: ignore[no-any-return]


class Exchange:
    """The exchange memory: for every slot, views of the arrays of these sizes."""

    def __init__(self, sizes: list[int], slots: int) -> None:
        memory = mmap.mmap(4, os.fstat(4).st_size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        whole, at = memoryview(memory), GUARD
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self.slots: list[list[memoryview]] = []
        self.addresses: list[list[int]] = []
        for _ in range(slots):
            views = []
            for size in sizes:
                views.append((whole[at : at + size], self.start + at))
                at += (size + GUARD - 1) // GUARD * GUARD + GUARD
            self.slots.append([view for view, _ in views])
            self.addresses.append([address for _, address in views])


def tell(table: memoryview, out: bytearray, parts: list[Any]) -> Any:
    """Write down where the parts of a message lie; what must stay until they are read."""
    head = ctypes.c_char.from_buffer(out)
    places = [(ctypes.addressof(head), len(out)), *((address, size) for address, size, _ in parts)]
    struct.pack_into(f"<{1 + 2 * len(places)}Q", table, 0, len(places), *(x for place in places for x in place))
    return head, out, parts


def call_rounds(meta: dict[str, Any]) -> None:
    begin()
    function = load_function(meta) if sys.argv[1] == "calls" else idle_function(meta)
    exchange = Exchange([meta["capacity"], TABLE_BYTES, TABLE_BYTES], meta["slots"])
    kept: list[Any] = []  # what the calls of a round took and gave: it must stay as it is until the round is over
    last: list[Any] = []
    encoder, after = codec.Encoder(), codec.Encoder()  # of results; of what became of arguments
    copies, past = meta["batch"] > 1, codec_memory.Past(meta["checked"])

    def answer(word: bytes) -> None:
        nonlocal encoder, after
        if word == b"a":
            kept.append(looked_at_again(exchange.slots[len(last) - 1][2], last[-1]))
            return
        if word == b"n":
            kept.clear()
            last.clear()
            encoder, after = codec.Encoder(copies), codec.Encoder()
            past.begin(encoder, decoder.parts_of(exchange.slots[0][0]), meta["slots"] * meta["batch"])
        memory, table, _ = exchange.slots[len(last)]
        reader = decoder.Decoder(decoder.parts_of(memory))
        encoder.begin({}, [])
        last.append((reader, list(calls_of(reader, function, (encoder, past), kept))))
        kept.append(tell(table, encoder.out, encoder.parts))

    def looked_at_again(table: memoryview, seen: Any) -> Any:
        """What the arguments are after the calls."""
        after.begin({}, [])
        for given in seen[1]:
            encode(after, given, "what became of the arguments")
        return tell(table, after.out, after.parts)

    keep_memory()
    rounds(answer)


def idle_function(meta: dict[str, Any]) -> Callable[..., Any]:
    """Does nothing, beside the original's modules and classes, and no garbage is collected: no side needs less."""
    load_function(meta)
    gc.disable()
    return lambda *args, **kwargs: None


def calls_of(reader: Any, function: Callable[..., Any], writing: Any, kept: list[Any]) -> Iterator[Any]:
    """Calls the function on every input of a slot, and writes its result down before the next; gives the arguments.

    ``writing``: the encoder, and the results of earlier rounds."""
    encoder, past = writing
    for _ in range(reader.number()):
        start = len(reader.objects)
        args, kwargs = reader.node()
        objects = reader.objects[start:]
        encoder.given = dict(zip(map(id, objects), range(len(objects))))  # noqa: B905
        encoder.spans = spans(objects)
        past.look(encoder)
        result = None
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            kept.append(error.with_traceback(None))
            encoder.raised(error)
        else:
            encode(encoder, result, "the result")
            kept.append(result)
        past.hold(encoder, result)
        yield args, kwargs


def encode(encoder: Any, value: Any, what: str) -> None:
    """Write a value down, or end: its process may have made it anything."""
    try:
        encoder.node(value)
    except codec.Refused as refused:
        leave(WRONG_OUTPUT, f"{what}: {refused} cannot be compared as a caller would see it")
    except Exception as error:
        leave(WRONG_OUTPUT, f"{what} cannot be read as a caller would: {type(error).__name__}: {error}")


def spans(objects: list[Any]) -> list[tuple[int, int]]:
    """The memory of the arrays and bytearrays among these objects."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return []
    arrays = [one for one in objects if type(one) is numpy.ndarray]
    arrays += [numpy.frombuffer(one, numpy.uint8) for one in objects if type(one) is bytearray and one]
    return [(one.__array_interface__["data"][0], one.__array_interface__["data"][0] + one.nbytes) for one in arrays]


# -------------------------------------------------------------------------------------------------- maker and checker


def maker(meta: dict[str, Any]) -> Callable[[int], tuple[tuple[Any, ...], dict[str, Any]]]:
    """What gives the arguments of a call: the user's ``inputs`` for a seed, or a recorded call by its number."""
    if not meta["recorded"]:
        make = imported("inputs", known=True).inputs
        return lambda seed: input_of(make, meta, seed)
    calls = recorded_calls()
    return lambda number: decoder.Decoder(decoder.parts_of(memoryview(bytearray(calls[number][0])))).node()


def recorded_calls() -> list[tuple[bytes, bytes]]:
    """The messages of the recorded calls: the arguments; the result and the arguments afterwards, if they are there."""
    with open("/src/calls.bin", "rb") as file:
        data = file.read()
    at, found = 8, []
    for _ in range(codec.PART.unpack_from(data)[0]):
        pair = []
        for _ in range(2):
            size = codec.PART.unpack_from(data, at)[0]
            pair.append(data[at + 8 : at + 8 + size])
            at += 8 + size
        found.append((pair[0], pair[1]))
    return found


def input_of(make: Callable[..., Any], meta: dict[str, Any], seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that the user's ``inputs`` gives for a seed."""
    takes_size = len(inspect.signature(make).parameters) > 1
    given = make(seed, meta["size"]) if takes_size else make(seed)
    if isinstance(given, dict) and given.keys() == {"args", "kwargs"}:
        return tuple(given["args"]), dict(given["kwargs"])
    return (given, {}) if type(given) is tuple else ((given,), {})


def message(make: Callable[[int], Any], seeds: list[int]) -> bytes:
    encoder = codec.Encoder()
    encoder.out += codec.PART.pack(len(seeds))
    for seed in seeds:
        try:
            encoder.node(make(seed))
            encoder.forget()  # no call has an object of another; theirs are gone, and their ids are given again
        except codec.Refused as refused:
            leave(WRONG_OUTPUT, f"inputs gave {refused}, which cannot be passed; give numbers, texts, arrays, ...")
    return codec.whole(encoder)  # type: ignore[no-any-return]


def describe(meta: dict[str, Any]) -> None:
    """The sizes of the messages of some inputs, how many differ, and seconds of each, as JSON.  In /tmp/out as recorded
    calls without results: those of ``seeds``, which a candidate may see."""
    make, seen = maker(meta), set()
    sizes: list[int] = []
    shown: list[bytes] = []
    began = time.monotonic()
    for seed in range(len(recorded_calls())) if meta["recorded"] else meta["seeds"]:
        if len(sizes) >= LEAST_DESCRIBED and time.monotonic() - began > DESCRIBED_S:
            break
        value = make(seed)
        made = message({seed: value}.__getitem__, [seed])
        sizes.append(len(made))
        seen.add(made)
        if seed in meta["seeds"] and (not shown or sum(map(len, shown)) + len(made) <= MOST_SHOWN):
            shown.append(without_result(value))
    with open("/tmp/out", "wb") as file:
        file.write(codec.PART.pack(len(shown)) + b"".join(shown))
    sys.stdout.flush()
    print()
    seconds = (time.monotonic() - began) / len(sizes)
    json.dump({"sizes": sizes, "different": len(seen), "seconds": seconds}, sys.stdout)


def without_result(given: Any) -> bytes:
    """A recorded call with these arguments."""
    encoder = codec.Encoder()
    encoder.node(given)
    whole = codec.whole(encoder)
    return codec.PART.pack(len(whole)) + whole + codec.PART.pack(0)  # type: ignore[no-any-return]


def make_rounds(meta: dict[str, Any]) -> None:
    """Fresh inputs for every slot from the seeds that it is given."""
    begin()
    make = maker(meta)
    exchange = Exchange([8 * meta["batch"], meta["capacity"]], meta["slots"])

    def answer(_: bytes) -> None:
        for seeds, place in exchange.slots:
            place[:] = fitting(list(struct.unpack(f"<{meta['batch']}Q", seeds)))

    def fitting(seeds: list[int]) -> bytes:
        tries = 1 if meta["recorded"] else DRAWS
        drawn = (message(make, [(seed + more * 0x9E3779B1) % (1 << 32) for seed in seeds]) for more in range(tries))
        made = next((one for one in drawn if len(one) <= meta["capacity"]), b"")
        if not made:
            leave(TOO_LARGE, f"{tries} batches of inputs in a row are more than {meta['capacity']} bytes")
        return made.ljust(meta["capacity"], b"\0")

    rounds(answer)


def check_rounds(meta: dict[str, Any]) -> None:
    """The user's verdict on the results of every slot: a byte each, 1 where it accepts."""
    begin()
    is_solution = imported("check", known=True).is_solution
    exchange = Exchange([meta["capacity"], meta["results"], meta["batch"]], meta["slots"])

    def answer(_: bytes) -> None:
        for given, results, verdicts in exchange.slots:
            verdicts[:] = bytes(len(verdicts))  # refused, unless it says otherwise
            if not codec.PART.unpack_from(given)[0]:
                continue  # nobody asks about this slot
            arguments = decoder.Decoder(decoder.parts_of(given))
            for number, result in enumerate(readable(meta, results, arguments.number())):
                args, kwargs = arguments.node()
                verdicts[number] = not isinstance(result, Raised) and accepted(args, kwargs, result)

    def accepted(args: Any, kwargs: Any, result: Any) -> bool:
        try:
            return bool(is_solution(*args, result, **kwargs))
        except Exception as error:
            sys.stderr.write(f"is_solution: {type(error).__name__}: {error}\n"[:400])
            return False

    rounds(answer)


class Raised:
    """In place of a result: the call ended in an exception."""


def is_own(meta: dict[str, Any], module: str) -> bool:
    """Whether a module is the program's, or is loaded by its main one."""
    path = f"{PROGRAM}/{module.replace('.', '/')}"
    if module == meta["module"] or any(map(os.path.exists, (f"{path}.py", f"{path}/__init__.py"))):
        return True
    importlib.import_module(meta["module"])
    return module in sys.modules


def readable(meta: dict[str, Any], results: memoryview, count: int) -> Iterator[Any]:
    """The results of the calls of a slot, up to the first that cannot be read."""
    try:
        found = decoder.Decoder(decoder.parts_of(results), partial(is_own, meta))
        for _ in range(count):
            found.objects.clear()  # a result names no object of another
            has_raised = found.data[found.at] == ord("!")
            result = found.node()
            yield Raised() if has_raised else result
    except Exception as error:
        sys.stderr.write(f"is_solution: its result cannot be read: {type(error).__name__}: {error}\n"[:400])


def replay(meta: dict[str, Any]) -> None:
    """What the function gives for every recorded call, as the recorded results are written, in /tmp/out.  A second text
    behind each says why it is empty: such a call cannot be made again."""
    function = load_function(meta)
    with open("/tmp/out", "wb") as file:
        for given, _ in recorded_calls():
            encoder, why = codec.Encoder(), ""
            try:
                args, kwargs = decoder.Decoder(decoder.parts_of(memoryview(bytearray(given)))).node()
                try:
                    result = function(*args, **kwargs)
                except Exception as error:
                    encoder.raised(error)
                else:
                    encoder.node(result)
                encoder.node((args, kwargs))
                found = codec.whole(encoder)
            except Exception as error:
                found, why = b"", f"{type(error).__name__}: {error}"[:300]
            file.write(b"".join(codec.PART.pack(len(one)) + one for one in (found, why.encode())))


ROLES = {
    "calls": call_rounds,
    "idle": call_rounds,
    "describe": describe,
    "make": make_rounds,
    "check": check_rounds,
    "profile": lambda meta: imported("profiling").profile_calls(meta, sys.modules["__main__"]),
    "replay": replay,
}


def main() -> None:
    meta = load_meta()
    prepare(meta)
    ROLES[sys.argv[1]](meta)


main()
