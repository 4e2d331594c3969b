"""Modules of PyTorch: the gallery of cheats and look-alikes, and what the evaluator says of references.

Needs torch, which ``make test`` installs; its absence is a failure, not a skip.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import LOOKS
from maxcode.core.types import Action, Evaluation, Outcome, Problem, State, Step
from maxcode.errors import InputError
from maxcode.evaluate.function.habits import HABITS, OF_FEW
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import Pair
from maxcode.evaluate.module.contract import Apart, Array, Contract, ModuleArgument, OutputSummary, degenerate
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.rounds.round import CALL, mean_of
from maxcode.problems import load
from maxcode.run.certificate.claim import contradiction
from maxcode.run.certificate.making import certify
from maxcode.sandbox.sandbox import Sandbox
from tests.support.selection import some

GALLERY = Path(__file__).parent / "gallery_modules"
CANDIDATES = sorted(path for path in GALLERY.glob("*.py") if path.stem != "reference")
QUICK = (
    *("lazy_tensor", "last_row_copied", "ignored_weights", "changed_inputs", "reference_by_name"),
    *("another_class", "put_off_to_the_last_call", "whole_numbers_rounded"),
)
VERDICTS = {*(outcome.value for outcome in Outcome), "not-faster"}


def header(path: Path, key: str) -> str:
    found = re.search(rf"^# {key} (.+)$", path.read_text(), re.MULTILINE)
    assert found is not None, f"{path} has no line `# {key} ...`"
    return found[1]


@pytest.fixture(scope="module", autouse=True)
def torch_is_here() -> None:
    assert importlib.util.find_spec("torch") is not None, "torch is not installed: `make env` installs it"


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> ModuleEvaluator:
    return ModuleEvaluator(sandbox)


@pytest.fixture(scope="module")
def original(evaluator: ModuleEvaluator) -> Callable[[str], Admitted]:
    """A reference of the gallery, admitted once."""

    @cache
    def run(name: str) -> Admitted:
        path = GALLERY / "reference.py" if name == "reference" else GALLERY / "originals" / f"{name}.py"
        problem = load(path).problem
        problem = replace(problem, spec=replace(problem.spec, limits=replace(problem.spec.limits, run_s=1.0)))
        return anyio.run(evaluator.admit, problem)

    return run


@pytest.fixture(scope="module")
def admitted(original: Callable[[str], Admitted]) -> Admitted:
    return original("reference")


@pytest.fixture(scope="module")
def judged(evaluator: ModuleEvaluator, original: Callable[[str], Admitted]) -> Callable[[str], Evaluation]:
    def run(text: str) -> Evaluation:
        named = re.search(r"^# AGAINST (.+)$", text, re.MULTILINE)
        problem = original(named[1] if named is not None else "reference").problem
        return anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(text)))

    return run


def holds(found: Evaluation, verdicts: str) -> bool:
    """Whether it is one of the verdicts; there are several only where the machine decides."""
    if verdicts == "not-faster":
        return found.outcome is not Outcome.CORRECT or not (found.timing is not None and found.timing.significant)
    return found.outcome.value in verdicts.split()


def test_every_candidate_says_what_must_become_of_it_and_why() -> None:
    assert sum(not path.stem.startswith("honest") for path in CANDIDATES) >= 25
    assert sum(path.stem.startswith("honest") for path in CANDIDATES) >= 6
    for path in CANDIDATES:
        assert set(header(path, "VERDICT").split()) <= VERDICTS, path
        assert (header(path, "VERDICT") == "correct") == path.stem.startswith("honest"), path
        assert header(path, "WHY").endswith("."), path
    assert {path.stem for path in CANDIDATES} >= set(QUICK)


@pytest.mark.parametrize("name", QUICK)
def test_a_candidate_gets_the_verdict_it_must_get(name: str, judged: Callable[[str], Evaluation]) -> None:
    path = GALLERY / f"{name}.py"
    found = judged(path.read_text())
    assert holds(found, header(path, "VERDICT")), f"{found.outcome.value}: {found.feedback}"


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in CANDIDATES if path.stem not in QUICK], ids=lambda path: path.stem)
def test_so_does_every_other_one(path: Path, judged: Callable[[str], Evaluation]) -> None:
    found = judged(path.read_text())
    assert holds(found, header(path, "VERDICT")), f"{found.outcome.value}: {found.feedback}"


def test_the_reference_is_described_and_nothing_is_degenerate(admitted: Admitted) -> None:
    assert admitted.notes == ()
    assert admitted.timed[0].seconds > 0


PAGES = """
import resource
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.paid = []

    def forward(self, x):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        found = torch.tanh(x * 2 + x * x)
        fresh = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        self.paid.append(fresh)
        late = [pages > 100 for pages in self.paid[16:]]  # until then its memory grows
        if len(late) > 20 and sum(late) > len(late) / 5:
            raise RuntimeError(f"fresh pages in {sum(late)} of {len(late)} calls: {self.paid}")
        return found


