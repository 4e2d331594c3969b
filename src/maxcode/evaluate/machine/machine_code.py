"""Reads machine code: what the loops of a program do, without running it.

    objdump's listing -> instructions -> loops (conditional jumps back) -> their bodies

It shows if the compiler vectorised a loop, how wide, how many sums it keeps, and what it spills.  That decides most of
a kernel's speed, and takes some milliseconds after the build, before anything is timed.  Only x86-64 is read; other
code has instructions but no loops.  A program can deceive this (for example with assembly that never runs), so it only
ranks candidates and never judges them.
"""

from __future__ import annotations

import bisect
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.core.types import LoopBody, MachineCode

LISTING = ("objdump", "--disassemble", "--section=.text", "--no-show-raw-insn", "--wide")
_READ = 1 << 20  # bytes of a listing
_KEPT = 4  # bodies

_PER_CYCLE = {"instructions": 4, "arithmetic": 2, "loads": 2, "stores": 1, "shuffles": 1}  # round values for current
_LATENCY = {"chain": 4, "divisions": 8, "gathers": 8}  # x86-64 cores of both makers

_PREFIX = rb"(?:(?:lock|rep[nz]?|repnz|bnd|notrack|data16|cs) )*"
_LINE = re.compile(rb"^ *([0-9a-f]+):\t" + _PREFIX + rb"([a-z]\w*)([^#\n]{0,200})", re.MULTILINE)  # names can be long
_TARGET = re.compile(r"([0-9a-f]+) <")
_OPERAND = re.compile(r"(?:[^,()]|\([^)]*\))+")
_REGISTER = re.compile(r"%([xyz])mm(\d+)")
_STACK = re.compile(r"\(%rsp|^-0x[0-9a-f]+\(%rbp\)")
_BITS = {"x": 128, "y": 256, "z": 512}
_FLOATING = re.compile(r"v?(fn?m(?:add|sub|addsub|subadd)\d*|addsub|add|sub|mul|div|sqrt|max|min)([ps])([sd])")
_INTEGER = re.compile(r"v?p(?:add|sub|mul|max|min|avg|sad|and|or|xor|cmp|abs|madd)[a-z]*")
_SHUFFLE = re.compile(r"v?p?(?:perm|shuf|unpck|insert|extract|insr|extr|blend|alignr|mov[dsh]\w*dup)")
_ELEMENT = {"s": 32, "d": 64}
_ADDED = ("add", "sub", "fm", "fnm")


@final
@dataclass(frozen=True, slots=True)
class _Instruction:
    """An instruction; ``operands`` in the assembler's order: the last is written."""

    name: str
    operands: tuple[str, ...]
    to: int = -1  # index of the instruction that it jumps to


def read_listing(listing: bytes) -> MachineCode:
    """The loops and instructions of an objdump listing (AT&T order)."""
    found = _instructions(listing[:_READ])
    ends: dict[int, int] = {}
    for at, one in enumerate(found):
        if 0 <= one.to <= at and one.name != "jmp":  # a jump back from rarely used code
            ends[one.to] = max(at, ends.get(one.to, 0))
    bodies, left = [], len(found)
    for loop, depth in _innermost(ends):
        left -= len(loop)
        if left < 0:  # too many crossing loops, which no compiler makes
            break
        bodies.append(_body(found, loop, depth))
    bodies.sort(key=lambda body: (body.work, body.depth, body.instructions), reverse=True)
    return MachineCode(len(found), len(ends), tuple(bodies[:_KEPT]))


def _innermost(ends: Mapping[int, int]) -> list[tuple[range, int]]:
    """The loops (first -> last instruction) that contain no other loop, with their depth, the deepest first."""
    spans = sorted(ends.items())
    depths, outer = [], list[int]()
    for _, end in spans:
        depths.append(len(outer) - bisect.bisect_left(outer, end) + 1)
        bisect.insort(outer, end)
    found, nearest = [], math.inf
    for (start, end), depth in reversed(list(zip(spans, depths, strict=True))):
        if end < nearest:
            found.append((range(start, end + 1), depth))
            nearest = end
    return sorted(found, key=lambda one: -one[1])


