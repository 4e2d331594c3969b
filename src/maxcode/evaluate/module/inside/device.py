"""The driver's roles on a GPU: the probe, and rounds in two parts; runs in the sandbox, as a part of driver.py.

'p' (not timed): fresh inputs go to the GPU, freed memory is filled with NaN, the L2 cache with other data, the share of
it that may be kept is given back, and all of the device is waited for.  'g' (timed outside): the calls, a wait for all
of the device, so that no stream is left out, and the outputs back to the host.  Two figures come with the outputs:
seconds by CUDA events, against which the clock outside is held, and the seconds that such a copy of outputs takes by
itself, which only the reference, being trusted, is asked for.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import importlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

REPORT = {"dtype": "float64", "shape": [2], "bytes": 16}  # seconds by events; seconds of a copy alone
LEAST_FLUSH = 64 << 20
LIBRARY = "libcuda.so.1"


def probe(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """The GPU as JSON (``gpu.Gpu``); an error where torch sees none."""
    about = torch.cuda.get_device_properties(0)
    torch.zeros(1, device="cuda")
    found = {
        "name": about.name,
        "sms": about.multi_processor_count,
        "memory_mb": about.total_memory >> 20,
        "l2_mb": about.L2_cache_size >> 20,
        "capability": [about.major, about.minor],
        "cuda": str(torch.version.cuda),
    }
    print()
    json.dump(found, sys.stdout)


def call_rounds(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """Rounds of a side; see this file's head."""
    settle, reset = whole_device()
    torch.cuda.init()
    ready(meta)
    driver.use_what_was_built(meta)
    driver.begin()
    module = driver.load_file(meta)
    model = driver.construct(torch, meta, module).to("cuda")
    called = torch.compile(model) if meta["compile"] else model
    wanted = [one for one in meta["inputs"] if "dtype" in one]
    exchange = driver.Exchange(torch, [*wanted, *meta["outputs"], REPORT], meta["slots"])
    pin(torch, exchange)
    round_ = Round(torch, meta, driver, exchange.slots)

    def answer(word: bytes) -> None:
        if word == b"p":
            round_.prepare(settle, reset)
        else:
            round_.answer(called, settle)

    driver.rounds(answer)


