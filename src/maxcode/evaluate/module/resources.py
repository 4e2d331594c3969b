"""The GPU resources of a kernel as ptxas prints them: registers, spills, shared memory; as remarks at its line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from maxcode.core.types import Remark

_KERNEL = re.compile(
    r"^ptxas(?:-\w+)? info\s*: Compiling entry function '([^']{1,400})' for '(sm_\w{1,8})'", re.MULTILINE
)
_FUNCTION = re.compile(r"^\s*(\d{1,9}) bytes stack frame, (\d{1,9}) bytes spill stores, (\d{1,9}) bytes spill loads")
_USED = re.compile(r"^ptxas(?:-\w+)? info\s*: Used (\d{1,6}) registers(.*)$")
_SHARED = re.compile(r"(\d{1,9}) bytes smem")
_LAUNCH = re.compile(r"^shared memory of the launch: (\d{1,9}) bytes$", re.MULTILINE)
_NAMES = re.compile(
    r"__global__(?:\s+(?:__\w+__(?:\s*\([^)]{0,200}\))?|static|inline|void)){0,9}\s+(\w{1,200})\s*\("
    r"|@triton\.jit[^\n]*\n(?:@[^\n]*\n){0,9}\s*def (\w{1,200})"
)
MOST_KERNELS = 40
REGISTERS_OF_A_THREAD, REGISTERS_OF_AN_SM, WARP, MOST_WARPS = 255, 65536, 32, 64


def resources(words: str, text: str) -> tuple[Remark, ...]:
    """One remark for each kernel in the output of ptxas, in its order; ``text``: the program, for the lines.

    A kernel that spills to memory is ``missed``, any other ``used``.  The output comes from an untrusted process.
    """
    return tuple(_remarks(words, kernel_lines(text)))[:MOST_KERNELS]


def kernel_lines(text: str) -> dict[str, int]:
    """Kernel -> line of its name in the program; the first if there are two."""
    found: dict[str, int] = {}
    for match in _NAMES.finditer(text):
        group = 1 if match[1] is not None else 2
        found.setdefault(match[group], text.count("\n", 0, match.start(group)) + 1)
    return found


def _remarks(words: str, lines: dict[str, int]) -> Iterator[Remark]:
    starts = list(_KERNEL.finditer(words))
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(words)
        name = plain(match[1], lines)
        usage, spilled = _usage(words[match.end() : end])
        if usage:
            line = lines.get(name, 0)
            yield Remark(line, "missed" if spilled else "used", f"kernel `{name}` ({match[2]}): {usage}")


def _usage(part: str) -> tuple[str, bool]:
    """The resources of one kernel as text, and True if it spills."""
    registers = shared = None
    stack = spills = (0, 0)
    for line in part.splitlines():
        if (found := _FUNCTION.match(line)) is not None:
            stack, spills = (int(found[1]), 0), (int(found[2]), int(found[3]))
        elif (found := _USED.match(line)) is not None:
            registers = int(found[1])
            bytes_ = _SHARED.search(found[2])
            shared = int(bytes_[1]) if bytes_ is not None else 0
    if registers is None or shared is None:
        return "", False
    if (launch := _LAUNCH.search(part)) is not None:
        shared = max(shared, int(launch[1]))
    words = [f"{registers} registers a thread ({_warps(registers)} of {MOST_WARPS} warps fit an SM by them)"]
    words.append(f"{shared} bytes of shared memory a block")
    if any(spills):
        words.append(f"spills: {spills[0]} bytes stored, {spills[1]} bytes loaded")
    elif stack[0]:
        words.append(f"{stack[0]} bytes of local memory a thread")
    return ", ".join(words), any(spills)


def _warps(registers: int) -> int:
    """Warps whose registers fit an SM of 64 K; registers are allocated in steps of 8 per thread."""
    each = max(8, -(-registers // 8) * 8) * WARP
    return min(MOST_WARPS, REGISTERS_OF_AN_SM // each)


def plain(mangled: str, lines: dict[str, int]) -> str:
    """The program's name of a kernel with a mangled C++ name: the longest name that the mangled one holds after its
    length."""
    if mangled in lines:
        return mangled
    found = [name for name in lines if f"{len(name)}{name}" in mangled]
    return max(found, key=len, default=mangled)