def get_inputs():
    return [torch.randn(1024, 1024)]


def get_init_inputs():
    return []
"""


@pytest.mark.slow
def test_a_module_does_not_pay_for_fresh_pages_in_every_call(evaluator: ModuleEvaluator, tmp_path: Path) -> None:
    """Whether malloc gave memory back between calls was chance, and made one of two equal modules twice as fast."""
    (tmp_path / "problem.py").write_text(PAGES)
    problem = load(tmp_path / "problem.py").problem
    check = anyio.run(evaluator.check, problem, problem.program)
    assert len(anyio.run(check.control, (12,))) == 12


def confirmed_with_less_work(evaluator: ModuleEvaluator, admitted: Admitted) -> tuple[Evaluation, Evaluation]:
    """What is found, and then confirmed, of the reference in place of one that does more."""
    text = (GALLERY / "reference.py").read_text()
    more = "x + 0 * torch.exp(x)" + 3 * ".cumsum(0).cumsum(1)"
    slow = text.replace("torch.relu(self.layer(x))", f"torch.relu(self.layer({more}))")
    problem = replace(admitted.problem, program=admitted.problem.program.with_text(slow))
    fast = problem.program.with_text(text.replace("class Model", "class ModelNew"))

    async def run() -> tuple[Evaluation, Evaluation]:
        await evaluator.admit(problem)
        found = await evaluator.evaluate(problem, Action(fast))
        state = State(problem, State(problem), Step(Action(fast), found, 1.0), (1, 0))
        return found, (await evaluator.settle(problem, [state], None))[state.id]

    return anyio.run(run)


def test_less_work_is_faster_and_confirmed_with_new_weights(sandbox: Sandbox, admitted: Admitted) -> None:
    found, confirmed = confirmed_with_less_work(ModuleEvaluator(sandbox, beside_compiled=False), admitted)
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None and found.timing.significant
    assert confirmed.timing is not None and confirmed.timing.confirmed
    assert confirmed.timing.speedup.low > 1
    assert confirmed.timing.over_compiled is None
    sittings = len(confirmed.timing.sittings)
    assert confirmed.timing.sittings == (6,) * sittings and confirmed.timing.pairs == 6 * sittings
    assert sittings in LOOKS  # a large gain is found at the first one on a quiet machine


@pytest.mark.slow  # the compiler of torch takes half of a minute
def test_a_confirmation_says_how_it_compares_with_torch_compile(evaluator: ModuleEvaluator, admitted: Admitted) -> None:
    _, confirmed = confirmed_with_less_work(evaluator, admitted)
    assert confirmed.timing is not None and confirmed.timing.confirmed
    assert confirmed.timing.over_compiled is not None, confirmed.warnings


@pytest.mark.slow
def test_a_winner_is_certified_with_processes_and_weights_of_its_own(tmp_path: Path) -> None:
    text = (GALLERY / "reference.py").read_text()
    more = "x + 0 * torch.exp(x)" + 3 * ".cumsum(0).cumsum(1)"
    slow = text.replace("torch.relu(self.layer(x))", f"torch.relu(self.layer({more}))")
    (tmp_path / "problem.py").write_text(slow)
    problem = load(tmp_path / "problem.py").problem
    winner = problem.program.with_text(text.replace("class Model", "class ModelNew"))
    found = anyio.run(certify, problem, winner, {}, 0)
    assert found.holds, found.refused
    assert found.verification is not None and found.verification.failed == 0
    assert found.timing is not None and found.control is not None
    assert found.verification.runs == 3 * len(found.timing.sittings) >= 12
    assert len(found.control.samples) == found.timing.pairs
    assert [one for one, _ in found.control.samples] == [one for one, _ in found.timing.samples], "the same sessions"
    assert contradiction(found) == ""
    assert found.subject.module != "" and found.compiler.startswith("torch 2")
    wrong = problem.program.with_text(winner.text.replace("dim=-1)", "dim=-1) * 1.01"))
    refused = anyio.run(certify, problem, wrong, {}, 0)
    assert not refused.holds
    assert refused.refused.startswith("its answers are not right in 3 of 3 runs (session 1, wrong output")


@pytest.mark.parametrize(
    ("forward", "said"),
    some(
        [
            ("return torch.rand_like(x)", "another output every time"),
            ("return x / 0", "NaN or infinity"),
            ("return x.zero_() + 1", "changes its inputs"),
            ("return 'text'", "does not run"),
            ("return x * 0", "zero everywhere"),
        ],
        4,
    ),
)
def test_a_reference_that_proves_nothing_is_refused_or_told_of(
    forward: str, said: str, evaluator: ModuleEvaluator, tmp_path: Path
) -> None:
    path = tmp_path / "problem.py"
    text = (GALLERY / "reference.py").read_text()
    path.write_text(text.replace("return torch.softmax(torch.relu(self.layer(x)), dim=-1)", forward))
    try:
        told = " ".join(anyio.run(evaluator.admit, load(path).problem).notes)
    except InputError as error:
        told = str(error)
    assert said in told


@pytest.fixture
def narrowed(tmp_path: Path) -> Callable[[str, str], Problem]:
    """A reference of the gallery with a domain for an input."""

    def run(name: str, domain: str) -> Problem:
        (tmp_path / "model.py").write_text((GALLERY / "originals" / f"{name}.py").read_text())
        table = f'kind = "module"\nsource = "model.py"\n[module]\ndomain = {domain}\n'
        (tmp_path / "problem.toml").write_text(table)
        return load(tmp_path).problem

    return run


def test_a_domain_names_an_input_of_forward_in_words_that_can_be_read(
    evaluator: ModuleEvaluator, narrowed: Callable[[str, str], Problem]
) -> None:
    with pytest.raises(InputError, match=r"unknown input in `domain` of \[module\]: 'y'.*x"):
        anyio.run(evaluator.admit, narrowed("relu", '{ y = "positive" }'))
    with pytest.raises(InputError, match="the domain 'few' cannot be read"):
        narrowed("relu", '{ x = "few" }')


@pytest.mark.slow
def test_where_only_drawn_values_can_come_a_reference_may_be_degenerate(
    evaluator: ModuleEvaluator, narrowed: Callable[[str, str], Problem]
) -> None:
    problem = narrowed("relu", '{ x = "drawn" }')
    (note,) = anyio.run(evaluator.admit, problem).notes
    assert note.startswith("degenerate: input 1 as it is passes;")
    text = (GALLERY / "returns_its_input.py").read_text()
    found = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(text)))
    assert found.outcome is Outcome.CORRECT
    assert found.timing is not None and found.timing.degenerate == ("input 1 as it is passes",)
    assert found.timing.beyond == (0, len(HABITS) + len(OF_FEW))


@pytest.mark.slow
def test_a_numerically_meaningless_reference_is_told_of(original: Callable[[str], Admitted]) -> None:
    (note,) = original("variance").notes
    assert note.startswith("degenerate: the reference is numerically meaningless: an element of its own output is ")


@pytest.mark.slow
def test_work_before_the_first_call_is_told_apart(judged: Callable[[str], Evaluation]) -> None:
    text = (GALLERY / "honest_as_it_is.py").read_text()
    late = "class ModelNew(nn.Module):\n    waste = [torch.randn(600, 600).matrix_exp() for _ in range(20)]\n"
    found = judged(text.replace("class ModelNew(nn.Module):\n", late))
    assert found.timing is not None and found.timing.start_s is not None
    original, candidate = found.timing.start_s
    assert candidate > original + 0.1
    assert any("what they do is not in the speed-up" in words for words in found.warnings)


SQUARE, ONE = Array("float32", [4, 4], 64), Array("float32", [], 4)


def contract(**changed: object) -> Contract:
    plain = {
        "init": [], "inputs": [ModuleArgument("float32", [4, 4], 64)], "outputs": [], "weights": [], "seconds": 0.1,
        "changes_inputs": False, "figures": [OutputSummary(-1.0, 1.0, 0.5, True)], "apart": Apart(0.0, 0.9, 0.9),
    }  # fmt: skip
    return Contract(**{**plain, "outputs": [SQUARE], "weights": [SQUARE], **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"figures": [OutputSummary(0.0, 0.0, 0.0, True)]}, "zero everywhere"),
        ({"figures": [OutputSummary(0.9999, 1.0, 1e-5, True)]}, "nearly constant"),
        ({"figures": [OutputSummary(0.9, 0.9, 0.0, True)], "apart": Apart(0.0, 1e-6, 0.9)}, "nearly constant"),
        ({"apart": Apart(0.0, 1e-6, 0.9)}, "other inputs"),
        (
            {"outputs": [ONE], "figures": [OutputSummary(0.9, 0.9, 0.0, True)], "apart": Apart(0.0, 1e-6, 0.9)},
            "other inputs",
        ),
        ({"apart": Apart(0.0, 0.9, 1e-6)}, "other weights"),
    ],
)
def test_degenerate_references_are_told_by_rule(changed: dict[str, object], said: str) -> None:
    assert degenerate(contract()) == ()
    assert said in degenerate(contract(**changed))[0]


def test_a_loss_and_rows_that_differ_little_but_enough_are_not_degenerate() -> None:
    assert (
        degenerate(contract(outputs=[ONE], figures=[OutputSummary(0.9, 0.9, 0.0, True)], apart=Apart(0.0, 1e-3, 0.1)))
        == ()
    )
    assert degenerate(contract(figures=[OutputSummary(0.9980, 1.0, 4e-4, True)])) == ()


LOSS = """    def __init__(self):
        super().__init__()

    def forward(self, x):
        return (x * x).mean()