def once(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """Two calls on random inputs, for a profiler that watches from outside."""
    ready(meta)
    driver.use_what_was_built(meta)
    model = driver.placed(torch, meta, driver.construct(torch, meta, driver.load_file(meta)))
    with torch.no_grad():
        for _ in range(2):
            model(*driver.arguments(meta["inputs"], driver.random_inputs(torch, meta)))
    driver.settle(torch, meta)


def whole_device() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Waiting for everything on the device, and giving back what is kept in L2, by the driver's own library: nothing
    that a module may replace stands between."""
    library = ctypes.CDLL(LIBRARY)
    return library.cuCtxSynchronize, library.cuCtxResetPersistingL2Cache


def pin(torch: Any, exchange: Any) -> None:
    """Make the exchange memory known to CUDA, so that copies go at full speed; without it they are right and slower."""
    whole = torch.frombuffer(exchange.memory, dtype=torch.uint8)
    with contextlib.suppress(Exception):
        torch.cuda.cudart().cudaHostRegister(whole.data_ptr(), whole.numel(), 0)


def driver_library() -> str:
    """The path of the driver's library, as the loader has found it."""
    ctypes.CDLL(LIBRARY)
    with open("/proc/self/maps") as maps:
        return next((words[-1] for words in map(str.split, maps) if "/libcuda.so" in words[-1]), "")


class Round:
    """One side's inputs on the device, and what is known of its last round."""

    def __init__(self, torch: Any, meta: dict[str, Any], driver: Any, slots: list[list[Any]]) -> None:
        self.torch, self.meta, self.driver, self.slots = torch, meta, driver, slots
        self.count = sum("dtype" in one for one in meta["inputs"])
        self.given: list[list[Any]] = []
        self.sums: list[Any] = []
        self.copy_s = 0.0
        size = max(LEAST_FLUSH, 2 * torch.cuda.get_device_properties(0).L2_cache_size)
        self.flush = torch.empty(size, dtype=torch.uint8, device="cuda")
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def prepare(self, settle: Callable[[], Any], reset: Callable[[], Any]) -> None:
        """Part 'p'."""
        torch = self.torch
        settle()
        if [fingerprint(torch, one) for slot in self.given for one in slot] != self.sums:
            self.driver.leave(self.driver.WRONG_OUTPUT, "forward changed its inputs")
        self.given = []
        self.copy_s = self.copying(settle)
        self.given = [[one.to("cuda") for one in slot[: self.count]] for slot in self.slots]
        self.sums = [fingerprint(torch, one) for slot in self.given for one in slot]
        self.poison()
        reset()
        self.flush.add_(1)
        settle()

    def poison(self) -> None:
        """NaN in freed memory as large as the outputs: whoever reads it finds none of an earlier call."""
        for one in [self.poisoned(one) for one in self.wanted()]:
            del one

    def poisoned(self, array: dict[str, Any]) -> Any:
        """An array on the device of NaN, or of -1."""
        raw = self.torch.full((max(array["bytes"], 1),), 255, dtype=self.torch.uint8, device="cuda")[: array["bytes"]]
        return raw.view(self.driver.dtype_of(self.torch, array["dtype"])).reshape(array["shape"])

    def wanted(self) -> Iterator[dict[str, Any]]:
        for _ in self.slots:
            yield from self.meta["outputs"]

    def copying(self, settle: Callable[[], Any]) -> float:
        """Seconds that outputs of this size take to the host by themselves."""
        made = [self.poisoned(one) for one in self.wanted()]
        places = [place for slot in self.slots for place in slot[self.count : -1]]
        settle()
        started = time.perf_counter()
        for place, one in zip(places, made, strict=True):
            place.copy_(one)
        settle()
        return time.perf_counter() - started

    def answer(self, called: Any, settle: Callable[[], Any]) -> None:
        """Part 'g'."""
        torch, outputs = self.torch, self.meta["outputs"]
        self.events[0].record()
        with torch.no_grad():
            found = [called(*self.driver.arguments(self.meta["inputs"], slot)) for slot in self.given]
        settle()
        for slot, returned in zip(self.slots, found, strict=True):
            for place, one in zip(slot[self.count : -1], self.driver.outputs_of(torch, returned, outputs), strict=True):
                if not one.is_cuda:
                    self.driver.leave(self.driver.WRONG_OUTPUT, "the output is not on the GPU")
                place.copy_(one)
        self.events[1].record()
        settle()
        self.slots[0][-1][0] = self.events[0].elapsed_time(self.events[1]) / 1e3
        self.slots[0][-1][1] = self.copy_s


def fingerprint(torch: Any, one: Any) -> int:
    """A sum over the bits of a tensor."""
    if one.numel() * one.element_size() % 4 or not one.is_contiguous():
        return int(one.double().sum().nan_to_num())
    return int(one.reshape(-1).view(torch.int32).sum(dtype=torch.int64))


# ------------------------------------------------------------------------------------ what compiles lazily, once


def listen(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """Before a build: what nvcc says is kept, whoever calls it, and what Triton compiles lies in the scratch folder."""
    wrapper = driver.SCRATCH + "/nvcc"
    with open(wrapper, "w") as file:
        file.write(
            f'#!/bin/sh\n"$CUDA_HOME/bin/nvcc" -Xptxas -v "$@" >{wrapper}.$$.log 2>&1\n'
            f"status=$?\ncat {wrapper}.$$.log\nexit $status\n"
        )
    os.chmod(wrapper, 0o755)
    os.environ["PYTORCH_NVCC"] = wrapper
    os.environ["TRITON_CACHE_DIR"] = driver.SCRATCH + "/triton"


def pack(archive: Any, meta: dict[str, Any], driver: Any) -> None:
    """After a build: nvcc's words, and Triton's cache.  To find things there, Triton asks other programs for the
    version of its ptxas, and for what this platform is: both answers go along."""
    kept = driver.SCRATCH + "/triton"
    if os.path.isdir(kept):
        compiler: Any = importlib.import_module("triton.backends.nvidia.compiler")
        version = str(compiler.get_ptxas_version(int(os.environ["MAXCODE_CUDA_ARCH"].strip("sm_af"))))
        with open(kept + "/asked.json", "w") as file:
            json.dump({"ptxas": version, "architecture": platform.architecture()}, file)
        for path in glob.glob(kept + "/**/*.ptx", recursive=True):
            words(path, compiler)
        for path in glob.glob(kept + "/**/__grp__*", recursive=True):
            moved(path, kept, meta["natives"] + "/triton")
        for path in sorted(glob.glob(kept + "/**/*", recursive=True)):
            if os.path.isfile(path):
                archive.add(path, "triton/" + os.path.relpath(path, kept))
    for path in glob.glob(driver.SCRATCH + "/*.log"):
        archive.add(path, os.path.basename(path))


def words(path: str, compiler: Any) -> None:
    """What ptxas says of a kernel of Triton's, beside the logs of nvcc."""
    arch = int(os.environ["MAXCODE_CUDA_ARCH"].strip("sm_af"))
    with open(path) as file:
        named = re.search(r"^\.target (\w+)", file.read(), re.MULTILINE)
    tool, chosen = compiler.get_ptxas(arch).path, named[1] if named is not None else f"sm_{arch}"
    said = subprocess.run(
        [tool, "-v", f"--gpu-name={chosen}", path, "-o", "/dev/null"], capture_output=True, check=False
    )
    with open(f"{path.partition('/triton/')[0]}/{os.path.basename(path)}.log", "wb") as file:
        file.write(said.stdout + said.stderr)


def moved(path: str, before: str, after: str) -> None:
    """Paths in one of Triton's lists of files, as they are where the calls are made."""
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace(before, after))


def ready(meta: dict[str, Any]) -> None:
    """Before calls, where nothing can be compiled and no process started: Triton reads what the build made."""
    kept = meta["natives"] + "/triton"
    if not os.path.isdir(kept):
        return
    os.environ["TRITON_CACHE_DIR"] = kept
    os.environ["TRITON_LIBCUDA_PATH"] = os.path.dirname(driver_library())
    with open(kept + "/asked.json") as file:
        asked = json.load(file)
    compiler: Any = importlib.import_module("triton.backends.nvidia.compiler")
    compiler.get_ptxas_version = lambda *_: asked["ptxas"]
    platform.architecture = lambda *_, **__: tuple(asked["architecture"])