def _instructions(listing: bytes) -> list[_Instruction]:
    lines = [tuple(part.decode(errors="replace") for part in match.groups()) for match in _LINE.finditer(listing)]
    places = {address: at for at, (address, _, _) in enumerate(lines)}
    found = []
    for _, name, rest in lines:
        target = _TARGET.search(rest) if name[0] == "j" else None
        operands = tuple(word.strip() for word in _OPERAND.findall(rest)) if target is None else ()
        found.append(_Instruction(name, operands, places.get(target[1], -1) if target is not None else -1))
    return found


def _body(code: Sequence[_Instruction], loop: range, depth: int) -> LoopBody:
    counts: Counter[str] = Counter(instructions=len(loop))
    sums: Counter[str] = Counter()
    carried: dict[str, bool] = {}  # True if a register still holds the previous iteration's value at its first write
    for at in loop:
        one = code[at]
        counts.update(_seen(one))
        if one.operands and (register := _REGISTER.search(one.operands[-1])) is not None:
            is_sum = _adds_to(one, register[2])
            carried.setdefault(register[2], is_sum)
            sums[register[2]] += is_sum
    chains = [count for register, count in sums.items() if carried[register] and count]
    counts["chain"] = max(chains, default=0)
    parts = [counts[part] / most for part, most in _PER_CYCLE.items()]
    waits = [counts[part] * cycles for part, cycles in _LATENCY.items()]
    lanes = max((lane for at in loop for lane in _lanes(code[at])), default=0)
    kept = {name: counts[name] for name in ("work", "loads", "stores", "spills", "shuffles", "divisions", "calls")}
    return LoopBody(
        depth=depth,
        instructions=len(loop),
        lanes=lanes,
        sums=len(chains),
        chain=counts["chain"],
        cycles=max(*parts, *waits),
        **kept,
    )


def _seen(one: _Instruction) -> Iterator[str]:
    """The classes that an instruction counts in, one entry per count."""
    memory = [word for word in one.operands if "(" in word]
    is_vector = any(_REGISTER.search(word) for word in one.operands)
    for lanes in _lanes(one):
        yield "arithmetic"
        yield from ["work"] * (lanes * (2 if "fm" in one.name or "fnm" in one.name else 1))
    if memory and is_vector:
        yield "stores" if "(" in one.operands[-1] else "loads"
    if is_vector and any(_STACK.search(word) for word in memory):
        yield "spills"
    if is_vector and _SHUFFLE.match(one.name):
        yield "shuffles"
    if one.name.startswith(("vdiv", "div", "vsqrt", "sqrt")) and is_vector:
        yield "divisions"
    if "gather" in one.name:
        yield "gathers"
    if one.name.startswith("call"):
        yield "calls"


def _lanes(one: _Instruction) -> Iterator[int]:
    """The number of results of an arithmetic instruction on vector registers; nothing for any other instruction."""
    registers = [_BITS[size] for size, _ in _REGISTER.findall(" ".join(one.operands))]
    if not registers:
        return
    if (match := _FLOATING.fullmatch(one.name)) is not None:
        yield max(registers) // _ELEMENT[match[3]] if match[2] == "p" else 1
    elif _INTEGER.match(one.name) and len(set(one.operands)) > 1:  # with equal operands it makes a zero
        yield max(registers) // {"b": 8, "w": 16, "d": 32}.get(one.name[-1], 64)


def _adds_to(one: _Instruction, register: str) -> bool:
    """True if an instruction adds to the register that it writes."""
    match = _FLOATING.fullmatch(one.name)
    if match is None or not match[1].startswith(_ADDED):
        return False
    read = one.operands if match[1].startswith("f") or len(one.operands) == 2 else one.operands[:-1]
    return any(number == register for word in read for _, number in _REGISTER.findall(word))
