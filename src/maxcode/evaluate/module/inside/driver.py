"""Runs one side of a module problem inside the sandbox; never imported by maxcode.

    driver.py build|calls|make|describe|weights|profile|compile|precompile|shapes|probe|once

What it does for a candidate is trusted no more than the candidate, whose process it shares: what counts is read by the
shim outside.  It sees only its own side: for a candidate the candidate's file, for the reference the reference's.
``/src/meta.json`` says which file, class, threads, shapes.  In ``calls`` and ``make`` it answers rounds over an
exchange memory (``shim_calls.h``): descriptors 4 the memory, 5 go, 6 done.
"""

from __future__ import annotations

import ctypes
import importlib.util
import math
import mmap
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

sys.path.insert(0, "/src")
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
del sys.modules["side"]

ADDRESS = struct.Struct("<Q")
WARM_FACTOR, MOST_WARM = 4, 256 << 20  # of what a round takes and gives; temporaries are of that size
SCRATCH = "/tmp/scratch"
OUT = "/tmp/out"
TOOLS = "/opt/tools"  # as in torch_runtime.py


def warm_memory(size: int) -> None:
    """Let malloc have so many bytes that were touched, or the first dozen calls pay for the growth of the heap."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_size_t],
        [ctypes.c_void_p],
    )
    block = libc.malloc(size)
    if block:
        ctypes.memset(block, 1, size)
        libc.free(block)


def import_torch(meta: dict[str, Any]) -> Any:
    keep_memory()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(meta["threads"])
    os.environ["MAXCODE_NATIVE"] = meta["natives"]
    os.environ["TORCH_EXTENSIONS_DIR"] = SCRATCH + "/extensions"
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = SCRATCH + "/inductor"
    os.environ["MAX_JOBS"] = "1"
    os.environ.update(meta["environment"])
    os.environ["PATH"] += ":" + TOOLS
    sys.path[:0] = meta["paths"]
    sys.dont_write_bytecode = True
    import warnings

    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import torch

    torch.set_num_threads(meta["threads"])
    return torch


def load_file(meta: dict[str, Any]) -> Any:
    """The module of the file; its errors are those of a build."""
    return built(lambda: loaded(meta))


def loaded(meta: dict[str, Any]) -> Any:
    spec: Any = importlib.util.spec_from_file_location("module", "/src/" + meta["file"])
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def dtype_of(torch: Any, name: str) -> Any:
    return getattr(torch, name)


class Exchange:
    """The arrays of every slot as tensors over the exchange memory; of an array that the process holds, the place of
    its address."""

    def __init__(self, torch: Any, arrays: list[dict[str, Any]], slots: int) -> None:
        size = os.fstat(4).st_size
        self.memory = mmap.mmap(4, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        at = GUARD
        self.slots: list[list[Any]] = []
        for _ in range(slots):
            slot = []
            for array in arrays:
                held = "held" in array
                slot.append(at if held else view(torch, self.memory, array, at))
                at += ((ADDRESS.size if held else array["bytes"]) + GUARD - 1) // GUARD * GUARD + GUARD
            self.slots.append(slot)


def view(torch: Any, memory: Any, array: dict[str, Any], at: int) -> Any:
    dtype = dtype_of(torch, array["dtype"])
    count = elements(array)
    if count == 0:
        return torch.empty(array["shape"], dtype=dtype)
    return torch.frombuffer(memory, dtype=dtype, count=count, offset=at).reshape(array["shape"])


def arguments(inputs: list[dict[str, Any]], tensors: list[Any]) -> list[Any]:
    """The arguments of forward: tensors in their places, the rest as it is."""
    given = iter(tensors)
    return [next(given) if "dtype" in one else thawed(one.get("value")) for one in inputs]


def thawed(value: Any) -> Any:
    """JSON has no tuples; they come as {"tuple": [...]}."""
    if isinstance(value, dict):
        return tuple(thawed(one) for one in value["tuple"])
    return [thawed(one) for one in value] if isinstance(value, list) else value


def frozen(value: Any) -> Any:
    if isinstance(value, tuple):
        return {"tuple": [frozen(one) for one in value]}
    if isinstance(value, list):
        return [frozen(one) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{type(value).__name__} is not a number, a text, or a list of them")


def outputs_of(torch: Any, returned: Any, wanted: list[dict[str, Any]]) -> list[Any]:
    """The tensors that forward returned; ends the process where they are not what the reference gives."""
    found = listed(returned)
    if len(found) != len(wanted):
        leave(WRONG_OUTPUT, f"forward returned {len(found)} outputs in place of {len(wanted)}")
    for one, array in zip(found, wanted, strict=True):
        if type(one) is not torch.Tensor and type(one) is not torch.nn.Parameter:
            leave(WRONG_OUTPUT, f"forward returned a {type(one).__name__} in place of a torch.Tensor")
        if list(one.shape) != array["shape"]:
            leave(WRONG_OUTPUT, f"the output has shape {list(one.shape)} in place of {array['shape']}")
        if str(one.dtype) != "torch." + array["dtype"]:
            leave(WRONG_OUTPUT, f"the output is {one.dtype} in place of torch.{array['dtype']}")
    return found


def construct(torch: Any, meta: dict[str, Any], module: Any) -> Any:
    """The model, by the seed; then the weights are copied where there are some to copy."""
    torch.manual_seed(meta["seed"])
    model = getattr(module, meta["class"])(*arguments(meta["init"], []))
    if meta["weights"]:
        copy_weights(torch, meta, model)
    return model


def copy_weights(torch: Any, meta: dict[str, Any], model: Any) -> None:
    with open("/src/weights", "rb") as file:
        raw = bytearray(file.read())
    state, at = {}, 0
    for one in meta["weights"]:
        state[one["name"]] = view(torch, raw, one, at).clone()
        at += one["bytes"]
    own = model.state_dict()
    if set(own) != set(state) or any(own[name].shape != state[name].shape for name in state):
        sys.stderr.write("weights by seed\n")  # sides.py reads it
        return
    model.load_state_dict(state, strict=True)


def build(torch: Any, meta: dict[str, Any]) -> None:
    """Load, construct and call the candidate once, and pack every shared object that came of it."""
    import glob
    import tarfile

    os.environ["MAXCODE_NATIVE"] = SCRATCH
    os.makedirs(SCRATCH, exist_ok=True)
    if meta["device"] == "cuda":
        beside("device", "listen")(torch, meta)
    built(lambda: called_once(torch, meta, loaded(meta)))
    with tarfile.open(OUT, "w") as archive:
        for path in glob.glob(SCRATCH + "/*.so"):
            archive.add(path, os.path.basename(path))
        for path in glob.glob(SCRATCH + "/extensions/**/*.so", recursive=True):
            archive.add(path, "extension_" + os.path.basename(path))
        if meta["device"] == "cuda":
            beside("device", "pack")(archive, meta)


def called_once(torch: Any, meta: dict[str, Any], module: Any) -> None:
    model = placed(torch, meta, getattr(module, meta["class"])(*arguments(meta["init"], [])))
    with torch.no_grad():
        model(*arguments(meta["inputs"], random_inputs(torch, meta)))


def random_inputs(torch: Any, meta: dict[str, Any]) -> list[Any]:
    return [placed(torch, meta, random_tensor(torch, one)) for one in meta["inputs"] if "dtype" in one]


def random_tensor(torch: Any, array: dict[str, Any]) -> Any:
    dtype = dtype_of(torch, array["dtype"])
    if dtype.is_floating_point:
        return torch.rand(array["shape"], dtype=dtype)
    return torch.zeros(array["shape"], dtype=dtype)


def use_what_was_built(meta: dict[str, Any]) -> None:
    """load_inline and its like find the extension that the build made; nothing can be compiled here."""
    with open("/src/" + meta["file"]) as file:
        if "cpp_extension" not in file.read():
            return
    import torch.utils.cpp_extension as extension

    def prebuilt(name: str, *_: Any, **__: Any) -> Any:
        path = meta["natives"] + "/extension_" + name + ".so"
        spec: Any = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    extension.load_inline = extension.load = prebuilt


def call_rounds(torch: Any, meta: dict[str, Any]) -> None:
    if meta["device"] == "cuda":
        beside("device", "call_rounds")(torch, meta)
        return
    use_what_was_built(meta)
    if meta["compile"]:
        imported("inductor").unpack()
    begin()
    module = load_file(meta)
    model = construct(torch, meta, module)
    compiled = torch.compile(model) if meta["compile"] else model
    inputs = [one for one in meta["inputs"] if "dtype" in one]
    exchange = Exchange(torch, inputs + [dict(one, held=True) for one in meta["outputs"]], meta["slots"])
    kept: list[Any] = []  # the outputs of a round: each must stay as it is until the round is over

    def answer(word: bytes) -> None:
        if word == b"n":
            kept.clear()
        slot = exchange.slots[len(kept)]
        with torch.no_grad():
            returned = compiled(*arguments(meta["inputs"], slot[: len(inputs)]))
        found = [one.contiguous() for one in outputs_of(torch, returned, meta["outputs"])]
        kept.append((returned, found))
        for place, one in zip(slot[len(inputs) :], found, strict=True):
            ADDRESS.pack_into(exchange.memory, place, one.data_ptr())

    taken = meta["slots"] * sum(one["bytes"] for one in inputs + meta["outputs"])
    warm_memory(min(WARM_FACTOR * taken, MOST_WARM))
    rounds(answer)


def make_rounds(torch: Any, meta: dict[str, Any]) -> None:
    """Fresh inputs for a round from the seed it is given; with ``exact`` the outputs in double precision too."""
    begin()
    module = load_file(meta)
    inputs = [one for one in meta["inputs"] if "dtype" in one]
    seed = {"dtype": "int64", "shape": [2], "bytes": 16}
    exact = [dict(one, dtype="float64", bytes=8 * elements(one)) for one in meta["outputs"]] if meta["exact"] else []
    exchange = Exchange(torch, [seed, *inputs, *exact], meta["slots"])
    model: Any = placed(torch, meta, construct(torch, meta, module).double()) if meta["exact"] else None
    beyond: list[Any] = []

    def varied(given: list[Any], number: int) -> tuple[list[Any], list[Any]] | None:
        """Inputs with values beyond those drawn, and the exact outputs; None where the reference has no answer."""
        if not beyond:
            single = placed(torch, meta, construct(torch, meta, module))
            beyond.append(imported("values").Beyond(torch, sys.modules["__main__"], meta, single, model))
        found: tuple[list[Any], list[Any]] | None = beyond[0].inputs(given, meta["letters"][number])
        return found

    def exactly(given: list[Any]) -> list[Any]:
        with torch.no_grad():
            return listed(model(*[placed(torch, meta, doubled(torch, one)) for one in given]))

    def answer(_: bytes) -> None:
        for slot in exchange.slots:
            seed, number = slot[0].tolist()
            torch.manual_seed(seed)
            given = module.get_inputs()
            other = varied(given, number) if number else (given, [])
            given = given if other is None else other[0]
            for place, one in zip(
                slot[1 : 1 + len(inputs)], [one for one in given if isinstance(one, torch.Tensor)], strict=True
            ):
                place.copy_(one)
            if model is None:
                continue
            places = slot[1 + len(inputs) :]
            right = [torch.full_like(one, math.nan) for one in places] if other is None else other[1] or exactly(given)
            for place, one in zip(places, right, strict=True):
                place.copy_(one)

    rounds(answer)


def placed(torch: Any, meta: dict[str, Any], value: Any) -> Any:
    """A tensor or a module where the problem wants it."""
    movable = isinstance(value, (torch.Tensor, torch.nn.Module))
    return value.to(meta["device"]) if movable else value


def doubled(torch: Any, value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def elements(array: dict[str, Any]) -> int:
    return math.prod(array["shape"])


def about(one: Any) -> dict[str, Any]:
    return {"dtype": str(one.dtype)[6:], "shape": list(one.shape), "bytes": one.numel() * one.element_size()}


def settle(torch: Any, meta: dict[str, Any]) -> None:
    """Wait until the device has done what it was asked for."""
    if meta["device"] == "cuda":
        torch.cuda.synchronize()


def listed(returned: Any) -> list[Any]:
    return list(returned) if isinstance(returned, (tuple, list)) else [returned]


def write_weights(torch: Any, meta: dict[str, Any]) -> None:
    """The state of a Model made by ``seed``, raw, in the order of its state_dict."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the file prints is not taken for weights
    module = load_file(meta)
    torch.manual_seed(meta["seed"])
    write_state(out, module.Model(*module.get_init_inputs()))
    out.flush()


def write_state(out: Any, model: Any) -> None:
    for one in model.state_dict().values():
        own = one.detach().cpu().contiguous()
        out.write(ctypes.string_at(own.data_ptr(), own.numel() * own.element_size()) if own.numel() else b"")


def beside(name: str, role: str) -> Callable[[Any, dict[str, Any]], None]:
    """A role that stands in another file of this folder, with this file for what it shares."""

    def play(torch: Any, meta: dict[str, Any]) -> None:
        getattr(imported(name), role)(torch, meta, sys.modules["__main__"])

    return play


ROLES = {
    "build": build,
    "calls": call_rounds,
    "compile": beside("compiling", "compile_only"),
    "describe": beside("describing", "describe"),
    "make": make_rounds,
    "profile": beside("describing", "profile_calls"),
    "once": beside("device", "once"),
    "precompile": beside("inductor", "precompile"),
    "probe": beside("device", "probe"),
    "shapes": beside("compiling", "shapes"),
    "weights": write_weights,
}


def main() -> None:
    meta = load_meta()
    ROLES[sys.argv[1]](import_torch(meta), meta)


main()
