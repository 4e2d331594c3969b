"""The generative value model: trained, killed, resumed, saved as data and read back; small enough for a CPU."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.search.value import Generative, NetworkShape, digest, load
from maxcode.search.value.generative import open_network
from maxcode.search.value.text import VERSION, prompt
from maxcode.train.to_go import Training, train_to_go
from maxcode.train.to_go.dataset import Dataset, assembled
from maxcode.train.to_go.evaluation import told_of
from maxcode.train.to_go.fit import Fit
from maxcode.train.to_go.fitting import fit
from maxcode.train.to_go.model_figures import figures
from maxcode.train.to_go.pairs import read_pairs, run_folders
from tests.support.generative_driver import CONTEXT, SHAPE
from tests.support.value_help import several

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
DRIVER = Path(__file__).parents[1] / "support" / "generative_driver.py"


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
def unbroken(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of an unbroken training, and what it said."""
    out = tmp_path_factory.mktemp("whole")
    done = drive(runs, out)
    assert done.returncode == 0, done.stderr
    return out, done.stdout.splitlines()


@pytest.fixture(scope="module")
def whole(unbroken: tuple[Path, list[str]]) -> Path:
    return unbroken[0]


@pytest.fixture(scope="module")
def killed(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that was killed after its base and one checkpoint of LoRA."""
    out = tmp_path_factory.mktemp("killed")
    assert drive(runs, out, 6).returncode == -signal.SIGKILL
    return out


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_training_killed_in_every_stage_ends_as_the_unbroken_one(
    runs: Path, unbroken: tuple[Path, list[str]], tmp_path: Path
) -> None:
    whole, words = unbroken
    last = sum("lora: batch" in word for word in words)
    assert last > 2
    out, told = tmp_path / "broken", []
    for death in (2, 3, 2, last - 2):  # inside the base, at its end, inside LoRA, at its end
        killed = drive(runs, out, death)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert {path.name for path in out.iterdir()} == {"generative.unfinished"}
        told.append(killed.stdout)
    assert "base: resumes after batch 10" in told[1]
    assert "lora: resumes after batch" in told[3]
    assert "base:" not in told[3], "what is finished is not done again"
    ended = drive(runs, out)
    assert ended.returncode == 0, ended.stderr
    assert "batch" not in ended.stdout.partition("lora: resumes after batch")[2]
    ours, theirs = contents(out), contents(whole)
    del ours["metrics.json"], theirs["metrics.json"]  # it names the folder
    assert ours == theirs


def test_an_older_model_stays_until_the_new_one_is_finished(
    runs: Path, data: Dataset, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "used"
    train_to_go(Training((runs,), out, "trees", held_out=("b",)))
    before = contents(out)
    seen = [pair.situation for pair in data.held_out]
    old = load(out).predictor.expected(seen)
    assert drive(runs, out, 6).returncode == -signal.SIGKILL
    assert {name: text for name, text in contents(out).items() if "unfinished" not in name} == before
    assert load(out).predictor.expected(seen) == old
    assert drive(runs, out).returncode == 0
    assert digest(out) == digest(whole)
    assert load(out).predictor.expected(seen) == load(whole).predictor.expected(seen)


def test_a_training_of_another_job_is_refused_and_harms_nothing(runs: Path, killed: Path, tmp_path: Path) -> None:
    out = copied(killed, tmp_path / "used")
    train_to_go(Training((runs,), out, "trees", held_out=("b",)))
    before = contents(out)
    with pytest.raises(InputError, match=r"is of another training .* choose another --out, or remove .*unfinished"):
        train_to_go(Training((runs,), out, "generative", held_out=("b",), seed=1))
    with pytest.raises(InputError, match=r"the weights '/nowhere' cannot be loaded .* --base small"):
        train_to_go(Training((runs,), tmp_path / "none", "generative", base="/nowhere"))
    assert contents(out) == before
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "base.safetensors"])
def test_a_damaged_file_of_an_unfinished_training_is_named_with_the_cure(
    name: str, data: Dataset, killed: Path, tmp_path: Path
) -> None:
    folder = copied(killed, tmp_path / "damaged") / "generative.unfinished"
    (folder / name).write_bytes((folder / name).read_bytes()[:-100])
    with pytest.raises(InputError, match=rf"{name} \(.*\); remove .*unfinished and repeat the command") as refused:
        fit("generative", data, Fit(folder, shape=SHAPE, context=CONTEXT))
    assert "\n" not in str(refused.value)


def test_what_is_read_back_says_what_it_says_whoever_is_asked_beside(whole: Path, data: Dataset) -> None:
    settings = Generative(VERSION, "small", SHAPE, 5, CONTEXT)
    seen = [pair.situation for pair in data.held_out][:6]
    once = open_network(whole, settings).expected(seen)
    assert all(0 <= one <= 4 for one in once)
    assert open_network(whole, settings).expected(seen[::-1]) == once[::-1]
    assert len(set(once)) > 1


def test_it_is_loaded_like_any_other(whole: Path, data: Dataset) -> None:
    told = told_of(load(whole).predictor, data, data.held_out)
    assert figures(told).states == len(data.held_out)


def test_the_tokenizer_is_read_back_as_it_was_trained_and_every_label_is_one_token(whole: Path, data: Dataset) -> None:
    from tokenizers import Tokenizer

    from maxcode.search.value.generative.network import Reader, quick_tokenizer

    made, again = Tokenizer.from_file(str(whole / "tokenizer.json")), quick_tokenizer(whole / "tokenizer.json")
    reader = Reader(again, Generative(VERSION, "small", SHAPE, 5, CONTEXT))
    assert len(set(reader.labels)) == 5
    for pair in data.held_out[:10]:
        text = prompt(pair.situation, 5)
        ids = again.encode(text, add_special_tokens=False)
        assert ids == made.encode(text).ids
        assert again.decode(ids) == text
        cut = reader.prompt(pair.situation)
        assert len(cut) <= CONTEXT
        assert cut[-20:] == ids[-20:], "a long prompt keeps its end"
        told = again.decode(cut)
        assert f"Depth: {pair.situation.depth}. Best speed-up so far: {pair.situation.u:.2f}." in told
        assert all(f"\n{name}:\n" in told for name in ("Original", "Program", "Change", "Feedback", "Critique"))


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
            open_network(out, Generative(VERSION, "small", SHAPE, 5, CONTEXT)).expected([data.held_out[0].situation])
    assert not (tmp_path / "attacked").exists()


def test_many_slots_at_once_ask_one_network(
    whole: Path, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maxcode.search.value.generative import network

    calls = []

    def counted(folder: Path, settings: Generative) -> network.Opened:
        calls.append(folder)
        return real(folder, settings)

    real = network.reopened
    monkeypatch.setattr(network, "reopened", counted)
    folder = copied(whole, tmp_path / "asked")
    seen = [[pair.situation] for pair in data.held_out[:6]]
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda one: load(folder).predictor.expected(one), seen))
    assert len(calls) == 1
    assert told == [load(whole).predictor.expected(one) for one in seen]
    (folder / "adapter.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match=r"cannot read .*adapter\.safetensors"):
        load(folder)


def test_a_search_is_refused_before_it_begins_where_its_model_cannot_be_opened(whole: Path, tmp_path: Path) -> None:
    model = copied(whole, tmp_path / "model")
    (tmp_path / "slow.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "tests").mkdir()
    for end in ("in", "out"):
        (tmp_path / "tests" / f"1.{end}").write_text("")
    command = [sys.executable, "-m", "maxcode", "optimize", "slow.c", "--tests", "tests", "--out", "run"]
    guided = [*command, "--method", "cuda-llm+value", "--value", str(model)]
    for name in ("adapter.safetensors", "tokenizer.json"):
        whole_file = (model / name).read_bytes()
        (model / name).unlink()
        done = subprocess.run(guided, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert f"cannot read {model / name}" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "run").exists()
        (model / name).write_bytes(whole_file)


def test_tensors_of_another_shape_are_refused(whole: Path, data: Dataset) -> None:
    other = Generative(VERSION, "small", NetworkShape(64, 1, 2, 320), 5, CONTEXT)
    with pytest.raises(InputError, match="holds the tensors of another model"):
        open_network(whole, other).expected([data.held_out[0].situation])


def test_weights_by_folder_take_the_same_way_and_missing_ones_are_named(
    whole: Path, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file

    from maxcode.search.value.generative.network import quick_tokenizer, small

    weights = tmp_path / "weights"
    model = small(SHAPE)
    model.load_state_dict(load_file(whole / "base.safetensors"))
    model.save_pretrained(weights)
    quick_tokenizer(whole / "tokenizer.json").save_pretrained(weights)
    monkeypatch.chdir(tmp_path)
    settings, predictor = fit("generative", data, Fit(tmp_path / "out", base="weights", context=CONTEXT))
    assert isinstance(settings, Generative)
    assert (settings.base, settings.shape) == (str(weights), None), "it is found from other folders, too"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"adapter.safetensors", "checkpoint.safetensors"}
    assert 0 <= predictor.expected([data.held_out[0].situation])[0] <= 4
    with pytest.raises(InputError, match=r"the weights '/nowhere' cannot be loaded .* --base small"):
        fit("generative", data, Fit(tmp_path / "none", base="/nowhere"))


def test_sparing_memory_keeps_fewer_activations_and_the_same_gradients() -> None:
    import torch

    from maxcode.search.value.generative.network import label_logits, small, spare_memory, with_lora

    def trained(spared: bool) -> tuple[int, list[torch.Tensor]]:
        torch.manual_seed(0)
        model = with_lora(small(SHAPE), Generative(VERSION, "small", SHAPE, 5, CONTEXT)).train()
        if spared:
            spare_memory(model)
        kept: list[int] = []

        def noted(tensor: torch.Tensor) -> torch.Tensor:
            kept.append(tensor.nbytes)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(noted, lambda tensor: tensor):
            loss = label_logits(model, [list(range(2, 90)), list(range(3, 60))], [0, 1]).logsumexp(-1).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return sum(kept), [one.grad for one in model.parameters() if one.requires_grad and one.grad is not None]

    (whole, plain), (spared, again) = trained(False), trained(True)
    assert spared < whole / 3
    assert len(plain) == len(again) > 0
    assert all(torch.allclose(one, other, rtol=1e-4, atol=1e-7) for one, other in zip(plain, again, strict=True))


def test_the_command_line_trains_one(runs: Path, tmp_path: Path) -> None:
    words = ["--from", str(runs), "--json", "--context", "128"]
    command = [sys.executable, "-m", "maxcode", "train", "to-go", *words, "--model", "generative", "--out"]
    done = subprocess.run([*command, str(tmp_path / "m")], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["held_out"]) == {
        "generative", "constant", "random", "fastest-so-far", "busiest-loop",
    }  # fmt: skip
    assert "lora: batch" in done.stderr
    assert json.loads((tmp_path / "m" / "value.json").read_text())["model"]["context"] == 128
