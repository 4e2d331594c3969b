"""What a prompt shows of a repository: hot functions with callers, types and tests, and what a policy asks to see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.code.definitions import definitions, function_named
from maxcode.core.budget import MANY
from maxcode.core.history import Reached
from maxcode.core.types import (
    Action,
    BaseSeconds,
    Evaluation,
    Facts,
    HotFunction,
    Interval,
    Machine,
    Observation,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    RepoSpec,
    Section,
    State,
    Step,
    Timing,
)
from maxcode.core.types.measured import JUDGED
from maxcode.evaluate.repo.barred import barred
from maxcode.evaluate.repo.benchmark_source import sources_named
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.llm.completion.shown import shown, wishes
from maxcode.observe import compose, economy, hot_functions, program, statement
from maxcode.observe.about import about_machine
from maxcode.observe.critique.critic_prompt import Setting, user_text
from maxcode.policy.llm import Llm
from maxcode.policy.rules.rewriter import USUAL_RULES, Rewriter, can_edit, edits
from maxcode.policy.rules.rewriter.policy import propose
from maxcode.policy.rules.rewriter.proposal import edited_file
from maxcode.policy.rules.rewriter.runtime import applied
from maxcode.sandbox.sandbox import Sandbox
from maxcode.search.methods import method
from maxcode.search.scene import admitted_scene
from maxcode.testing import Scripted, ScriptedModel
from tests.support import repositories as repos
from tests.support.rules import SHORT

DOT = """#include "dot.h"

static int twice(int n) { return 2 * n; }

