"""The fuzz targets without a sandbox: every reader of bytes from a program, a compiler or a model.

A target draws one input from a generator, reads it, and raises ``Finding`` if the answer is not right; any other
exception is a finding too.
"""

from __future__ import annotations

import io
import math
import os
import struct
import tarfile
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import msgspec

from maxcode.code import techniques
from maxcode.core.types import Checker, Limits, Program
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.function import comparing
from maxcode.evaluate.ladder import build, checker, profile, sanitize
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.repo.outputs import expected_of
from maxcode.evaluate.repo.own_functions import Costs, Tree, charged
from maxcode.evaluate.repo.profile_readers import of_callgrind, of_cprofile, of_pprof, of_v8
from maxcode.evaluate.repo.summaries import counted, difference
from maxcode.llm.completion import read
from maxcode.observe.critique.rule_critic import ERROR
from maxcode.problems import load
from maxcode.sandbox import jobs
from maxcode.sandbox.archives import BROKEN, content, opened
from trust.mutate import mutated, number, overwrite
from trust.references import accepts, norm

ROOT = Path(__file__).parents[2]


class Finding(Exception):
    """A wrong answer."""


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


# ------------------------------------------------------------------------------------------------------------ replies


def reply(generator: Random) -> None:
    """An answer of the shim, mutated or with wrong descriptors: an error of the machine or a Ran, and no descriptor is
    left open."""
    before = len(os.listdir("/proc/self/fd"))
    collect = tuple(f"/tmp/{n}" for n in range(generator.randrange(9)))
    job = jobs.Job(("program",), output_mb=1, collect=collect, called=generator.random() < 0.2)
    fds = [_descriptor(generator) for _ in range(generator.choice((0, 1, 2, 3, 3, 3, 3, 4, 11, 16)))]
    with suppress(MachineError):
        jobs.unpack(job, _packet(generator), fds)
    if len(os.listdir("/proc/self/fd")) != before:
        raise Finding("descriptors were left open")


def _packet(generator: Random) -> bytes:
    """A run that ended well, with some of its numbers changed."""
    packet = bytearray(jobs._REPLY.size)
    for _ in range(generator.randrange(4)):
        overwrite(generator, packet)
    packet[:4] = generator.choice((0, 0, 0, 1, 2, 3, 4, 5, 6, 2**32 - 1)).to_bytes(4, "little")
    return mutated(generator, bytes(packet)) if generator.random() < 0.3 else bytes(packet)


def _descriptor(generator: Random) -> int:
    if generator.random() < 0.05:
        return os.open("/dev/null", os.O_RDONLY)
    fd = os.memfd_create("fuzz")
    samples = bytearray(generator.randrange(3) * jobs._SAMPLE.size)
    if samples:
        overwrite(generator, samples)
    os.write(fd, mutated(generator, bytes(samples) + b"\0/usr/lib/libc.so.6\0"))
    return fd


# -------------------------------------------------------------------------------------------------- words of compilers

_REMARKS = (
    b"/src/a.c:12:5: missed: couldn't vectorize loop\n/src/a.c:14:9: optimized: loop vectorized using 32 byte vectors\n"
    b"/src/a.c:20:3: missed:   not vectorized: complicated access pattern.\n"
)
_ERRORS = (
    b"/src/a.c: In function 'main':\n/src/a.c:3:12: error: 'x' undeclared (first use in this function)\n"
    b"/usr/bin/ld: /tmp/cc1.o: in function `main':\na.c:(.text+0x5): undefined reference to `nowhere'\n"
    b"collect2: error: ld returned 1 exit status\n"
)
_PLACES = b"0x0000000000001139\nmain\n/src/a.c:4\n0x1150\nf(int)\n/src/a.c:9 (discriminator 3)\n??\n??:0\n"
_FAULTS = (
    b"/src/a.c:5:7: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n"
    b"==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x1\nREAD of size 4 at 0x6 thread T0\n"
    b"    #0 0x1139 in main /src/a.c:9:3\n"
)


