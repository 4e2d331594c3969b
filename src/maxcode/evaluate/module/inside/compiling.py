"""The driver's role ``compile``: what a CUDA candidate compiles, where there is no GPU; runs in the sandbox.

The file is loaded and constructed, so that what it compiles by itself is compiled: ``maxcode.native.load_cuda`` as it
is, ``load_inline`` and ``load`` of torch by nvcc up to the objects (a CPU build of torch has nothing to link them
with), Triton's kernels for the architecture in $MAXCODE_CUDA_ARCH when forward launches them, on tensors without
storage.  No kernel ever runs.  What it says (JSON in /tmp/out) is trusted no more than the candidate.
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

HEAD = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
MACROS = "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n"  # a CPU build of torch comes without this header
WORDS_KEPT = 16_000
NO_GPU = re.compile(r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs|no CUDA-capable|libcuda", re.IGNORECASE)


class Refused(RuntimeError):
    """nvcc refused a source."""


class Units:
    """What was compiled so far: (what it is, nvcc's words, whether it compiled)."""

    def __init__(self, driver: Any, file: str) -> None:
        self.scratch = str(driver.SCRATCH)
        with open(file, encoding="utf-8") as text:
            self.text = text.read()
        self.found: list[dict[str, Any]] = []

    def add(self, kind: str, words: str, source: str, good: bool) -> None:
        self.found.append({"kind": kind, "words": self.placed(words, source)[:WORDS_KEPT], "good": good})

    def placed(self, words: str, source: str) -> str:
        """The words with lines of the candidate's file in the place of lines of ``source``, where it stands there."""
        at = self.text.find(source.strip("\n")) if source.strip() else -1
        before = self.text.count("\n", 0, max(at, 0)) - (len(source) - len(source.lstrip("\n")))

        def line(match: re.Match[str]) -> str:
            number = match[1] or match[2]
            return (
                f"problem.py({before + int(number)})" if at >= 0 and number else "cuda" + (f"({number})" * bool(number))
            )

        return re.sub(r"\S*/[\w.]+\.cu\b(?:\((\d+)\)|:(\d+)(?::\d+)?)?", line, words)

    def collect(self) -> None:
        """Add what ``maxcode.native.load_cuda`` left in the scratch folder."""
        for log in sorted(glob.glob(self.scratch + "/*.log")):
            with open(log) as file, open(log[:-4] + ".cu") as source:
                self.add("nvcc", file.read(), source.read(), os.path.exists(log[:-4] + ".so"))


class Absent:
    """The extension that was compiled and cannot be linked, let alone called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(*_: Any, **__: Any) -> Any:
            raise RuntimeError("libcuda: an extension is not called where there is no GPU")

        return called


def compile_only(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """The role ``compile``."""
    os.environ["MAXCODE_NATIVE"] = driver.SCRATCH
    os.makedirs(driver.SCRATCH, exist_ok=True)
    units = Units(driver, "/src/" + meta["file"])
    if "cpp_extension" in units.text:
        catch_extensions(units)
    if re.search(r"\btriton\b", units.text):
        catch_triton(units)
    ended = ""
    try:
        module = driver.loaded(meta)
        with on_no_device(torch):
            model = getattr(module, meta["class"])(*driver.arguments(meta["init"], []))
            if any(one["kind"] == "triton" for one in units.found) or "triton" in units.text:
                model(*driver.arguments(meta["inputs"], without_storage(torch, meta, driver)))
    except Exception as error:
        ended = traceback.format_exc()[-WORDS_KEPT:]
        if NO_GPU.search(str(error)):
            ended = "no GPU: " + str(error)[:500]
    units.collect()
    with open(driver.OUT, "w") as file:
        json.dump({"units": units.found, "ended": ended}, file)


def without_storage(torch: Any, meta: dict[str, Any], driver: Any) -> list[Any]:
    wanted = [one for one in meta["inputs"] if "dtype" in one]
    return [torch.empty(one["shape"], dtype=driver.dtype_of(torch, one["dtype"]), device="meta") for one in wanted]


def on_no_device(torch: Any) -> Any:
    """Within it tensors have no storage, and whoever asks for the GPU gets such a one."""
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "")
            if name == "cuda" and args:
                return args[0].to("meta")
            if func == torch.Tensor.is_cuda.__get__:
                return True
            kwargs = dict(kwargs or {})
            if "cuda" in str(kwargs.get("device", "")):
                kwargs["device"] = "meta"
            args = tuple("meta" if name == "to" and "cuda" in str(one)[:6] else one for one in args)
            return func(*args, **kwargs)

    stack = contextlib.ExitStack()
    stack.enter_context(torch.device("meta"))
    stack.enter_context(Mode())
    stack.enter_context(torch.no_grad())
    return stack


def catch_extensions(units: Units) -> None:
    """``load_inline`` and ``load`` compile their CUDA sources to objects, and their C++ ones for its errors."""
    extension: Any = importlib.import_module("torch.utils.cpp_extension")
    paths = extension.include_paths()
    own = units.scratch + "/headers"
    os.makedirs(own + "/c10/cuda/impl", exist_ok=True)
    with open(own + "/c10/cuda/impl/cuda_cmake_macros.h", "w") as file:
        file.write(MACROS)

    def compiled(kind: str, source: str, head: str, flags: list[str], more: list[str]) -> None:
        suffix, tool = (".cu", "nvcc") if kind == "nvcc" else (".cpp", "g++")
        path = f"{units.scratch}/inline{len(units.found)}{suffix}"
        with open(path, "w") as file:
            file.write(f'{head}#line 1 "{units.scratch}/inline.cu"\n{source}')
        native = ["-arch=" + os.environ["MAXCODE_CUDA_ARCH"], "-lineinfo", "-Xptxas", "-v", "-c", "-o", "/dev/null"]
        argv = [tool, *(native if kind == "nvcc" else ["-fsyntax-only"]), "-std=c++20", "-DTORCH_EXTENSION_NAME=inline"]
        argv += [*flags, *(f"-I{one}" for one in [*more, *paths, own]), path]
        ran = subprocess.run(argv, capture_output=True, check=False)
        words = (ran.stdout + ran.stderr).decode(errors="replace")
        units.add(kind, words, source, ran.returncode == 0)
        if ran.returncode:
            raise Refused(f"{tool} refused it")

    def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, **options: Any) -> Any:
        more = list(options.get("extra_include_paths") or [])
        joined = "\n".join([cuda_sources] if isinstance(cuda_sources, str) else cuda_sources or [])
        if joined:
            compiled("nvcc", joined, HEAD, list(options.get("extra_cuda_cflags") or []), more)
        plain = "\n".join([cpp_sources] if isinstance(cpp_sources, str) else cpp_sources or [])
        if plain.strip() and not joined:
            compiled("g++", plain, "#include <torch/extension.h>\n", list(options.get("extra_cflags") or []), more)
        return Absent()

    def load(name: str, sources: Any, **options: Any) -> Any:
        for path in [sources] if isinstance(sources, str) else sources:
            if str(path).endswith(".cu"):
                with open(path) as file:
                    compiled("nvcc", file.read(), "", list(options.get("extra_cuda_cflags") or []), [])
        return Absent()

    extension.load_inline, extension.load = load_inline, load


def catch_triton(units: Units) -> None:
    """A launch of a Triton kernel compiles it, for the architecture that was asked for, and does no more."""
    try:
        jit: Any = importlib.import_module("triton.runtime.jit")
        drivers: Any = importlib.import_module("triton.runtime").driver
        GPUTarget: Any = importlib.import_module("triton.backends.compiler").GPUTarget  # noqa: N806
    except ImportError:
        return  # the candidate's own import says so
    target = GPUTarget("cuda", int(os.environ["MAXCODE_CUDA_ARCH"].strip("sma_")), 32)

    own = jit.JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        try:
            kernel = own(self, *args, grid=grid, warmup=True, **kwargs)
        except Exception as error:
            units.add("triton", f"{type(error).__name__}: {error}", "", False)
            raise
        units.add("triton", registers(kernel, target.arch, units.scratch), "", True)
        return kernel

    drivers.set_active(driver_of(target))
    jit.JITFunction.run = run


def driver_of(target: Any) -> Any:
    """What Triton asks of a GPU, answered for one that is not here."""

    class Nowhere:
        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self) -> Any:
            return target

        def get_current_device(self) -> int:
            return 0

        def get_current_stream(self, device: int) -> int:
            return 0

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("meta")

        def get_benchmarker(self) -> Any:
            return lambda call, **_: (call(), [1.0, 1.0, 1.0])[1]

        def get_empty_cache_for_benchmark(self) -> Any:
            return None

        def clear_cache(self, cache: Any) -> None:
            return None

    return Nowhere()


def registers(kernel: Any, arch: int, scratch: str) -> str:
    """What ptxas says of a compiled kernel; Triton keeps that to itself."""
    get_ptxas: Any = importlib.import_module("triton.backends.nvidia.compiler").get_ptxas
    path = scratch + "/kernel.ptx"
    with open(path, "w") as file:
        file.write(kernel.asm["ptx"])
    name = re.search(r"^\.target (\S+)", kernel.asm["ptx"], re.MULTILINE)
    chosen = name[1].rstrip(",") if name is not None else f"sm_{arch}"
    argv = [get_ptxas(arch).path, "-v", f"--gpu-name={chosen}", path, "-o", "/dev/null"]
    ran = subprocess.run(argv, capture_output=True, check=False)
    words = (ran.stdout + ran.stderr).decode(errors="replace")
    return words + f"shared memory of the launch: {kernel.metadata.shared} bytes\n"


def shapes(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """What a reference is constructed with and takes, as JSON; nothing is computed."""
    with torch.device("meta"), torch.no_grad():
        module = driver.load_file(meta)
        init = [{"value": driver.frozen(one)} for one in module.get_init_inputs()]
        given = module.get_inputs()
    told = [driver.about(one) if isinstance(one, torch.Tensor) else {"value": driver.frozen(one)} for one in given]
    print()
    json.dump({"init": init, "inputs": told}, sys.stdout)