double dot(const struct vec *a, const struct vec *b) {
    double s = 0;
    for (int i = 0; i < a->n; i++)
        s += a->at[i] * b->at[i];
    return s;
}
"""
VEC = "struct vec {\n    int n;\n    double *at;\n};\nstruct other {\n    int x;\n};\n"
APP = "#include <string>\n#include <vector>\nint count(std::vector<std::string> words) { return words.size(); }\n"
SMALL = {"app/count.cpp": APP, "src/dot.c": DOT, "src/dot.h": VEC}
LARGE = {**SMALL, "src/table.c": "".join(f"int f{n}(void) {{ return {n}; }}\n" for n in range(3000))}
HOT = (
    HotFunction("src/dot.c", "dot", 8, 0.75, ("twice", "main"), ("tests/test_dot.c",)),
    HotFunction("app/count.cpp", "count", 3, 0.2),
)

MACHINE = Machine("node", "Example CPU", 2, "Linux 6.1", {}, sandbox="tier 1")
RIGHT = Evaluation(Outcome.CORRECT)


def problem(files: dict[str, str]) -> Problem:
    repo = RepoSpec("/nowhere", "0" * 40, ("src/**", "app/**"), "./bench", build="make", tests="make test")
    return Problem("vecs", "repo", "c", Program(files), ProgramSpec(repo=repo))


def sections(given: Problem, state: State | None = None) -> dict[str, str]:
    root = state or State(given)
    parts = compose(statement(), program(original_shown=True), hot_functions(HOT))(root, Reached(State(given)))
    return {one.title: one.text for one in parts}


def test_a_small_repository_is_shown_whole_and_its_hot_functions_are_listed() -> None:
    found = sections(problem(SMALL))
    assert DOT in found["Problem"]
    assert found["Profile"].splitlines()[1] == (
        " 75.0% src/dot.c:8 dot (at most 4.00x), called by twice, main; named in tests/test_dot.c"
    )
    assert "no test names it" in found["Profile"]
    assert "```" not in found["Profile"]


def test_of_a_large_repository_the_hot_functions_their_types_and_callers_are_shown() -> None:
    found = sections(problem(LARGE))
    assert "src/table.c: 3000 lines" in found["Problem"]
    assert "return 17" not in found["Problem"]
    shown_text = found["Profile"]
    assert "src/dot.c, lines 5 to 10:\n```\ndouble dot(const struct vec *a" in shown_text
    assert "src/dot.h, lines 1 to 4:\n```\nstruct vec {" in shown_text
    assert "struct other" not in shown_text
    assert "static int twice" in shown_text
    changed = Program({**LARGE, "src/dot.c": DOT.replace("double s = 0;", "double s = 0.0;")})
    given = problem(LARGE)
    child = sections(replace(given, program=changed))
    assert "double s = 0.0;" in child["Profile"]


def best_of(given: Problem, program: Program) -> State:
    """A confirmed state of twice the speed, with a profile of its own."""
    hot = (HotFunction("src/dot.c", "twice", 3, 0.6, ("dot",)), HotFunction("src/dot.c", "dot", 8, 0.3, ("main",)))
    timing = Timing("cpu", Interval(2, 1.9, 2.1), True, "faster", 15, confirmed=True)
    measured = replace(RIGHT, timing=timing, hot=hot, outside=0.25, measures={JUDGED: 40.0})
    return State(given, State(given), Step(Action(program, "x"), measured, 2.0), (1, 0))


def reached_by(*states: State) -> Reached:
    reached = Reached(State(states[0].problem))
    reached.extend(states[1:])
    return reached


def profile_of(state: State, *states: State) -> str:
    found = hot_functions(HOT)(state, reached_by(state, *states))
    assert found is not None
    return found.text


def test_the_profile_of_the_best_takes_the_place_of_bases_on_its_path_and_stands_beside_it_elsewhere() -> None:
    given = problem(SMALL)
    changed = Program({**SMALL, "src/dot.c": DOT.replace("double s = 0;", "double s = 0.0;")})
    best = best_of(given, changed)
    on_path = profile_of(best, best)
    assert on_path.splitlines() == [
        "share of the benchmark's time by function, with the library code that it calls, in the program under "
        '"Program", 2.00x as fast as base:',
        " 60.0% src/dot.c:3 twice (at most 2.50x), called by dot; not seen in base; no test names it",
        " 30.0% src/dot.c:8 dot (at most 1.43x), called by main; 75.0% in base; no test names it",
        "hardly any more, but in base: app/count.cpp:count 20.0%",
    ]
    child = State(given, best, Step(Action(Program(SMALL), "y"), RIGHT, 1.0), (2, 0))
    assert "in step 1 of this path, 2.00x as fast as base:" in profile_of(child, best)
    other = profile_of(State(given), best)
    assert "in base:" in other and " 75.0% src/dot.c:8 dot (at most 4.00x), called by twice, main;" in other
    assert "in the best program of the run, of another path, 2.00x as fast as base:" in other
    assert edited(given, on_path, 1) == "src/dot.c"


def test_functions_of_one_name_stand_beside_the_share_that_all_of_them_have_in_base() -> None:
    given = problem(SMALL)
    base = (*HOT, HotFunction("src/dot.c", "dot", 20, 0.12))
    best = best_of(given, Program(SMALL))
    found = hot_functions(base)(best, reached_by(best, best))
    assert found is not None and "; 87.0% in base, in 2 functions of that name; no test" in found.text


def test_of_a_large_repository_the_texts_are_of_what_is_hot_in_the_best() -> None:
    told = profile_of(best_of(problem(LARGE), Program(LARGE)))
    assert "src/dot.c, lines 3 to 3:" in told and told.index("lines 3 to 3") < told.index("lines 5 to 10")
    assert "app/count.cpp, lines" not in told


def test_a_critic_of_a_large_repository_reads_the_change_and_what_is_hot() -> None:
    changed = Program({**LARGE, "src/dot.c": DOT.replace("double s = 0;", "double s = 0.0;")})
    step = Step(Action(changed, "x"), RIGHT, 1.0)
    told = user_text(problem(LARGE), step, None, Setting(MACHINE, Facts(hot=HOT, tools=("compiled: GNU C17 -O2",))))
    assert "+    double s = 0.0;" in told and "src/dot.c, lines 5 to 10:" in told and "return 17" not in told
    assert " 75.0% src/dot.c:8 dot" in told and "in base, the original program:" in told
    assert "flags: none" not in told and "compiled: GNU C17 -O2" in told


def economy_of(facts: Facts, state: State, *states: State) -> str:
    found = economy(facts, 24)(state, reached_by(state, *states))
    return "" if found is None else found.text


def test_the_economy_says_what_can_be_won_what_a_judgement_takes_and_how_many_are_left() -> None:
    given = problem(SMALL)
    facts = Facts(outside=0.5, base=BaseSeconds(12.0, 3.04, 0.41))
    assert economy_of(facts, State(given)).splitlines() == [
        "50.0% of the benchmark's time in base is neither in the files that you may edit nor in what they call, by its "
        "profile: at most 2x can be won over base",
        "base took 12 s for its build, 3 s for its tests, 0.41 s for one run of its benchmark",
        "candidates: 0 of 24 judged, 24 left, with those asked for now",
    ]
    best = best_of(given, Program(SMALL))
    slow = State(given, State(given), Step(Action(None, "y"), replace(RIGHT, measures={JUDGED: 60.0}), 1.0), (1, 1))
    later = economy_of(replace(facts, base=BaseSeconds(0.0, 0.0, 0.4)), best, best, slow).splitlines()
    assert later[1:] == [
        'in the program under "Program", 2.00x as fast as base, it is 25.0%: at most 4x can be won over that',
        "base took 0.4 s for one run of its benchmark",
        "a candidate takes 50 s to be judged (median of the last 2: 40 to 60 s)",
        "candidates: 2 of 24 judged, 22 left, with those asked for now",
    ]
    of_tokens = economy(replace(facts, outside=None), MANY)(best, reached_by(best, best))
    assert of_tokens is not None and of_tokens.text.endswith("candidates: 1 judged"), "a budget of tokens, or of time"
    unknown = economy_of(Facts(base=BaseSeconds(1, 1, 1)), State(given))
    assert "at most" not in unknown and economy_of(Facts(), State(given)) == ""


def test_the_machine_of_a_repository_names_what_base_is_built_with_and_no_compiler_of_this_machine() -> None:
    here = replace(MACHINE, compilers={"c": "gcc 99"})
    told = "\n".join(about_machine(here, problem(SMALL), Facts(tools=("compiled: GNU C17 -O2",))))
    assert "compiled: GNU C17 -O2" in told and "gcc 99" not in told


def test_every_method_of_ours_shows_the_profile_and_the_benchmark_of_a_repository() -> None:
    given = problem(SMALL)
    facts = Facts(hot=HOT, benchmark=(("bench/run.py", "print('# sum')\n"),), base=BaseSeconds(1, 1, 1))
    observation = {
        name: "\n\n".join(
            f"{one.title}\n{one.text}"
            for one in method(name, Scripted(), 8, admitted_scene(MACHINE, given, RIGHT, facts=facts)).observe(
                State(given), Reached(State(given))
            )
        )
        for name in ("best-of-n", "tree+maxcode")
    }
    ours = observation["best-of-n"]
    assert "75.0% src/dot.c:8 dot" in ours and "75.0% src/dot.c:8 dot" in observation["tree+maxcode"]
    assert "what the benchmark runs, bench/run.py:\n```\nprint('# sum')\n```" in ours
    assert "candidates: 0 of 8 judged, 8 left" in ours
    assert "its benchmark must print the results that it prints in base" in ours
    assert "checker" not in ours and "original program" not in ours and "1024 MB" not in ours
    without = admitted_scene(MACHINE, given, RIGHT, frozenset({"profile"}), facts=facts)
    titles = [
        one.title for one in method("refine", Scripted(), 8, without).observe(State(given), Reached(State(given)))
    ]
    assert "Profile" not in titles


def test_the_source_of_the_benchmark_is_what_its_command_names() -> None:
    paths = ("bench/run.py", "bench/json.c", "tests/json.c", "bench/speed.c", "src/a.c", "README.md")
    for command, wanted in (
        ("python3 bench/run.py {seed}", ["bench/run.py"]),
        ("cd . && ./build/bench/speed --fast", ["bench/speed.c"]),
        ("./json", []),
        ("go test -bench=. ./src", []),
        ("sh -c 'python3 ./bench/run.py", ["bench/run.py"]),
    ):
        assert sources_named(command, paths) == wanted, command


CMAKE = "project(x)\nadd_executable(speed main_speed.c\n  ../src/a.c)\nadd_executable(other other.c)\n"


@pytest.mark.parametrize(
    ("command", "build", "wanted"),
    [
        ("./work {seed}", "go build -o work ./benchwork", ["benchwork/main.go", "benchwork/draw.go"]),
        ("./bin/benchwork", "cd . && go build -o bin/ -tags x ./benchwork", ["benchwork/main.go", "benchwork/draw.go"]),
        ("./nothing", "go build -o work ./benchwork", []),
        ("go run ./benchwork {seed}", "", ["benchwork/main.go", "benchwork/draw.go"]),
        ("cargo bench --bench tokens", "", ["crates/a/benches/tokens.rs"]),
        ("cargo run --release --bin lex -- {seed}", "", ["src/bin/lex/main.rs"]),
        ("./target/release/lex {seed}", "cargo build --release --bins", ["src/bin/lex/main.rs"]),
        ("./build/bench/speed {seed}", "cmake -B build && cmake --build build", ["bench/main_speed.c", "src/a.c"]),
        ("./fast {seed}", "make && gcc -O2 -I. bench/other.c build/lib.a -o fast", ["bench/other.c"]),
    ],
)
def test_the_source_of_a_program_is_what_its_build_names(command: str, build: str, wanted: list[str]) -> None:
    paths = (
        *("benchwork/draw.go", "benchwork/main.go", "benchwork/main_test.go", "parser.go", "src/a.c", "src/tokens.rs"),
        *("crates/a/benches/tokens.rs", "src/bin/lex/main.rs", "bench/main_speed.c", "bench/other.c"),
    )
    rules = {"bench/CMakeLists.txt": CMAKE}
    assert sources_named(command, paths, build, rules) == wanted


def test_functions_and_types_are_found_in_each_language() -> None:
    python = "@cache\ndef f(x):\n    return x\n\n\nclass A:\n    def g(self):\n        return 1\n"
    assert [(one.name, one.first, one.last, one.is_type) for one in definitions("python", python)] == [
        ("f", 1, 3, False), ("A", 6, 8, True), ("g", 7, 8, False),
    ]  # fmt: skip
    cpp = "namespace n {\nint A::run(int x) const {\n  return x;\n}\ntemplate <class T> T *g(T *x) { return x; }\n}\n"
    assert function_named("cpp", cpp, "n::A::run(int) const") is not None
    assert function_named("cpp", cpp, "g") is not None
    for name, text, wanted in (
        ("rust", "impl A {\n    pub fn run(&self) -> u32 {\n        if self.x { 1 } else { 2 }\n    }\n}\n", (2, 4)),
        ("go", "package p\n\nfunc (t *T) run(n int) int {\n\treturn n\n}\n", (3, 5)),
        ("java", "class A {\n    static int run(int n) {\n        return n;\n    }\n}\n", (2, 4)),
        ("javascript", "function run(n) {\n  return n;\n}\n", (1, 3)),
    ):
        found = function_named(name, text, "run")
        assert found is not None, name
        assert (found.first, found.last) == wanted


def test_a_model_sees_what_it_asks_for_and_then_answers() -> None:
    answer = "src/dot.c\n<<<<<<< SEARCH\n    double s = 0;\n=======\n    double s = 0.0;\n>>>>>>> REPLACE\n"
    texts = ["I look first.\n\nSHOW src/dot.c:dot\nSHOW src/nothing.c\n", "SHOW src/dot.h", answer]
    model = ScriptedModel(write=lambda request: texts[(len(request.messages) - 2) // 2])
    given = problem(LARGE)
    observation = Observation((Section("Problem", "p"),), State(given), draw=1, temperature=0.5)
    action = anyio.run(Llm(model).propose, observation)
    assert action.program is not None
    assert "0.0" in action.program.files["src/dot.c"]
    assert action.usage.calls == 3
    first, second, third = model.asked
    assert "SHOW path:name` (a function" in first.messages[1].text
    assert "lines 5 to 10" in second.messages[3].text
    assert "src/nothing.c is none of the files" in second.messages[3].text
    assert "struct vec" in third.messages[5].text
    one_file = problem({"src/dot.c": "int f(void) { return (; }\n" * 3 + DOT})  # as far from C as SHOW lines
    for asked in (given, one_file):
        endless = ScriptedModel(script=["SHOW src/dot.c:dot"])
        refused = anyio.run(Llm(endless).propose, Observation((Section("Problem", "p"),), State(asked), 1, 0.5))
        assert refused.program is None
        assert len(endless.asked) == 3


def test_wishes_are_few_and_said_in_lines_of_their_own() -> None:
    assert wishes("SHOW a.c\n- `SHOW b/c.py:A.f`\nPlease SHOW d.c now\n") == [("a.c", ""), ("b/c.py", "A.f")]
    assert len(wishes("\n".join(f"SHOW f{n}.c" for n in range(20)))) == 6
    assert "defines no function, type or value nope" in shown(Program(SMALL), [("src/dot.c", "nope")])
    assert "there is src/dot.c" in shown(Program(SMALL), [("lib/dot.c", "")])


def test_the_rewriter_edits_the_hot_file_in_c_or_cpp_of_several() -> None:
    given = problem({**SMALL, "tools/a.py": "print(1)\n"})
    for first, other in (("app/count.cpp", "src/dot.c"), ("src/dot.c", "app/count.cpp")):
        hot = (HotFunction("tools/a.py", "x", 1, 0.5), HotFunction(first, "x", 1, 0.4))
        part = hot_functions(hot)(State(given), Reached(State(given)))
        assert part is not None
        observation = Observation((part,), State(given), draw=3, temperature=0.6)
        action = anyio.run(Rewriter().propose, observation)
        assert action.program is not None
        files = action.program.files
        assert files[other] == given.program.files[other]
        if first == "app/count.cpp":
            assert files[first] != APP


def edited(given: Problem, profile: str, draw: int) -> str:
    observation = Observation((Section("Profile", profile),), State(given), draw=draw, temperature=0.6)
    return edited_file(observation, ("c", "cpp"))


def test_the_edited_file_is_that_of_most_time_in_all_its_functions_and_never_a_header() -> None:
    given = problem({"app/a.h": VEC, "src/b.c": DOT, "src/c.c": DOT})
    profile = " 40.0% app/a.h:1 x\n 30.0% src/b.c:3 one\n 20.0% src/c.c:3 two\n 20.0% src/c.c:5 three\n"
    assert edited(given, profile, 1) == "src/c.c"
    assert {edited(given, "", draw) for draw in range(4)} == {"src/b.c", "src/c.c"}


POOLED = """#include "tree.h"
struct tree { tree *left, *right; };
tree *grown(int n) { return n ? new tree{grown(n - 1), grown(n - 1)} : nullptr; }
"""


def test_the_rules_write_nothing_into_a_repository_that_its_judge_refuses() -> None:
    given = problem({"src/tree.cpp": POOLED})
    [(_, pooled)] = edits(Unit("cpp", POOLED), names={"pool_alloc"})
    assert all("mmap" in applied(Unit("cpp", POOLED), one) for one in pooled)
    assert not can_edit(given, False, frozenset({"pool_alloc"}))
    assert can_edit(given, False, frozenset({"pool_alloc", "attribute"}))
    for draw in range(60):
        for rules in (USUAL_RULES, frozenset({"pool_alloc"})):
            action = propose(Observation((), State(given), draw * 7919, temperature=0.6), rules)
            assert action.program is not None
            assert barred(given.program, action.program) == ()
            assert rules == USUAL_RULES or action.program == given.program


def test_a_later_edit_keeps_what_earlier_ones_changed_in_other_files() -> None:
    given = problem({"app/count.cpp": APP, "src/dot.c": DOT})
    before = Program({**given.program.files, "src/dot.c": DOT.replace("2 * n", "n + n")})
    state = State(given, State(given), Step(Action(before, "x"), RIGHT, 1.0))
    action = propose(Observation((Section("Profile", " 50.0% app/count.cpp:3 count"),), state, 1, temperature=0.6))
    assert action.program is not None
    assert action.program.files["src/dot.c"] == before.files["src/dot.c"]
    assert action.program.files["app/count.cpp"] != APP


@pytest.mark.sandbox
def test_admission_finds_the_hot_functions_and_the_tests_that_name_them(sandbox: Sandbox, tmp_path: Path) -> None:
    toml = repos.made(tmp_path / "words", repos.PYTHON_FILES, repos.PYTHON_TOML)
    base = anyio.run(RepoEvaluator(sandbox, SHORT).base, repos.problem_of(toml))
    top = base.admitted.facts.hot[0]
    assert (top.file, top.name, top.tests) == ("src/words/__init__.py", "count", ("tests/test_words.py",))
    assert top.share > 0.3
    (path, text), *others = base.admitted.facts.benchmark
    assert (path, text, others) == ("bench/run.py", repos.PYTHON_FILES["bench/run.py"], [])