"""
NORM = """    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm({width})

    def forward(self, x):
        return self.norm(x){used}
"""
IDLE = """    def __init__(self):
        super().__init__()
        self.idle = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(x)
"""
RARE = """    def __init__(self):
        super().__init__()

    def forward(self, x):
        return (x > 2).sum(dtype=x.dtype) + 7
"""


@pytest.mark.parametrize(
    ("body", "said"),
    some(
        [
            (IDLE, "other weights give the same output"),
            (RARE, "other inputs give the same output"),
            (NORM.format(width=8, used=""), ""),
            (LOSS, ""),
            (NORM.format(width=8, used=" * 0 + x"), "other weights give the same output"),
        ],
        2,
    ),
)
def test_losses_and_norms_as_they_begin_are_honest_and_what_uses_nothing_is_not(
    body: str, said: str, evaluator: ModuleEvaluator, tmp_path: Path
) -> None:
    path = tmp_path / "problem.py"
    ends = "def get_inputs():\n    return [torch.rand(64, 8)]\n\n\ndef get_init_inputs():\n    return []\n"
    path.write_text(f"import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n{body}\n\n{ends}")
    notes = anyio.run(evaluator.admit, load(path).problem).notes
    assert "; ".join(note.partition(";")[0] for note in notes) == (f"degenerate: {said}" if said else "")


def test_of_two_short_rounds_the_mean_counts_for_each_side() -> None:
    first = Pair({"original": {CALL: 0.010}, "candidate": {CALL: 0.009}}, {"original": 0.011, "candidate": 0.020})
    second = Pair({"original": {CALL: 0.012}, "candidate": {CALL: 0.005}}, {"original": 0.013, "candidate": 0.006})
    found = mean_of([first, second])
    assert found.total("original") == pytest.approx(0.011)
    assert found.total("candidate") == pytest.approx(0.007)
    assert found.elapsed == {"original": pytest.approx(0.012), "candidate": pytest.approx(0.013)}
    assert mean_of([first]) == first


def test_shapes_as_data_change_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text((GALLERY / "reference.py").read_text())
    small = load(path, overrides={"module": {"constants": {"rows": 8}}}).problem
    assert small.spec.module_spec.constants == (("rows", 8),)
    assert isinstance(small, Problem)


@pytest.mark.parametrize(
    ("more", "outcome", "theirs"),
    some([(" + 0.003", "wrong", True), (" + 0.03", "wrong", False), ("", "correct", True)], 2),
)
def test_kernelbench_s_own_rule_is_recorded_beside_ours_and_decides_nothing(
    more: str, outcome: str, theirs: bool, judged: Callable[[str], Evaluation]
) -> None:
    text = (GALLERY / "reference.py").read_text().replace("class Model(", "class ModelNew(")
    found = judged(text.replace("dim=-1)", f"dim=-1){more}"))
    assert (found.outcome.value, found.kernelbench_correct) == (outcome, theirs)