def _ran(stderr: bytes) -> jobs.Ran:
    return jobs.Ran("exit", 1, 0.1, 0.0, 0.1, 1, 0, 0, 0, 0, b"", stderr[: jobs.STDERR_KEPT])


def diagnostics(generator: Random) -> None:
    """Remarks and errors of a compiler, which quote names from the program."""
    remarks = build._remarks(mutated(generator, _REMARKS))
    if len(remarks) > 500 or any(one.line < 0 for one in remarks):
        raise Finding(f"{len(remarks)} remarks")
    ran = _ran(mutated(generator, _ERRORS))
    reason = build._failure(ran, Limits())
    if not reason or len(reason) > 300 or "\n" in reason:
        raise Finding(f"the reason of a failed build is {reason[:400]!r}")
    words = ran.stderr.decode(errors="replace")
    _ = [int(match[2]) for match in ERROR.finditer(words)]  # as the critic does


def reports(generator: Random) -> None:
    """Output of addr2line and of the sanitizers, mixed with the program's own output."""
    list(profile._parsed(mutated(generator, _PLACES).decode(errors="replace")))
    with jobs.Blob.of(b"") as empty:
        list(sanitize._defects(_ran(mutated(generator, _FAULTS)), Input("fuzz", empty, b"", "seen")))


# ------------------------------------------------------------------------------------------------------------ checking

_SPACES = (b" ", b"\n", b"\t", b"  ", b"\r\n", b"\x0b", b"\x0c")
_ODD = (b"nan", b"NaN", b"-nan", b"inf", b"-Infinity", b"1e400", b"-1e400", b"1e-400", b"-0", b"-0.0", b"+0", b"0x10",
        b"0x1p3", b"1_0", b"1_0.5", b"1.", b".5", b".", b"e5", b"1e", b"1E5", b"+-1", b"--1", b"", b"yes", b"banana",
        b"\0", b"1\x002", b"\xff", b"1\xa02", b"1\x1c2", b"1\x852", "\u0663".encode(), b"9007199254740993",
        b"1.7976931348623157e308", b"5e-324", b"007", b"00", b"1" * 400, b"1e+5", b"1d5",
        b"nan(1)", b"1.5f")  # fmt: skip
_CHECKERS = (
    Checker("exact"), Checker("tokens"), Checker("float"), Checker("float", abs_tol=1e-6, rel_tol=1e-6),
    Checker("float", abs_tol=0.0, rel_tol=0.0), Checker("float", abs_tol=0.5, rel_tol=0.0),
)  # fmt: skip


def outputs(generator: Random) -> None:
    """The checker against its slow reference, on an output that is mostly the expected one."""
    how = generator.choice(_CHECKERS)
    expected = [_token(generator) for _ in range(generator.randrange(6))]
    got = [_changed(generator, how, token) for token in expected] if generator.random() < 0.8 else list(expected)
    if generator.random() < 0.1 and got:
        del got[generator.randrange(len(got))]
    if generator.random() < 0.1:
        got.insert(generator.randint(0, len(got)), _token(generator))
    want, have = _spaced(generator, expected), _spaced(generator, got)
    have = have if generator.random() < 0.9 else mutated(generator, have)
    right = accepts(how, want, have)
    found = checker.difference(how, want, have)
    if right is not None and right is not (found is None):
        raise Finding(f"{how}: expected {want[:200]!r}, got {have[:200]!r}: says {found}, must be {right}")


def _token(generator: Random) -> bytes:
    match generator.randrange(5):
        case 0:
            return str(generator.randint(-(10**6), 10**6)).encode()
        case 1:
            return repr(generator.uniform(-1e3, 1e3)).encode()
        case 2:
            return b"%.*g" % (generator.randint(1, 20), generator.uniform(-1, 1) * 10.0 ** generator.randint(-320, 308))
        case _:
            return generator.choice(_ODD)


