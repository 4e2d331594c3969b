"""The machine describes itself from what the kernel says, and says nothing where it does not."""

from __future__ import annotations

from pathlib import Path

from maxcode.evaluate.machine.machine import caches, describe, instruction_sets

X86 = "processor\t: 0\nmodel name\t: CPU\nflags\t\t: fpu sse4_2 avx avx2 fma avx512f avx512_vnni\nflags : none\n"
ARM = "processor : 0\nFeatures  : fp asimd asimddp sve\n"


def test_instruction_sets_are_named_as_compilers_name_them() -> None:
    assert instruction_sets(X86) == ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512vnni")
    assert instruction_sets(ARM) == ("neon", "dotprod", "sve")
    assert instruction_sets("") == ()


def test_caches_are_those_of_data_nearest_first(tmp_path: Path) -> None:
    rows = (("3", "Unified", "32768K"), ("1", "Instruction", "64K"), ("1", "Data", "32K"), ("2", "Unified", "1024K"))
    for index, row in enumerate(rows):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size"), row, strict=True):
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "index9").mkdir()  # a level that says nothing of itself
    assert list(caches(tmp_path).items()) == [("L1d", "32K"), ("L2", "1024K"), ("L3", "32768K")]
    assert caches(tmp_path / "nowhere") == {}


def test_this_machine_can_be_described() -> None:
    found = describe("no sandbox")
    assert found.cores >= 1
    assert found.cpu
    assert found.sandbox == "no sandbox"
