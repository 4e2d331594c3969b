"""Python functions: admission, confirmation, what problems are refused with, virtual environments, recorded calls."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Outcome, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.python.admission import Staged
from maxcode.evaluate.python.runtime import find_python
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.problems import load
from maxcode.problems.recording.capture import calls_in, capture
from maxcode.run.certificate.unseen import PAIRS, timed_on
from maxcode.sandbox.sandbox import Sandbox
from tests.support.python_help import ENVIRONMENT, problem_of

DIVISORS = """
def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]
"""
FASTER = """
def divisors(n):
    low = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return low + [n // d for d in reversed(low) if d * d != n]
"""
NUMBERS = """
import random

def inputs(seed, size):
    return (random.Random(seed).randrange(60_000, 90_000),)
"""


SOLVER = """
import numpy as np

class Solver:
    def __init__(self):
        self.one = 1

    def solve(self, x):
        return np.array([sum(v * v for v in row) for row in x.tolist()]) * self.one
"""
ROWS = """
import numpy as np

def inputs(seed, size):
    return (np.random.default_rng(seed).random((90, 90)),)
"""


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> RoundsEvaluator[Staged, Program]:
    return RoundsEvaluator(sandbox, PythonStages(sandbox), RaceRule(most=16))


def refused(evaluator: RoundsEvaluator[Staged, Program], problem: Problem) -> str:
    with pytest.raises(InputError) as error:
        anyio.run(evaluator.admit, problem)
    return str(error.value)


def test_a_faster_function_is_found_faster_with_its_hottest_lines(evaluator: RoundsEvaluator[Staged, Program]) -> None:
    problem = problem_of(DIVISORS, NUMBERS)
    admitted = anyio.run(evaluator.admit, problem)
    found = anyio.run(evaluator.evaluate, admitted.problem, Action(problem.program.with_text(FASTER)))
    assert found.outcome is Outcome.CORRECT and found.timing is not None
    assert found.timing.verdict == "faster" and found.timing.speedup.value > 3
    assert any("divisors" in spot.function or "listcomp" in spot.function for spot in found.profile)
    assert found.timing.start_s is not None and not admitted.notes


def test_no_candidate_is_profiled_where_no_prompt_is_written(sandbox: Sandbox, builder: Builder) -> None:
    problem = problem_of(DIVISORS, NUMBERS)
    harness = make_harness(problem, sandbox, builder, HarnessTerms(single=True))
    found = anyio.run(harness.evaluate, problem, Action(problem.program.with_text(FASTER)))
    assert found.timing is not None and found.timing.verdict == "faster"
    assert found.profile == ()


@pytest.mark.parametrize(
    ("source", "inputs", "words"),
    [
        (DIVISORS, "def inputs(seed, size):\n    return (7,)\n", "the inputs of all seeds are the same"),
        (DIVISORS, "def inputs(seed, size):\n    return open('/etc/passwd')\n", "inputs.py does not run"),
        ("def f(n):\n    raise ValueError('never')\n", NUMBERS, "raises an exception on every input"),
        ("import random\ndef f(n):\n    return random.random()\n", NUMBERS, "does not agree with itself"),
        ("def f(n):\n    return object()\n", NUMBERS, "cannot be compared"),
        ("import nowhere\ndef f(n):\n    return n\n", NUMBERS, "No module named 'nowhere'"),
        ("def f(n):\n    return bytes((512 << 20) + n)\n", NUMBERS, "more than 512 MB of them; give smaller inputs"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_cure(
    evaluator: RoundsEvaluator[Staged, Program], source: str, inputs: str, words: str
) -> None:
    assert words in refused(evaluator, problem_of(source, inputs, run_s=30.0))  # 512 MB take their time


def test_a_function_that_always_gives_the_same_is_called_degenerate(
    evaluator: RoundsEvaluator[Staged, Program],
) -> None:
    admitted = anyio.run(evaluator.admit, problem_of("def f(n):\n    return sum(range(n)) * 0\n", NUMBERS))
    told = "degenerate: every input gives the same result; a program could pass without doing the work"
    assert told in admitted.notes


INDEX = """
class Index:
    def __init__(self):
        self.places = {}

    def add(self, n):
        for at in range(n):
            self.places.setdefault(at % 97, []).append(n)
        return n
"""
KEEPS = "FOUND = []\n\n\ndef f(n):\n    FOUND.append(n)\n    return sum(range(n))\n"
PRINTS = "def f(n):\n    print(n)\n    return sum(range(n))\n"
MAKES_A_TABLE = """
TABLE = []


class Sums:
    def __init__(self):
        self.count = 1

    def of(self, n):
        if not TABLE:
            TABLE.extend(range(1000))
        return sum(TABLE[one % 1000] for one in range(n)) * self.count
"""


@pytest.mark.parametrize(
    ("source", "function", "told"),
    [
        (INDEX, "Index.add", "what a call leaves in self.places is not compared"),
        (KEEPS, "f", "what a call leaves in FOUND is not compared"),
        (PRINTS, "f", "what a call prints is not compared"),
        (MAKES_A_TABLE, "Sums.of", ""),
        ("print('once')\n" + DIVISORS, "divisors", ""),
    ],
)
def test_what_a_call_leaves_beside_its_result_is_a_doubt(
    evaluator: RoundsEvaluator[Staged, Program], source: str, function: str, told: str
) -> None:
    notes = " ".join(anyio.run(evaluator.admit, problem_of(source, NUMBERS, function)).notes)
    assert f"degenerate: {told}; a program" in notes if told else "not compared" not in notes


def test_a_file_that_does_not_compile_is_unbuilt_with_its_error(evaluator: RoundsEvaluator[Staged, Program]) -> None:
    problem = problem_of(DIVISORS, NUMBERS)
    found = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text("def divisors(n)\n")))
    assert found.outcome is Outcome.UNBUILT and "SyntaxError" in found.feedback.diagnostics


def test_the_method_of_a_class_runs_with_numpy_of_an_environment(evaluator: RoundsEvaluator[Staged, Program]) -> None:
    source, inputs = SOLVER, ROWS
    problem = problem_of(source, inputs, "Solver.solve", venv=ENVIRONMENT)
    assert problem.entry == "Solver"
    better = source.replace("np.array([sum(v * v for v in row) for row in x.tolist()])", "(x * x).sum(axis=1)")
    found = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(better)))
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert found.timing is not None and found.timing.significant


def test_a_folder_that_is_no_environment_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no virtual environment"):
        find_python(str(tmp_path))
    (tmp_path / "pyvenv.cfg").write_text("home = /nowhere\nversion = 3.11\n")
    with pytest.raises(InputError, match="is gone"):
        find_python(str(tmp_path))


def test_folders_that_an_environment_names_are_shown_too(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    edited, found_by_finder = tmp_path / "edited", tmp_path / "found"
    for folder in (packages, edited, found_by_finder):
        folder.mkdir(parents=True)
    mapping = f"MAPPING: dict[str, str] = {{'kit': '{found_by_finder}/kit', 'other': '/elsewhere/renamed'}}"
    (packages / "__editable___kit_1_0_finder.py").write_text(f"import sys\n{mapping}\nNAMESPACES = {{}}\n")
    (packages / "edited.pth").write_text(f"{edited}\nimport os; os.abort()\n# words\n")
    (tmp_path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\nversion = 3.11.0\n")
    with pytest.raises(InputError, match=r"is gone: .* has no python that can be found; .* `python3 -m venv --clear /"):
        find_python(str(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(tmp_path / "no-such-python")
    with pytest.raises(InputError, match="has no python that can be found"):
        find_python(str(tmp_path))
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    found = find_python(str(tmp_path))
    assert [folder for folder, path in found.binds if path in found.paths] == [packages, edited, found_by_finder]


SHARES = """
def shares(values):
    found = []
    for value in values:
        found.append(value / sum(values))
    return found
"""
VALUES = """
import random

def inputs(seed, size):
    draw = random.Random(seed)
    return ([draw.uniform(1, 2) for _ in range(60)],)
"""
SMOOTH = """
import numpy as np

def smooth(x):
    y = x
    for _ in range(40):
        y = y * 0.5 + x
    return y
"""
ARRAYS = """
import numpy as np

def inputs(seed, size):
    return (np.random.default_rng(seed).normal(size=100),)
"""
TOGETHER = """
import json
import sys
import numpy as np

with open("/src/meta.json") as file:
    GROUP = json.load(file)["batch"]
WAITING = []
codec = sys.modules["__main__"].codec
begin = codec.Encoder.begin

def uncopied(encoder, *given):
    encoder.copies = False
    begin(encoder, *given)

codec.Encoder.begin = uncopied

def smooth(x):
    found = np.zeros_like(x)
    WAITING.append((x, found))
    if len(WAITING) == GROUP:
        rows = np.array([given for given, _ in WAITING])
        y = rows
        for _ in range(40):
            y = y * 0.5 + rows
        for row, (_, place) in zip(y, WAITING):
            place[:] = row
        WAITING.clear()
    return found
"""


def doubt_about(evaluator: RoundsEvaluator[Staged, Program], problem: Problem, text: str) -> str:
    """The doubt about a winner, which is right."""
    better = problem.program.with_text(text)
    assert anyio.run(evaluator.evaluate, problem, Action(better)).outcome is Outcome.CORRECT
    found = anyio.run(evaluator.race_fresh, problem, better, PAIRS)
    assert not found.failed, found.failed
    return found.doubt


def test_a_winner_that_works_on_a_group_of_calls_together_is_doubted(
    evaluator: RoundsEvaluator[Staged, Program],
) -> None:
    problem = problem_of(SMOOTH, ARRAYS, venv=ENVIRONMENT)
    assert "it may work on several calls together" in doubt_about(evaluator, problem, TOGETHER)


def test_a_winner_that_works_on_each_call_alone_is_not_doubted(evaluator: RoundsEvaluator[Staged, Program]) -> None:
    once = "def shares(values):\n    whole = sum(values)\n    return [value / whole for value in values]\n"
    assert not doubt_about(evaluator, problem_of(SHARES, VALUES), once)


# ------------------------------------------------------------------------------------------------------- recorded calls

TEXTKIT = '''
def squeezed(text, marks=" "):
    """The text with each run of a mark as one."""
    found = ""
    for one in text:
        if not (found and one in marks and found[-1] == one):
            found = found + one
    return found


def counted(items):
    COUNT.append(1)
    return len(COUNT), len(items)


COUNT = []
'''
TESTS = """
import textkit
from textkit import squeezed


def test_all():
    for n in range(40):
        assert squeezed("a  b   " * (n + 1)).count("  ") == 0
        textkit.squeezed("x,,y" * (n + 2), marks=",")
        textkit.counted([n])
    try:
        squeezed(None)
    except TypeError:
        pass


test_all()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "textkit.py").write_text(TEXTKIT)
    (folder / "tests.py").write_text(TESTS)
    return folder