def _changed(generator: Random, how: Checker, token: bytes) -> bytes:
    """The token, or one near it: the same number spelt otherwise, or just inside or outside of the tolerance."""
    if generator.random() < 0.6:
        return token
    try:
        value = float(token)
    except ValueError:
        return _token(generator)
    if not math.isfinite(value):
        return generator.choice(_ODD)
    edge = how.abs_tol + how.rel_tol * abs(value)
    near = value + generator.choice((-1, 1)) * edge * generator.choice((0, 0.5, 0.999, 1.001, 2, 1e6))
    return generator.choice((repr(near), f"{value:+.17g}", f"{near:e}", f"0{token.decode('latin-1')}")).encode(
        "latin-1"
    )


def _spaced(generator: Random, found: list[bytes]) -> bytes:
    if generator.random() < 0.5:
        return b" ".join(found) + b"\n" * generator.randrange(2)
    return b"".join(generator.choice(_SPACES) + token for token in found) + generator.choice((b"", *_SPACES))


_CODES = {"double": "d", "float": "f", "int": "i", "long": "q"}


def arrays(generator: Random) -> None:
    """``compare.c`` against exact arithmetic, on bits that can be any number."""
    ctype = generator.choice(list(_CODES))
    code, count = _CODES[ctype], generator.randrange(1, 9)
    want = b"".join(_element(generator, code) for _ in range(count))
    got = generator.choice((None, want, b"".join(_element(generator, code) for _ in range(count))))
    found, right = comparing.distance(ctype, want, got), norm(code, want, got)
    if math.isnan(right):
        if math.isfinite(found):
            raise Finding(f"{ctype} {want.hex()} {got and got.hex()}: {found} where a number is not finite")
    elif not math.isclose(found, right, rel_tol=1e-12, abs_tol=1e-321) and not right > 1.79e308:
        raise Finding(f"{ctype} {want.hex()} {got and got.hex()}: {found}, must be {right}")


def _element(generator: Random, code: str) -> bytes:
    kind = generator.random()
    if code in "iq" or kind < 0.3:
        width = struct.calcsize("=" + code)
        return number(generator, 8 * width).to_bytes(width, "little")
    odd = (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e-310, 1e-160, 1e154, 1.7e308, -1.7e308, 1.0)
    usual = generator.uniform(-1, 1) * 10.0 ** generator.choice((0, 0, -155, 153, -300, 300))
    value = generator.choice(odd) if kind < 0.5 else usual
    return struct.pack("=" + code, value if code == "d" or not math.isfinite(value) else math.fmod(value, 1e38))


# ------------------------------------------------------------------------------------------------------- repositories

_TREE = Tree(
    "/repo", {"a.py", "a.c", "a.go"}, {"a.py": "def f():\n    pass\n", "a.c": "int f(void) {\n    return 1;\n}\n"}
)
_V8 = (
    b'{"nodes":[{"id":1,"hitCount":3,"children":[2],'
    b'"callFrame":{"functionName":"f","url":"/repo/a.py","lineNumber":1}}]}'
)
_PROFILES: tuple[tuple[bytes, Callable[[bytes], Costs]], ...] = (
    (b'[["/repo/a.py",1,"f",1.5,[["/repo/a.py",3,"g",2.5]]]]\n', lambda raw: of_cprofile(_text(raw), _TREE)),
    (_V8, lambda raw: of_v8({"one": raw}, _TREE)),
    (
        b"fl=/repo/a.c\nfn=f\n1 70\ncfi=/x.c\ncfn=g\ncalls=1 1\n2 90\n",
        lambda raw: of_callgrind(_text(raw), _TREE),
    ),
    (b"  0.61s 59.22% 59.22%  0.61s 59.22%  a.F /repo/a.go:5\n", lambda raw: of_pprof(_text(raw), _TREE)),
)
_SUMMARY = b"ok 1 - a\nRan 7 tests in 0.1s\n=== 12 passed, 1 skipped in 0.12s ===\nresult 123456789 took 0.125 s\n"


def profiles(generator: Random) -> None:
    """What a profiler wrote: costs that are numbers, which a record takes."""
    raw, reader = generator.choice(_PROFILES)
    found = reader(mutated(generator, raw))
    if not all(0 <= cost < math.inf for cost in (*found.own.values(), *charged(found)[0].values())):
        raise Finding(f"costs of {found.own}")
    msgspec.json.encode([function.name for function in found.own])


