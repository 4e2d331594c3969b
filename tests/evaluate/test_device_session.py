"""What a session that may use a GPU has that no other has; another file of this machine stands for the GPU's."""

from __future__ import annotations

import errno
import json
import struct
from pathlib import Path

import anyio

from maxcode.evaluate.module.gpu import Gpu, Toolkit, arch_of, device_files, on_gpu
from maxcode.evaluate.module.sides import SideStarter
from maxcode.evaluate.module.torch_runtime import Runtime
from maxcode.problems import load
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox

PYTHON = "/usr/bin/python3"
DOORS = """
import ctypes, json, mmap, os, socket, sys
found = {}
def tried(name, do):
    try:
        do()
        found[name] = 0
    except OSError as error:
        found[name] = error.errno
tried("pipe", os.pipe)
tried("unix socket", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
tried("internet socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
tried("fork", lambda: os.fork() or os._exit(0))
tried("memory file", lambda: os.memfd_create("x"))
tried("cores", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
tried("name of a thread", lambda: open("/proc/self/task/%d/comm" % os.getpid(), "w").write("cuda"))
tried("name of process 1", lambda: open("/proc/1/comm", "w").write("cuda"))
tried("setting of the kernel", lambda: open("/proc/sys/kernel/hostname", "w").write("cuda"))
def request():
    import fcntl
    fcntl.ioctl(os.open("/dev/null", os.O_RDWR), 0xC0184600 + 200, b"x" * 24)
tried("ioctl", request)
found["devices"] = sorted(name for name in os.listdir("/dev") if name.startswith("nvidia"))
found["sys"] = os.path.isdir("/sys/bus")
try:
    with open("/dev/nvidia0", "rb") as file:
        found["read"] = list(file.read(3))
except OSError as error:
    found["read"] = error.errno
json.dump(found, sys.stderr)
sys.stderr.flush()
os.write(6, b"d")
os.read(5, 1)
"""
PARTS = """
import mmap, os
memory = mmap.mmap(4, os.fstat(4).st_size)
seen = b""
while True:
    os.write(6, b"d")
    word = os.read(5, 1)
    if not word:
        break
    seen += word
    kept = memory[4096:4100] if word == b"p" else kept
    if word == b"g":
        memory[4096 + 8192:4096 + 8192 + 4] = (seen[-2:] + kept)[:4]
"""
DEVICE = ((Path("/dev/full"), "/dev/nvidia0"), (Path("/sys"), "/sys"))


def plan() -> Blob:
    """One array that is read and one that is written, four bytes each."""
    return Blob.of(struct.pack("<4I", 2, 1, 0, 0) + struct.pack("<2Q", 4, 0) + struct.pack("<2Q", 4, 1))


def called(sandbox: Sandbox, text: str, rounds: list[bytes], on_device: bool, prepared: bool) -> list[Ran]:
    """What a driver answers when it is ready, and then to each round."""

    async def run() -> list[Ran]:
        with plan() as stdin:
            job = Job((PYTHON, "-I", "/src/a.py"), stdin=stdin, called=True, stepped=True, prepared=prepared)
            job = Job(**{**{name: getattr(job, name) for name in job.__slots__}, "on_device": on_device})
            binds = DEVICE if on_device else ()
            async with (
                sandbox.session([stdin], Mounts({"a.py": text}, binds), measured=True) as session,
                session.calls(job) as calls,
            ):
                found = [await calls.ready()]
                for data in rounds:
                    with Blob.of(data) as blob:
                        found.append(await calls.round(blob, 2, 8))
                return found

    return anyio.run(run)


