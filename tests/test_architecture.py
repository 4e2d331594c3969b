"""The layers: a room imports only rooms that stand before it in one list; no circle, neither of rooms nor of files.

``python -m tests.test_architecture [SRC]`` prints the count of rooms, floors, arrows and circles of a source tree.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import maxcode

ROOT = Path(maxcode.__file__).parent
LAYERS = (
    "errors", "native", "code", "core", "llm", "sandbox", "evaluate", "problems", "observe", "policy", "search", "run",
    "bench", "train", "testing", "__init__", "cli", "__main__",
)  # fmt: skip
FLOORS = 11  # at most; a floor is one more than the highest room that a room imports

Graph = Mapping[str, set[str]]


@cache
def files_of(root: Path) -> Graph:
    """Every module below a package, and the modules of the package that it imports, at its top or inside functions."""
    paths = {module_of(path, root): path for path in sorted(root.rglob("*.py"))}
    return {name: set(imported(path, paths)) - {name} for name, path in paths.items()}


def module_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules else node.module for name in whole]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name for name in names if name in modules)


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def rooms_of(files: Graph) -> Graph:
    """The rooms (what lies directly in the package), and the rooms that each imports."""
    rooms: dict[str, set[str]] = {room_of(module): set() for module in files}
    for module, others in files.items():
        rooms[room_of(module)] |= {room_of(other) for other in others} - {room_of(module)}
    return rooms


def circle_in(graph: Graph) -> list[str]:
    """One circle of imports, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def floors_of(rooms: Graph) -> int:
    height: dict[str, int] = {}
    for room in TopologicalSorter(rooms).static_order():
        height[room] = 1 + max((height[below] for below in rooms[room]), default=0)
    return max(height.values())


def test_every_room_imports_only_rooms_before_it_in_the_list() -> None:
    rooms = rooms_of(files_of(ROOT))
    assert set(rooms) == set(LAYERS), "a room was added or removed: change the list, with the reason"
    later = {room: sorted(other for other in rooms[room] if LAYERS.index(other) > LAYERS.index(room)) for room in rooms}
    assert {room: others for room, others in later.items() if others} == {}


def test_no_files_import_one_another_in_a_circle() -> None:
    assert circle_in(files_of(ROOT)) == []


def test_there_are_few_floors() -> None:
    assert floors_of(rooms_of(files_of(ROOT))) <= FLOORS


HEAVY = {
    "accelerate", "datasets", "numpy", "pandas", "peft", "safetensors", "scipy", "sklearn", "tokenizers", "torch",
    "transformers", "trl",
}  # fmt: skip
HEAVY_ROOMS = (
    ROOT / "evaluate" / "module" / "inside",  # runs in the sandbox, where torch is
    ROOT / "evaluate" / "python" / "inside",  # likewise, where numpy may be
    ROOT / "search" / "value" / "generative",  # imported when such a model is opened
    ROOT / "train",  # imports them inside functions; the next test says whether it does
)


def test_the_core_never_imports_torch_or_numpy() -> None:
    for path in ROOT.rglob("*.py"):
        text = path.read_text()
        if any(path.is_relative_to(room) for room in HEAVY_ROOMS) or not any(name in text for name in HEAVY):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & HEAVY, path


@pytest.mark.heavy
def test_nothing_heavy_is_loaded_by_the_command_line_or_by_a_value_model_of_trees() -> None:
    modules = "maxcode.cli, maxcode.search.value, maxcode.train.to_go.fitting, maxcode.train.grpo"
    code = f"import sys, {modules}; print([name for name in {sorted(HEAVY)!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.heavy
def test_a_single_verdict_imports_no_search_no_rules_no_report_and_no_cluster() -> None:
    """They take longer to import than such a verdict may wait for them."""
    rooms = (
        "maxcode.search",
        "maxcode.policy.rules",
        "maxcode.run.report",
        "maxcode.run.job",
        "maxcode.evaluate.cluster",
    )
    code = f"import sys, maxcode.cli.evaluate; print([name for name in {rooms!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_runs_in_the_sandbox_is_imported_by_nobody() -> None:
    for path in ROOT.rglob("*.py"):
        assert not re.search(r"(module|python|rounds)\.inside", path.read_text()), path


def test_the_public_face_has_at_most_25_names() -> None:
    assert len(maxcode.__all__) <= 25
    assert all(getattr(maxcode, name) is not None for name in maxcode.__all__)


def count(root: Path) -> str:
    files = files_of(root)
    rooms = rooms_of(files)
    circles = [" -> ".join(circle) for circle in (circle_in(rooms), circle_in(files)) if circle]
    floors = "no" if circle_in(rooms) else floors_of(rooms)
    return (
        f"{len(rooms)} rooms, {floors} floors, {sum(map(len, rooms.values()))} arrows, {len(files)} files; "
        f"circles: {'; '.join(circles) or 'none'}"
    )


if __name__ == "__main__":
    print(count(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
