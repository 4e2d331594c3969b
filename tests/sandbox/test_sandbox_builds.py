"""Hostile sources in the sandboxed compiler: they read nothing of the host, and end within their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.errors import InputError
from maxcode.sandbox.sandbox import Job, Mounts, Ran, Sandbox
from tests.support.sandboxed import let_others_in

pytestmark = [pytest.mark.tiers("1", "2"), pytest.mark.sandbox]

BUILD = Job(
    ("g++", "-std=c++17", "-O1", "-fmax-errors=20", "/src/a.cpp", "-o", "/tmp/out"),
    cpu_s=30.0,
    wall_s=90.0,
    memory_mb=1024,
    output_mb=32,
    collect=("/tmp/out", "/tmp/none"),
)


def build(sandbox: Sandbox, sources: Mapping[str, str | bytes], job: Job = BUILD, bind: Path | None = None) -> Ran:
    async def run() -> Ran:
        binds = [(bind, "/given")] if bind else []
        async with sandbox.session([], Mounts(sources, binds)) as session:
            return await session.run(job)

    return anyio.run(run)


def test_a_program_of_several_files_is_built_and_brought_back(sandbox: Sandbox) -> None:
    sources = {
        "a.cpp": '#include "part/b.hpp"\n#include <vector>\nint main() { return b(std::vector<int>{1}.size()); }',
        "part/b.hpp": "inline int b(int n) { return n - 1; }",
    }
    ran = build(sandbox, sources)
    assert ran.ok, ran.stderr.decode()
    assert set(ran.files) == {"/tmp/out"}
    assert ran.files["/tmp/out"].startswith(b"\x7fELF")


@pytest.mark.parametrize(
    "source",
    [
        '#include "/etc/passwd"\nint main() {}',
        '#include "/etc/shadow"\nint main() {}',
        '#include "../../../../etc/passwd"\nint main() {}',
        'asm(".incbin \\"/etc/passwd\\"");\nint main() {}',
        '#include "/proc/1/environ"\nint main() {}',
    ],
)
def test_a_source_cannot_include_the_hosts_files(sandbox: Sandbox, source: str) -> None:
    ran = build(sandbox, {"a.cpp": source})
    assert (ran.ending, ran.code) == ("exit", 1)
    assert "/tmp/out" not in ran.files
    assert b"root:" not in ran.stderr
    assert any(words in ran.stderr for words in (b"No such file", b"not found", b"Permission denied"))


def test_a_source_finds_nothing_on_the_compilers_standard_input(sandbox: Sandbox) -> None:
    ran = build(sandbox, {"a.cpp": "#include </dev/stdin>\nint main() {}"})
    assert ran.ok
    assert ran.stderr == b""


def test_a_huge_static_array_does_not_fill_the_disk(sandbox: Sandbox) -> None:
    ran = build(sandbox, {"a.cpp": "char a[1u << 30] = {1};\nint main() { return a[0]; }"})
    assert not ran.ok
    assert "/tmp/out" not in ran.files


def test_a_constexpr_bomb_is_stopped_at_the_time_limit(sandbox: Sandbox) -> None:
    source = "constexpr long f() { long s = 0; for (long i = 0; i < 1000000000000; ++i) s += i; return s; }\n"
    flags = ("-fconstexpr-loop-limit=2147483647", "-fconstexpr-ops-limit=9223372036854775807")
    job = replace(BUILD, argv=(*BUILD.argv, *flags), cpu_s=0.7)
    ran = build(sandbox, {"a.cpp": source + "constexpr long x = f();\nint main() { return x; }"}, job)
    assert ran.ending == "timeout"
    assert ran.cpu_s >= 0.7


def test_a_template_bomb_is_stopped_by_its_limits(sandbox: Sandbox) -> None:
    source = "template <int n, int m> struct T { T<n - 1, 2 * m> a; T<n - 1, 2 * m + 1> b; };\n"
    source += "template <int m> struct T<0, m> {};\nint main() { T<40, 1> t; (void)t; }"
    ran = build(sandbox, {"a.cpp": source}, replace(BUILD, cpu_s=1.0, memory_mb=256))
    assert not ran.ok
    assert ran.cpu_s < 3.0


def test_a_flood_of_diagnostics_is_cut(sandbox: Sandbox) -> None:
    source = "".join(f"#warning {'w' * 200} {number}\n" for number in range(2000))
    ran = build(sandbox, {"a.cpp": source + "int main() {}"})
    assert ran.ok
    assert len(ran.stderr) == 64 << 10


def test_only_files_come_back_and_no_link_is_followed(sandbox: Sandbox) -> None:
    script = "ln -s /src/secret /tmp/link; mkfifo /tmp/pipe; mkdir /tmp/folder; ln -s /src /tmp/way; echo x > /tmp/file"
    collected = ("/tmp/link", "/tmp/pipe", "/tmp/folder", "/tmp/way/secret", "/tmp/file", "/dev/null")
    ran = build(sandbox, {"secret": "s"}, replace(BUILD, argv=("sh", "-c", script), collect=collected))
    assert ran.ok, ran.stderr.decode()
    assert ran.files == {"/tmp/file": b"x\n"}


def test_a_build_writes_to_its_own_tmp_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "header").write_text("given")
    let_others_in(tmp_path)
    script = "for f in / /src /usr /given /dev /proc/self /tmp; do touch $f/new && echo $f; done; cat /given/header"
    ran = build(sandbox, {"a": ""}, replace(BUILD, argv=("sh", "-c", script)), bind=tmp_path)
    assert ran.stdout == (b"/tmp\ngiven" if sandbox.tier.name == "1" else b"../t\ngiven")


def test_tmp_is_of_limited_size(sandbox: Sandbox) -> None:
    script = "i=0; while head -c 30M /dev/zero > /tmp/$i; do i=$((i+1)); done; echo $i"
    ran = build(sandbox, {"a": ""}, replace(BUILD, argv=("sh", "-c", script)))
    if sandbox.tier.name == "1":
        assert ran.ok
        assert int(ran.stdout) < 36
    else:  # no file system of its own that could be full: what grows too large is stopped
        assert ran.ending == "output"


@pytest.mark.parametrize("path", ["../a.cpp", "/etc/a.cpp", "", "a/../../b.cpp"])
def test_a_source_outside_its_folder_is_refused(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(InputError, match="must be relative"):
        build(sandbox, {path: ""})
