"""Where a Python function spends its time, and what it leaves, inside the sandbox; never imported by maxcode.

A candidate shares this process, so what it prints is read as its own words (``python/spots.py``).
"""

from __future__ import annotations

import contextlib
import cProfile
import json
import pickle
import reprlib
import sys
import time
from collections.abc import Callable
from typing import Any

PROFILED_S = 3.0  # each of the calls is made three times
TOLD = 3  # calls that prompts show
CALLS = "the calls begin here"  # what comes after this line, the calls print


def profile_calls(meta: dict[str, Any], driver: Any) -> None:
    """CPU seconds of some calls, of handing over, and seconds by function, as JSON: on the calls that a candidate may
    see."""
    function, make = driver.load_function(meta), driver.maker(meta)
    call_s = handing_s = 0.0
    began = time.perf_counter()
    seen, calls = cProfile.Profile(), len(driver.recorded_calls())
    before: dict[str, bytes] = {}
    told: list[str] = []
    print(f"\n{CALLS}", flush=True)
    for number in range(calls):
        timed_call(driver, function, driver.message(make, [number]))  # warm
        before = before or held(function)
        found = timed_call(driver, function, driver.message(make, [number]))
        call_s, handing_s = call_s + found[0], handing_s + found[1]
        args, kwargs = make(number)
        if len(told) < TOLD:
            told.append(arguments_as_text(args, kwargs))
        with contextlib.suppress(Exception):
            seen.runcall(function, *args, **kwargs)
        if time.perf_counter() - began > PROFILED_S:
            break
    if calls:  # another input than the first, for which it leaves other things
        timed_call(driver, function, driver.message(make, [calls - 1]))
    after = held(function)
    spots = [[one.code if isinstance(one.code, str) else place_of(one.code), one.inlinetime] for one in seen.getstats()]
    sys.stdout.flush()
    print()
    left = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    json.dump({"call_s": call_s, "handing_s": handing_s, "spots": spots, "left": left, "told": told}, sys.stdout)


def arguments_as_text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The arguments of a call as its caller may have written them; of long ones the beginning and the end."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    with contextlib.suppress(Exception):
        return ", ".join([*map(short.repr, args), *(f"{name}={short.repr(one)}" for name, one in kwargs.items())])
    return "..."


def held(function: Any) -> dict[str, bytes]:
    """What stays when a call is over: the attributes of the object whose method it is, and the globals of its file."""
    owner = getattr(function, "__self__", None)
    found = {f"self.{name}": one for name, one in getattr(owner, "__dict__", {}).items()}
    plain = getattr(function, "__func__", getattr(function, "__wrapped__", function))
    found |= {name: one for name, one in getattr(plain, "__globals__", {}).items() if not name.startswith("__")}
    return {name: as_bytes(one) for name, one in found.items()}


def as_bytes(value: Any) -> bytes:
    try:
        return pickle.dumps(value, 5)
    except Exception:  # such as a module, or a lock
        return type(value).__qualname__.encode()


def place_of(code: Any) -> str:
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}"


def timed_call(driver: Any, function: Callable[..., Any], given: bytes) -> tuple[float, float]:
    """CPU seconds of a call, and of reading its arguments and writing down its result."""
    began = time.process_time()
    reader = driver.decoder.Decoder(driver.decoder.parts_of(memoryview(bytearray(given))))
    reader.number()
    args, kwargs = reader.node()
    called = time.process_time()
    try:
        result = function(*args, **kwargs)
    except Exception:
        result = None
    returned = time.process_time()
    driver.codec.Encoder().node(result)
    return returned - called, time.process_time() - returned + called - began
