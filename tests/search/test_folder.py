"""A value model's folder: what a digest is of, and how a new model takes the place of an old one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.search.value import Generative, NetworkShape, Saved, digest, load, read, save
from maxcode.search.value.baselines import Constant
from maxcode.search.value.model_folder import Model, publish
from maxcode.search.value.text import VERSION

SMALL = Generative(VERSION, "small", NetworkShape())
FILES = ("tokenizer.json", "base.safetensors", "adapter.safetensors")
KILLED = """
import os, signal, sys
from pathlib import Path
from maxcode.search.value.model_folder import publish
left, real = int(sys.argv[3]), Path.replace
def replace(self, to):
    global left
    left -= 1
    if left < 0: os.kill(os.getpid(), signal.SIGKILL)
    return real(self, to)
Path.replace = replace
publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[4:])
"""


def made(folder: Path, model: Model = SMALL, word: str = "new") -> Path:
    """A folder with a model whose tensors are a word."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_text(f"{word} {name}")
    save(folder, Saved(format=1, model=model, target="max", gamma=1.0, edges={}), word)
    return folder


@pytest.mark.parametrize("name", [*FILES, "value.json"])
def test_a_digest_is_of_every_file_that_the_model_reads(name: str, tmp_path: Path) -> None:
    before = digest(made(tmp_path))
    with (tmp_path / name).open("a") as file:
        file.write(" ")
    assert digest(tmp_path) != before


def test_a_digest_is_of_nothing_else(tmp_path: Path) -> None:
    before = digest(made(tmp_path / "small"))
    for name in ("checkpoint.safetensors", "older.safetensors", "CARD.md"):
        (tmp_path / "small" / name).write_text("stale")
    assert digest(tmp_path / "small") == before
    before = digest(made(tmp_path / "constant", Constant(1.0)))
    (tmp_path / "constant" / "adapter.safetensors").write_text("of a model that was here before")
    assert digest(tmp_path / "constant") == before


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named_when_a_model_is_loaded_and_torch_is_not_even_asked_for(
    name: str, tmp_path: Path
) -> None:
    (made(tmp_path) / name).unlink()
    for asked in (load, digest):
        with pytest.raises(InputError, match=rf"cannot read .*{name}: No such file.*; train the model again"):
            asked(tmp_path)
    code = f"from pathlib import Path; from maxcode.search.value import load; load(Path({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=False)
    assert "InputError" in done.stderr
    assert " torch\n" not in done.stderr


def test_a_model_that_reads_the_text_of_an_older_revision_is_refused(tmp_path: Path) -> None:
    older = Generative("text-1-beef", "small", NetworkShape())
    with pytest.raises(InputError, match=r"trained on feature version 'text-1-beef', this maxcode makes 'text-2-"):
        load(made(tmp_path, older))


@pytest.mark.heavy
@pytest.mark.parametrize("death", range(6))
def test_a_folder_is_whole_whenever_publishing_dies_and_the_made_one_stays(death: int, tmp_path: Path) -> None:
    new, out = made(tmp_path / "new"), made(tmp_path / "out", Generative(VERSION, "small", NetworkShape(64)), "old")
    others = [*FILES, "CARD.md"]
    command = [sys.executable, "-c", KILLED, str(new), str(out), str(death), *others]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if (out / "value.json").exists():
        words = {path.read_text().split()[0] for path in out.iterdir() if path.suffix in (".md", ".safetensors")}
        assert words == {"new"}, done.stderr
        assert read(out) == read(new)
    else:
        assert death < 5
    publish(new, out, others)
    assert digest(out) == digest(new)
    assert {path.name for path in out.iterdir()} == {*others, "value.json"}


def test_nothing_is_taken_away_where_nothing_can_be_put(tmp_path: Path) -> None:
    new, out = made(tmp_path / "new"), made(tmp_path / "out", word="old")
    before = digest(out)
    with pytest.raises(InputError, match=r"cannot write to .*; choose another --out"):
        publish(new, out, [*FILES, "metrics.json"])  # there are none to put
    assert digest(out) == before
