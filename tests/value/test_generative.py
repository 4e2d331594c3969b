"""The generative value model: trained, killed, resumed, saved as data and read back; small enough for a CPU."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from value_help import several

from maxcode.errors import InputError
from maxcode.train.to_go.dataset import Dataset, assembled
from maxcode.train.to_go.evaluation import told_of
from maxcode.train.to_go.figures import figures
from maxcode.train.to_go.fitting import Fit, fit
from maxcode.train.to_go.pairs import read_pairs, run_folders
from maxcode.value import Generative, Saved, Shape, load, save
from maxcode.value.generative import open_network
from maxcode.value.text import VERSION, prompt

pytestmark = pytest.mark.slow
DRIVER = Path(__file__).with_name("generative_driver.py")
SHAPE = Shape(32, 1, 2, 320)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return several(tmp_path_factory.mktemp("runs"), ["a", "b", "c"])


@pytest.fixture(scope="module")
def data(runs: Path) -> Dataset:
    return assembled(read_pairs(run_folders([runs])), frozenset("b"), "quantile")


def drive(runs: Path, out: Path, death: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DRIVER), str(runs), str(out), str(death)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def whole(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an unbroken training."""
    out = tmp_path_factory.mktemp("whole")
    done = drive(runs, out)
    assert done.returncode == 0, done.stderr
    return out


def test_a_training_killed_in_both_stages_ends_as_the_unbroken_one(runs: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "broken"
    told = []
    for death in (2, 3, 2):  # inside the base, at its end, inside LoRA
        killed = drive(runs, out, death)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        told.append(killed.stdout)
    assert "base: goes on after batch 10" in told[1]
    ended = drive(runs, out)
    assert ended.returncode == 0, ended.stderr
    assert "lora: goes on after batch" in ended.stdout
    assert "base:" not in ended.stdout, "what is finished is not done again"
    for name in ("tokenizer.json", "base.safetensors", "adapter.safetensors"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    assert not (out / "checkpoint.safetensors").exists()


def test_a_checkpoint_of_another_training_is_refused(runs: Path, data: Dataset, tmp_path: Path) -> None:
    assert drive(runs, tmp_path, 1).returncode == -signal.SIGKILL
    with pytest.raises(InputError, match=r"is of another training .* choose another --out"):
        fit("generative", data, Fit(tmp_path, seed=1, shape=SHAPE, context=128))


def test_what_is_read_back_says_what_it_says_whoever_is_asked_beside(whole: Path, data: Dataset) -> None:
    settings = Generative(VERSION, "small", SHAPE, 5, 128)
    seen = [pair.situation for pair in data.held_out][:6]
    once = open_network(whole, settings).expected(seen)
    assert all(0 <= one <= 4 for one in once)
    assert open_network(whole, settings).expected(seen[::-1]) == once[::-1]
    assert len(set(once)) > 1


def test_it_is_saved_and_loaded_with_its_card_like_any_other(whole: Path, data: Dataset) -> None:
    settings = Generative(VERSION, "small", SHAPE, 5, 128)
    save(whole, Saved(format=1, model=settings, target="max", gamma=1.0, edges={"programs": (2.0, 3.0, 4.0)}), "card")
    told = told_of(load(whole).predictor, data, data.held_out)
    assert figures(told).states == len(data.held_out)


def test_the_tokenizer_is_read_back_as_it_was_trained_and_every_label_is_one_token(whole: Path, data: Dataset) -> None:
    from tokenizers import Tokenizer

    from maxcode.value.generative.network import Reader, quick_tokenizer

    made, again = Tokenizer.from_file(str(whole / "tokenizer.json")), quick_tokenizer(whole / "tokenizer.json")
    reader = Reader(again, Generative(VERSION, "small", SHAPE, 5, 128))
    assert len(set(reader.labels)) == 5
    for pair in data.held_out[:10]:
        text = prompt(pair.situation, 5)
        ids = again.encode(text, add_special_tokens=False)
        assert ids == made.encode(text).ids
        assert again.decode(ids) == text
        assert reader.prompt(pair.situation)[-20:] == ids[-20:], "a long prompt keeps its end"


class Attack:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, ("touch attacked",))


@pytest.mark.parametrize("name", ["adapter.safetensors", "base.safetensors", "tokenizer.json"])
def test_a_strangers_tensors_run_nothing_and_are_refused(
    name: str, whole: Path, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "stranger"
    out.mkdir()
    for path in whole.glob("*.*"):
        (out / path.name).write_bytes(path.read_bytes())
    for made in (pickle.dumps(Attack()), b"", (whole / name).read_bytes()[:100]):
        (out / name).write_bytes(made)
        with pytest.raises(InputError, match=r"train (it|the model) again"):
            open_network(out, Generative(VERSION, "small", SHAPE, 5, 128)).expected([data.held_out[0].situation])
    assert not (tmp_path / "attacked").exists()


def test_tensors_of_another_shape_are_refused(whole: Path, data: Dataset) -> None:
    other = Generative(VERSION, "small", Shape(64, 1, 2, 320), 5, 128)
    with pytest.raises(InputError, match="holds the tensors of another model"):
        open_network(whole, other).expected([data.held_out[0].situation])


def test_weights_by_folder_take_the_same_way_and_missing_ones_are_named(
    whole: Path, data: Dataset, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    from maxcode.value.generative.network import quick_tokenizer, small

    weights = tmp_path / "weights"
    model = small(SHAPE)
    model.load_state_dict(load_file(whole / "base.safetensors"))
    model.save_pretrained(weights)
    quick_tokenizer(whole / "tokenizer.json").save_pretrained(weights)
    settings, predictor = fit("generative", data, Fit(tmp_path / "out", base=str(weights), context=128))
    assert isinstance(settings, Generative)
    assert (settings.base, settings.shape) == (str(weights), None)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"adapter.safetensors"}
    assert 0 <= predictor.expected([data.held_out[0].situation])[0] <= 4
    with pytest.raises(InputError, match=r"the weights '/nowhere' cannot be loaded .* --base small"):
        fit("generative", data, Fit(tmp_path / "none", base="/nowhere"))


def test_the_command_line_trains_one(runs: Path, tmp_path: Path) -> None:
    words = ["--from", str(runs), "--json"]
    command = [sys.executable, "-m", "maxcode", "train", "to-go", *words, "--model", "generative", "--out"]
    done = subprocess.run([*command, str(tmp_path / "m")], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["held_out"]) == {
        "generative", "constant", "random", "fastest-so-far", "busiest-loop",
    }  # fmt: skip
    assert "lora: batch" in done.stderr
