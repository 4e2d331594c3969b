"""The GPU of this machine, as a sandboxed torch sees it, and the toolkit that compiles for it.

Without device files nothing is asked.  Everything that uses the device runs in the sandbox: this process never imports
torch and never opens /dev/nvidia*.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.types import Problem
from maxcode.errors import InputError, UnsafeError
from maxcode.evaluate.module.sides import REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import Runtime, find_runtime
from maxcode.evaluate.rounds.round import last_words
from maxcode.sandbox.cgroup import survey
from maxcode.sandbox.sandbox import Sandbox

NO_GPU = "no GPU"
CURE = "run it on a machine with a GPU that its torch sees, or give --device cpu"
DEFAULT_ARCH = "sm_90"
ARCH = "MAXCODE_CUDA_ARCH"
TOOLKIT = "/opt/cuda"  # in the sandbox, if the host's is outside of /usr
DRIVER = "/opt/nvidia"  # likewise, the libraries of the driver
_LIBRARY = "libcuda.so.1"
_PLACES = ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib")  # of containers, and of Windows
_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia[0-9]*", "nvidia-caps/nvidia-cap[0-9]*")

Binds = tuple[tuple[Path, str], ...]


class Gpu(msgspec.Struct, frozen=True):
    """A GPU as torch describes it.  ``capability``: (9, 0) for sm_90; ``memory_mb`` and ``l2_mb`` in MiB."""

    name: str
    sms: int
    memory_mb: int
    l2_mb: int
    capability: tuple[int, int]
    cuda: str

    @property
    def arch(self) -> str:
        """nvcc's name of its architecture."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    def told(self) -> str:
        """One line for a prompt."""
        return (
            f"GPU: {self.name}, compute capability {self.capability[0]}.{self.capability[1]} ({self.arch}), "
            f"{self.sms} SMs, {self.memory_mb} MiB of memory, {self.l2_mb} MiB of L2 cache, CUDA {self.cuda}"
        )


def device_files(folder: Path = Path("/dev")) -> Binds:
    """The files of NVIDIA's driver, bound at their own names; empty if none of them is a GPU."""
    found = [path for pattern in _DEVICES for path in sorted(folder.glob(pattern)) if _is_device(path)]
    if not any(path.name.removeprefix("nvidia").isdigit() for path in found):
        return ()
    return tuple((path, str(path)) for path in found)


def shown() -> Binds:
    """What a session with the GPU sees in addition: the device's files, and /sys, where its library looks for the
    card."""
    return (*device_files(), (Path("/sys"), "/sys"))


def _is_device(path: Path) -> bool:
    return stat.S_ISCHR(path.stat().st_mode)


@final
@dataclass(frozen=True, slots=True)
class Toolkit:
    """nvcc: ``home`` is its folder in the sandbox, ``binds`` make it visible there."""

    home: str
    binds: Binds

    def environment(self, arch: str) -> dict[str, str]:
        """The variables that torch, Triton and ``maxcode.native`` read."""
        return {
            ARCH: arch,
            "CUDA_HOME": self.home,
            "PATH": f"{self.home}/bin:/usr/bin:/bin",
            "TORCH_CUDA_ARCH_LIST": f"{arch[3:-1]}.{arch[-1]}",
        }


def find_toolkit() -> Toolkit | None:
    """The CUDA toolkit of $CUDA_HOME, /usr/local/cuda, or of the nvcc in $PATH, in this order; None if there is
    none."""
    named, found = os.environ.get("CUDA_HOME"), shutil.which("nvcc")
    places = [Path(named)] if named else []
    places += [Path("/usr/local/cuda"), *([Path(found).resolve().parents[1]] if found else [])]
    home = next((place.resolve() for place in places if (place / "bin" / "nvcc").is_file()), None)
    if home is None:
        return None
    return Toolkit(str(home), ()) if home.is_relative_to("/usr") else Toolkit(TOOLKIT, ((home, TOOLKIT),))


def driver_folder() -> Path | None:
    """The folder of the driver's libraries, if a program must be told of it: $LD_LIBRARY_PATH has it, or it is where
    containers have it."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return next((Path(one) for one in (*filter(None, named), *_PLACES) if Path(one, _LIBRARY).is_file()), None)


def with_driver(runtime: Runtime) -> Runtime:
    """The runtime with what a session with the GPU sees and reads in addition."""
    folder = driver_folder()
    if folder is None:
        return replace(runtime, binds=(*runtime.binds, *shown()))
    inside = str(folder) if folder.is_relative_to("/usr") else DRIVER
    binds = (*runtime.binds, *shown(), *(() if inside == str(folder) else ((folder, DRIVER),)))
    return replace(runtime, binds=binds, variables=(f"LD_LIBRARY_PATH={inside}",))


async def find_gpu(sandbox: Sandbox, problem: Problem) -> Gpu | str:
    """The GPU that torch sees in the sandbox, or why there is none, as text that begins with ``NO_GPU``.

    UnsafeError if the sandbox cannot limit it.
    """
    devices = device_files()
    if not devices:
        return f"{NO_GPU}: there is no /dev/nvidia0 on this machine"
    if sandbox.hierarchy is None:
        raise UnsafeError(
            "CUDA reserves more address space than there is memory, so a limit for each process cannot work, and "
            f"there is no control group here to limit resident memory; {survey().trouble}"
        )
    stage = SideStarter(sandbox, with_driver(find_runtime()), problem, 1, 0, on_device=True)
    ran = await stage.once("probe", ModuleSide("", REFERENCE))
    try:
        return msgspec.json.decode(ran.stdout.rstrip().rpartition(b"\n")[2], type=Gpu)
    except msgspec.MsgspecError:
        files = ", ".join(path for _, path in devices)
        return f"{NO_GPU}: torch {stage.runtime.torch} sees none behind {files} ({last_words(ran)})"


async def require_gpu(sandbox: Sandbox, problem: Problem) -> Gpu:
    """The GPU.  InputError if there is none; UnsafeError as ``find_gpu``."""
    found = await find_gpu(sandbox, problem)
    if isinstance(found, str):
        raise InputError(f'{found}, and `device = "cuda"` needs one; {CURE}')
    return found


def on_gpu(stage: SideStarter, gpu: Gpu) -> SideStarter:
    """The stage with the GPU: its files, and its compiler if there is one (Triton brings its own)."""
    toolkit = find_toolkit()
    arch = arch_of(gpu)
    runtime = with_driver(stage.runtime)
    runtime = replace(runtime, binds=(*runtime.binds, *(toolkit.binds if toolkit is not None else ())))
    environment = toolkit.environment(arch) if toolkit is not None else {ARCH: arch}
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # in its own process: nobody would wait for others
    return replace(stage, runtime=runtime, environment=environment, on_device=True)


def arch_of(gpu: Gpu | None) -> str:
    """The architecture to compile for: $MAXCODE_CUDA_ARCH, the GPU's own, else that of an H100."""
    chosen = os.environ.get(ARCH, "")
    if chosen and not (chosen.startswith("sm_") and chosen[3:].rstrip("af").isdigit()):
        raise InputError(f"{ARCH}={chosen} is not an architecture; give one like {DEFAULT_ARCH}")
    return chosen or (gpu.arch if gpu is not None else DEFAULT_ARCH)
