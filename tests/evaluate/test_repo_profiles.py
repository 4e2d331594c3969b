"""What a profiler wrote is read as far as it is one: the program that was profiled may have written it."""

from __future__ import annotations

import io
import json
import tarfile
import time
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from maxcode.evaluate.repo import profile
from maxcode.evaluate.repo.own_functions import Costs, Tree, charged, outside
from maxcode.evaluate.repo.profile_readers import frames_of, of_callgrind, of_cprofile, of_pprof, of_v8, run_by
from maxcode.sandbox.sandbox import Ran

TREE = Tree("/repo", {"a.py", "a.js", "a.go", "a.c"}, {"a.py": "def f():\n    pass\n"})
RAN = Ran("exit", 0, 1.0, 0.0, 1.0, 0, 0, 0, 0, 0, b"", b"")
DEEP, ENDLESS = "[" * 100_000, "9" * 5000
RULE = "-----------+-------------------------------------------------------\n"
VALUES = ["NaN", "Infinity", "-Infinity", "-1", "1e400", ENDLESS, "null", '"x"', "[]", DEEP, "1e300"]


def cprofile(value: str, line: str = "1") -> Costs:
    return of_cprofile(f'[["/repo/a.py", {line}, "f", {value}, [["/repo/a.py", 1, "g", {value}]]]]\n{DEEP}\n{{}}', TREE)


def v8(value: str, line: str = "1") -> Costs:
    frame = f'{{"functionName": "f", "url": "/repo/a.js", "lineNumber": {line}}}'
    node = f'{{"id": 1, "callFrame": {frame}, "hitCount": {value}, "children": [1]}}'
    return of_v8({"one": f'{{"nodes": [{node}]}}'.encode(), "two": b"\xff\xfe", "three": DEEP.encode()}, TREE)


def callgrind(value: str, line: str = "1") -> Costs:
    call = f"cfi=/repo/a.c\ncfn=g\ncalls=1 1\n{line} {value}\n"
    return of_callgrind(f"fl=/repo/a.c\nfn=f\n{line} {value}\n{call}{line}\n+\n", TREE)


def pprof(value: str, line: str = "1") -> Costs:
    return of_pprof(
        f"Type: cpu\n{RULE}  {value}s   main.f /repo/a.go:{line}\n{RULE} 1.2.3s   f /repo/a.go:1\n{RULE}", TREE
    )


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("reader", [cprofile, v8, callgrind, pprof])
def test_no_number_of_a_profile_ends_a_run_or_gets_into_a_share(reader: Callable[..., Costs], value: str) -> None:
    for found in (reader(value), reader("1", value)):
        assert all(0 <= cost < 1e19 for cost in found.own.values())
        assert all(0 <= line < 1 << 31 for line in found.lines.values())
        paid, lost = charged(found)
        assert lost >= 0 and all(cost >= 0 for cost in paid.values())
        assert outside(found, lambda one: bool(one.file)) in (0, None)
        msgspec.json.encode(profile._ranked(found, "", TREE))


@pytest.mark.parametrize(("reader", "value"), [(cprofile, "1.5"), (v8, "3"), (callgrind, "7"), (pprof, "0.25")])
def test_a_true_profile_is_read(reader: Callable[..., Costs], value: str) -> None:
    (hot,) = profile._ranked(reader(value), "", TREE).functions
    assert (hot.share, hot.file[:2]) == (1.0, "a.")


def test_a_name_of_a_program_goes_into_prompts_and_records_as_text() -> None:
    name = "f\x1b[2J\ud800\n" + "x" * 500
    rows = [["/repo/a.py", 1, name, 1.0, [["/elsewhere", 1, name, 1.0]]]]
    found = profile._ranked(of_cprofile(json.dumps(rows), TREE), "", TREE)
    (hot,) = found.functions
    assert len(hot.name) <= 120 and hot.name.startswith("f\\x1b[2J\\ud800")
    msgspec.json.encode(found)
    assert "\x1b" not in run_by(json.dumps(["py\x1b\ud800", {}])) and run_by(DEEP) == ""


def test_what_addr2line_says_of_a_strange_program_is_read_as_far_as_it_is_a_line() -> None:
    text = f"0x1\nf\n/repo/a.c:7\n0x2\ng\n/repo/a.c:{ENDLESS}\n0x3\nh\n/repo/a.c:\u00b2\n"
    assert [frames[0][2] for _, frames in frames_of(text)] == [7, 0, 0]


def test_large_profiles_take_no_time() -> None:
    began = time.monotonic()
    frame = {"functionName": "f", "url": "/elsewhere", "lineNumber": 1}
    nodes = [{"id": n, "callFrame": frame, "hitCount": 1, "children": [n + 1]} for n in range(30_000)]
    of_v8({"deep": json.dumps({"nodes": nodes}).encode()}, TREE)
    of_pprof("\n" * 1_000_000 + "1" * 1_000_000 + f"\n{RULE}" * 10_000 + f"{' ' * 13}f\n" * 100_000, TREE)
    assert of_cprofile(f"[{'[],' * (6 << 20)}[]]", TREE).own == {}
    assert time.monotonic() - began < 60


class Asked(set[str]):
    """Paths that count how often they are asked for."""

    times = 0

    def __contains__(self, one: object) -> bool:
        self.times += 1
        return super().__contains__(one)


def test_each_place_of_a_profile_is_looked_up_once_and_soon() -> None:
    known = Asked({"a.go"})
    text = "package a\n" + "func F() {\n}\n" * 5000
    tree = Tree("/repo", known, {"a.go": text})
    stack = "".join(f"{' ' * 13}a.F /repo/a.go:{line}\n" for line in range(2, 23))
    of_pprof(f"{RULE}      10ms   a.F /repo/a.go:1\n{stack}" * 500 + RULE, tree)
    assert known.times == 22
    began = time.process_time()
    assert {tree.around("/repo/a.go", 2 + line % 50) for line in range(20_000)} == {"a.F"}
    assert time.process_time() - began < 1.5


def test_a_stack_of_go_is_read_to_a_bound() -> None:
    names = "".join(f"{' ' * 13}f{number} /repo/a.go:{number}\n" for number in range(1, 3000))
    assert len(of_pprof(f"{RULE}      10ms   a /repo/a.go:1\n{names}{RULE}", TREE).callers) < 1010


def test_without_a_readable_profile_it_says_why_there_is_none() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        packed.addfile(tarfile.TarInfo("p/lines"))
    for files in ({}, {profile._PACKED: b""}, {profile._PACKED: b"\xff" * 2000}, {profile._PACKED: out.getvalue()}):
        read = profile._unpacked(replace(RAN, files=files))
        text = "".join(data.decode(errors="replace") for data in read.values())
        found = profile._ranked(of_cprofile(text, TREE), "", TREE)
        assert not found.functions and "cannot be read" in found.why_not