def test_calls_of_a_command_become_a_problem_whose_held_out_half_is_timed(
    project: Path, evaluator: RoundsEvaluator[Staged, Program]
) -> None:
    command = f"/usr/bin/python3 {shlex.quote(str(project / 'tests.py'))}"
    found = anyio.run(capture, command, "textkit:squeezed", project / "problem")
    assert (found.made, found.kept, found.status) == (81, 81, 0)
    problem = load(project / "problem").problem
    assert problem.spec.python_spec.recorded == 81
    wrong = problem.program.text.replace("found[-1] == one", "found[-1] == one and len(text) < 90")
    text = problem.program.text.replace("found = found + one", "found += one")
    assert anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(wrong))).outcome is Outcome.WRONG
    better = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(text)))
    assert better.outcome is Outcome.CORRECT, better.feedback
    fresh = timed_on(anyio.run(evaluator.race_fresh, problem, problem.program.with_text(text), PAIRS))
    assert str(fresh) == (
        "not compared: the timed calls are 39 of 81 recorded calls, all held out, the same in every pair"
    )
    assert fresh.is_missing
    told = anyio.run(evaluator.admit, problem).facts.calls
    assert "the same in every turn" in told and "fresh" not in told
    seen = ", ".join(f"`squeezed({'a  b   ' * count!r})`" for count in (1, 2, 3))
    assert told.endswith(f"Calls that are not timed, for example: {seen}"), "none that is held out"