def test_doors_that_only_a_session_with_a_gpu_has(sandbox: Sandbox) -> None:
    def doors(on_device: bool) -> dict[str, object]:
        (ready,) = called(sandbox, DOORS, [], on_device, False)
        assert ready.ending == "answered", ready.stderr.decode()
        return dict(json.loads(ready.stderr))

    usual, wide = doors(False), doors(True)
    assert usual["devices"] == [] and usual["read"] == errno.ENOENT and not usual["sys"]
    assert wide["devices"] == ["nvidia0"] and wide["read"] == [0, 0, 0] and wide["sys"]
    for name in ("pipe", "unix socket", "memory file", "ioctl"):
        assert usual[name] == errno.EPERM, name
    assert wide["ioctl"] == errno.ENOTTY
    assert [wide[name] for name in ("pipe", "unix socket", "memory file")] == [0, 0, 0]
    assert (usual["cores"], usual["name of a thread"]) == (errno.EPERM, errno.EROFS)
    assert (wide["cores"], wide["name of a thread"]) == (0, 0)  # without either CUDA does not start
    for found in (usual, wide):
        assert found["name of process 1"] in (errno.EROFS, errno.EACCES, errno.EPERM)
        assert found["setting of the kernel"] in (errno.EROFS, errno.EACCES, errno.EPERM)
        assert found["internet socket"] == errno.EPERM
        assert found["fork"] == errno.EPERM


def test_a_prepared_round_is_told_first_to_prepare_and_then_to_go(sandbox: Sandbox) -> None:
    ready, first, second = called(sandbox, PARTS, [b"abcd", b"wxyz"], False, True)
    assert ready.ending == "answered"
    assert (first.stdout, second.stdout) == (b"pgab", b"pgwx")
    assert first.prepared_s > 0 and second.prepared_s > 0 and first.wall_s > 0
    (_, plain) = called(sandbox, PARTS.replace('word == b"p"', "True"), [b"abcd"], False, False)
    assert plain.stdout[:1] == b"g" and plain.prepared_s == 0


def test_inputs_that_change_between_preparing_and_going_are_seen(sandbox: Sandbox) -> None:
    changing = PARTS.replace('    if word == b"g":', '    memory[4096:4100] = b"0000"\n    if word == b"g":')
    _, found = called(sandbox, changing, [b"abcd"], False, True)
    assert found.ending == "tampered"


def test_a_word_said_too_early_ends_the_round_without_the_answer(sandbox: Sandbox) -> None:
    early = '    os.write(6, b"d"); import time; time.sleep(0.3)\n    if word == b"g":'
    _, found = called(sandbox, PARTS.replace('    if word == b"g":', early), [b"abcd"], False, True)
    assert found.ending == "tampered" or found.stdout != b"pgab"


def test_files_of_devices_are_character_devices_of_a_gpu_and_nothing_else(tmp_path: Path) -> None:
    assert device_files(tmp_path) == ()
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).write_text("no device")
    assert device_files(tmp_path) == ()


def test_a_stage_on_a_gpu_shows_it_and_compiles_for_it(sandbox: Sandbox) -> None:
    problem = load(
        Path(__file__).parent / "gallery_cuda/reference.py", overrides={"module": {"device": "cuda"}}
    ).problem
    gpu = Gpu("a card", 132, 80_000, 50, (9, 0), "13.0")
    stage = on_gpu(SideStarter(sandbox, Runtime(PYTHON, (), "2"), problem, 1, 0), gpu)
    job = stage.job("calls")
    assert (gpu.arch, arch_of(gpu), arch_of(None)) == ("sm_90", "sm_90", "sm_90")
    assert job.on_device and job.shadow and job.memory_mb > 8192
    assert (Path("/sys"), "/sys") in stage.runtime.binds
    assert stage.environment["MAXCODE_CUDA_ARCH"] == "sm_90" and "CUDA_HOME" in stage.environment
    assert "132 SMs" in gpu.told() and "compute capability 9.0" in gpu.told()


def test_a_toolkit_outside_of_usr_is_shown_at_a_place_of_its_own() -> None:
    found = Toolkit("/opt/cuda", ((Path("/home/x/cuda"), "/opt/cuda"),))
    environment = found.environment("sm_100")
    assert environment["TORCH_CUDA_ARCH_LIST"] == "10.0" and environment["PATH"].startswith("/opt/cuda/bin:")
