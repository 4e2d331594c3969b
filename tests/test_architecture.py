"""The rooms import only what DESIGN allows: the floor its own kind, siblings only the floor."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import maxcode

ROOT = Path(maxcode.__file__).parent
FLOOR = {
    "types",
    "arithmetic",
    "roles",
    "reward",
    "reached",
    "errors",
    "feedback",
    "languages",
    "lines",
    "native",
    "source",
    "stats",
    "model",
    "prompts",
    "completion",
    "techniques",
}
SIBLINGS = {"problems", "policy", "evaluate", "critique", "observe", "value", "search", "record"}
MEETING = {"optimize", "batch", "budget", "distinct", "guided", "methods", "bench", "train", "cluster"}
READS_ONLY = {"report": FLOOR | {"record"}}
FRONT = {
    "run",
    "request",
    "verdict",
    "shapes",
    "export",
    "certificate",
    "compare",
    "preview",
    "config",
    "cli",
    "serve",
    "testing",
    "where",
    "__init__",
    "__main__",
}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("maxcode"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("maxcode.")}
    return found


def allowed(room: str) -> set[str]:
    if room in FLOOR:
        return FLOOR
    if room in SIBLINGS:
        return FLOOR | {room}
    if room in READS_ONLY:
        return READS_ONLY[room] | {room}
    if room in MEETING:
        return FLOOR | SIBLINGS | MEETING | {"report"}
    assert room in FRONT, f"{room} is in no room list: add it to one, with the reason"
    return FLOOR | SIBLINGS | MEETING | {"report"} | FRONT


def test_every_file_imports_only_what_its_room_may() -> None:
    wrong = {}
    for path in ROOT.rglob("*.py"):
        room = room_of(path)
        if extra := imported_rooms(path) - allowed(room):
            wrong[str(path.relative_to(ROOT))] = sorted(extra)
    assert wrong == {}


HEAVY = {
    "accelerate", "datasets", "numpy", "pandas", "peft", "safetensors", "scipy", "sklearn", "tokenizers", "torch",
    "transformers", "trl",
}  # fmt: skip
HEAVY_ROOMS = (
    ROOT / "evaluate" / "module" / "inside",  # runs in the sandbox, where torch is
    ROOT / "value" / "generative",  # imported when such a model is opened
    ROOT / "train",  # imports them inside functions; the next test says whether it does
)


def test_the_core_never_imports_torch_or_numpy() -> None:
    heavy = HEAVY
    for path in ROOT.rglob("*.py"):
        if any(path.is_relative_to(room) for room in HEAVY_ROOMS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & heavy, path


def test_nothing_heavy_is_loaded_by_the_command_line_or_by_a_value_model_of_trees() -> None:
    modules = "maxcode.cli, maxcode.value, maxcode.train.to_go, maxcode.train.to_go.fitting, maxcode.train.grpo"
    code = f"import sys, {modules}; print([name for name in {sorted(HEAVY)!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_runs_in_the_sandbox_is_imported_by_nobody() -> None:
    for path in ROOT.rglob("*.py"):
        assert "module.inside" not in path.read_text(), path


def test_the_public_face_has_at_most_25_names() -> None:
    assert len(maxcode.__all__) <= 25
    assert all(name in vars(maxcode) for name in maxcode.__all__)