TELLER = """
import json
import os

if os.path.exists("/src/calls.bin"):
    with open("/src/calls.bin", "rb") as file:
        told = [file.read(56).hex() for _ in range(8)]
    print()
    print(json.dumps({"call_s": 1.0, "handing_s": 0.0, "spots": [[one, 1.0 - n / 100] for n, one in enumerate(told)]}))
    os.sys.stdout.flush()
    os._exit(0)
"""
LOOKER = "import os\nif os.path.exists('/src/inputs.py'):\n    os._exit(0)\n"


def test_a_profile_tells_words_of_the_program_alone(project: Path, evaluator: RoundsEvaluator[Staged, Program]) -> None:
    command = f"/usr/bin/python3 {shlex.quote(str(project / 'tests.py'))}"
    anyio.run(capture, command, "textkit:squeezed", project / "profiled")
    problem = load(project / "profiled").problem
    found = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(TELLER + problem.program.text)))
    assert found.outcome is Outcome.CORRECT, found.feedback
    assert [spot.function for spot in found.profile] == ["code outside the program"]


def test_who_is_profiled_sees_arguments_of_calls_that_may_be_seen(project: Path, sandbox: Sandbox) -> None:
    command = f"/usr/bin/python3 {shlex.quote(str(project / 'tests.py'))}"
    anyio.run(capture, command, "textkit:squeezed", project / "shown")
    problem = load(project / "shown").problem
    calls = problem.spec.python_spec.calls
    assert calls is not None
    shown = list(calls_in(anyio.run(PythonStages(sandbox).admit, problem).shown[8:]))
    recorded = list(calls_in(calls.content[8:]))
    assert len(shown) == 41 and not any(result for _, result in shown)
    assert [given for given, _ in shown] == [given for given, _ in recorded[::2]]