def summaries(generator: Random) -> None:
    """What tests and a benchmark printed: the same as base, or in words what is not."""
    output = mutated(generator, _SUMMARY)
    told = expected_of([_SUMMARY], False).difference(output), difference(counted(_SUMMARY), counted(output))
    if output == _SUMMARY and any(told):
        raise Finding(f"{told}")


def archives(generator: Random) -> None:
    """An archive of a program: its files, or an error that says that it is none."""
    about, out = tarfile.TarInfo("name/" * generator.choice((1, 60)) + "a"), io.BytesIO()
    about.size, about.mtime = 3, generator.choice((0, 1, 2.5))
    with tarfile.open(fileobj=out, mode="w", format=generator.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))) as made:
        made.addfile(about, io.BytesIO(b"abc"))
    with suppress(*BROKEN), opened(mutated(generator, out.getvalue())) as packed:
        for member in packed:
            content(packed, member)


# --------------------------------------------------------------------------------------------- completions, problems

_PROGRAM = Program({"a.c": '#include <stdio.h>\nint main(void) {\n    puts("x");\n    return 0;\n}\n'})
_COMPLETIONS = (
    b'Faster:\n```c\n#include <stdio.h>\nint main(void) { puts("x"); }\n```\nDone.\n',
    b'<think>so</think>\n<<<<<<< SEARCH\n    puts("x");\n=======\n    puts("y");\n>>>>>>> REPLACE\n',
    b"a.c\n~~~~\nint main(void) { return 0; }\n~~~~\n```\n```c\nint f;\n```",
)


def completions(generator: Random) -> None:
    """A model's answer: a program or a reason, never an error."""
    text = mutated(generator, generator.choice(_COMPLETIONS)).decode(
        errors=generator.choice(("replace", "surrogateescape"))
    )
    found = read(text, _PROGRAM, "c", generator.choice(("whole", "edits")))
    if isinstance(found, Program) and found.files.keys() != _PROGRAM.files.keys():
        raise Finding(f"a program of {sorted(found.files)}")


_SOURCES = {
    "c": b"int a[9];\nint f(int n) {\n    int s = 0;\n    for (int i = 0; i < n; i += 4) s += 3 * a[i] + 3 * a[i+1];\n"
    b"    return s;\n}\n",
    "cpp": b"#include <vector>\nint f(std::vector<int> &v) { int s = 0; for (auto x : v) s += x << 3; return s; }\n",
}


def sources(generator: Random) -> None:
    """A candidate's text, searched for techniques."""
    tongue = generator.choice(list(_SOURCES))
    techniques.used(tongue, mutated(generator, _SOURCES[tongue]).decode(errors="replace"))


_PROBLEM = b"""source = "a.c"
flags = ["-O2"]
statement = "x"
[checker]
kind = "float"
rel_tol = 1e-6
[tests]
folder = "tests"
generated = 3
seen = ["1"]
[limits]
run_s = 2
memory_mb = 256
"""


def problems(generator: Random) -> None:
    """A ``problem.toml``: a problem, or an error of the user with a remedy."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        (folder / "a.c").write_text(_PROGRAM.text)
        (folder / "tests").mkdir()
        for case in ("1", "2"):
            (folder / "tests" / f"{case}.in").write_text("1\n")
            (folder / "tests" / f"{case}.out").write_text("x\n")
        (folder / "problem.toml").write_bytes(mutated(generator, _PROBLEM))
        try:
            load(folder)
        except InputError as error:
            if not str(error):
                raise Finding("an error without a word") from error


TARGETS: dict[str, Callable[[Random], None]] = {
    "replies": reply,
    "diagnostics": diagnostics,
    "reports": reports,
    "outputs": outputs,
    "arrays": arrays,
    "profiles": profiles,
    "summaries": summaries,
    "archives": archives,
    "completions": completions,
    "sources": sources,
    "problems": problems,
}
