"""The recorded answers of examples/recorded fit the examples of today, so that ``make demo-llm`` can replay them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import anyio
import pytest

from maxcode.core.files import read_toml
from maxcode.core.types import Observation, State
from maxcode.llm.journal import CALLS, Journal, Journalled, NoModel
from maxcode.policy.llm import Llm
from maxcode.problems import digest, load
from recorded import RECORDED, given

FOLDERS = sorted(path.parent for path in RECORDED.glob("*/run.toml"))


def test_there_are_recordings_of_programs_functions_and_a_module_and_they_stay_small() -> None:
    assert {"orbits", "stencil", "fused_gelu"} <= {read_toml(folder / "run.toml")["example"] for folder in FOLDERS}
    assert sum(path.stat().st_size for path in RECORDED.rglob("*") if path.is_file()) < 1_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_recording_is_of_the_example_as_it_is_and_holds_all_of_its_answers(folder: Path) -> None:
    header = read_toml(folder / "run.toml")
    source, overrides = given(header["example"])
    problem = load(source, overrides=overrides).problem
    if not problem.traits.shows_operators:  # what a module's admission finds on a machine is part of its digest
        assert digest(problem) == header["digest"]
    lines = [json.loads(line) for line in gzip.decompress((folder / f"{CALLS}.gz").read_bytes()).splitlines()]
    result = json.loads((folder / "result.json").read_text())
    assert len({line["key"] for line in lines}) == result["spent"]["calls"] >= sum(result["outcomes"].values()) > 0
    assert all(line["completion"]["text"] for line in lines)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_prompts_of_today_get_the_answers_that_are_recorded(folder: Path, tmp_path: Path) -> None:
    """The instructions of a later version are worded in another way; an answer is still that to the same slot."""
    lines = gzip.decompress((folder / f"{CALLS}.gz").read_bytes())
    (tmp_path / CALLS).write_bytes(lines)
    first = json.loads(lines.splitlines()[0])
    source, overrides = given(read_toml(folder / "run.toml")["example"])
    state = State(load(source, overrides=overrides).problem)
    with Journal(replay=tmp_path) as journal:
        policy = Llm(Journalled(NoModel(), first["model"], journal))
        request = policy.request(Observation((), state, first["request"]["draw"]))
        found = anyio.run(policy.model.complete, request)
    assert found.text == first["completion"]["text"]