def test_who_is_profiled_does_not_see_how_inputs_are_made(evaluator: RoundsEvaluator[Staged, Program]) -> None:
    problem = problem_of(DIVISORS, NUMBERS)
    found = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(LOOKER + FASTER)))
    assert found.outcome is Outcome.CORRECT and found.profile


@pytest.mark.sandbox
def test_calls_that_depend_on_more_than_their_arguments_are_left_out(project: Path) -> None:
    command = f"/usr/bin/python3 {shlex.quote(str(project / 'tests.py'))}"
    found = anyio.run(capture, command, "textkit:counted", project / "stateful")
    assert found.kept == 40, "made again in the same order they agree"


@pytest.mark.parametrize(
    ("command", "target", "words"),
    [
        ("/usr/bin/python3 -c pass", "textkit:squeezed", "never imported textkit"),
        ("true", "textkit.squeezed", "write package.module:name"),
        ("no-such-program", "textkit:squeezed", "cannot be started"),
    ],
)
def test_a_command_without_calls_is_told(command: str, target: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        anyio.run(capture, command, target, tmp_path / "problem")


# ------------------------------------------------------------------------------------------------------------- loading


def write(folder: Path, table: str) -> Path:
    (folder / "slow.py").write_text(DIVISORS)
    (folder / "inputs.py").write_text(NUMBERS)
    (folder / "problem.toml").write_text(f'kind = "function"\nsource = "slow.py"\n[python]\n{table}\n')
    return folder


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('function = "divisors"', "either `inputs` or `calls`"),
        ('function = "divisor"\ninputs = "inputs.py"', "did you mean 'divisors'"),
        ('function = "a b"\ninputs = "inputs.py"', "write the name of a function"),
        ('function = "divisors"\ninputs = "slow.py"', "inputs"),
        ('function = "divisors"\ninputs = "inputs.py"\nsize = 0', "size must be 1 or more"),
        ('function = "divisors"\ninputs = "inputs.py"\ntolerence = 1', "tolerance"),
        ('function = "divisors"\ncalls = "slow.py"', "recorded calls"),
        ('function = "divisors"\ninputs = "inputs.py"\nown_arguments = true', "own_arguments needs is_solution"),
    ],
)
def test_a_table_that_cannot_be_used_is_told(tmp_path: Path, table: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        load(write(tmp_path, table))
    assert words in str(error.value), error.value


def test_a_table_becomes_a_problem(tmp_path: Path) -> None:
    problem = load(write(tmp_path, 'function = "divisors"\ninputs = "inputs.py"')).problem
    assert (problem.kind, problem.language, problem.entry) == ("python", "python", "divisors")
    assert problem.spec.python_spec.inputs == NUMBERS
    moved = replace(problem.spec.python_spec, venv="/elsewhere")
    assert moved.said == problem.spec.python_spec.said
