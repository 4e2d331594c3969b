"""The parts that describe the request: statement, program, machine, task."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from maxcode.code.languages import LANGUAGES
from maxcode.code.source import fenced
from maxcode.code.techniques import describe
from maxcode.core.history import Reached
from maxcode.core.types import (
    GOALS,
    Checker,
    Facts,
    FunctionSpec,
    Kind,
    Machine,
    Problem,
    ProgramSpec,
    PythonSpec,
    Section,
    State,
)
from maxcode.core.types.problem import MOST_OWN, OWN_ERRORS
from maxcode.observe.part import Part, harmless
from maxcode.observe.repository import shown_original, shown_program

ORIGINAL = "the original program:"  # the line before its text, at the end of "Problem"
CHECKER = "checker: "  # begins the line on how an output is judged
_BASE = "the files that may be changed, as in base:"
_PROGRAM = "Make this program faster. It must give the same output for every input."
_MODULE = "Write a faster ModelNew for the class Model of the file below."


def statement() -> Part:
    """ "Problem": the task, its language, flags, checker, the permitted techniques, and the original program, which
    defines the right results.  The same text in every prompt of a problem."""

    def part(state: State, reached: Reached) -> Section | None:
        problem = state.problem
        lines = [*statement_lines(problem), _BASE if problem.traits.is_patch else ORIGINAL, shown_original(problem)]
        return Section("Problem", "\n".join(lines))

    return part


def program(original_shown: bool = False) -> Part:
    """ "Program": the program of this state, which is to be improved; None if it is the original and ``original_shown``
    says that "Problem" shows that."""

    def part(state: State, reached: Reached) -> Section | None:
        if original_shown and state.program == state.problem.program:
            return None
        return Section("Program", shown_program(state.problem, state.program))

    return part


def machine(described: Machine, facts: Facts = Facts()) -> Part:  # noqa: B008
    """ "Machine": where the candidate is built and timed, with what, and the limits of one run."""

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Machine", harmless("\n".join(about_machine(described, state.problem, facts))))

    return part


def about_machine(described: Machine, problem: Problem, facts: Facts = Facts()) -> list[str]:  # noqa: B008
    """The machine, the compiler and the limits of one run, in words; of a repository what base is really built and run
    with."""
    lines = [", ".join([described.cpu, f"{described.cores} cores", *described.kernel.split()[:1]])]
    tongue = LANGUAGES.get(problem.language)
    is_machine_code = problem.traits.shows_operators or tongue is None or tongue.runtime in ("", "none")
    is_machine_code = is_machine_code and not problem.spec.on_gpu
    if described.caches and is_machine_code:
        lines.append("caches: " + ", ".join(f"{name} {size}" for name, size in described.caches.items()))
    is_for_any = problem.traits.is_patch and not any("native" in one for one in facts.tools)  # its flags say for what
    if described.isa and is_machine_code and not is_for_any:
        more = "" if any("avx512" in one for one in described.isa) or "avx" not in described.isa else "; no avx512"
        lines.append(f"instruction sets: {', '.join(described.isa)}{more}")
    if problem.traits.is_patch:
        return [*lines, *facts.tools, _limits(problem)]
    known = described.compilers.get(problem.language)
    if compilers := [known] if known else list(described.compilers.values()):
        lines.append(f"compiler: {', '.join(compilers)}")
    if flags := facts.native_flags:
        lines.append(f"compiler of native code: {described.compilers.get('cpp', 'g++')}; flags: {flags}")
    return lines if problem.spec.on_gpu else [*lines, _limits(problem)]


def task(instruct: Callable[[State, Reached], str]) -> Part:
    """ "Task": the instruction for the next proposal, as a function of the state."""

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Task", instruct(state, reached).strip())

    return part


def _limits(problem: Problem) -> str:
    limits = problem.spec.limits
    if problem.traits.is_patch:
        return "a run of the benchmark may take ten times as long as in base, and 10 s more"
    beside = _MEMORY_BESIDE.get(problem.kind, "")
    return f"one run may use {limits.memory_mb} MB of memory{beside} and {limits.run_s:g} s of CPU time"


def checker_line(problem: Problem) -> str:
    """How an output is judged, in one line; empty for a repository, whose own tests and benchmark decide."""
    return next((line for line in _ABOUT[problem.kind](problem) if line.startswith(CHECKER)), "")


def statement_lines(problem: Problem) -> list[str]:
    """The task, how it is checked or the commands that check it, the goal, and the permitted techniques."""
    lines = _ABOUT[problem.kind](problem)
    lines.append(f"goal: {GOALS[problem.goal]}")
    if problem.permitted is not None:
        lines.append(
            "permitted techniques, all others are refused:" if problem.permitted else "no technique is permitted"
        )
        lines += [f"- {describe(name)}" for name in sorted(problem.permitted)]
    return lines


def _program_lines(problem: Problem) -> list[str]:
    return [
        *_built_lines(problem),
        f"{CHECKER}{_checker(problem.spec.checker)}",
        *_domain_lines(problem.spec),
        *_started_with(problem.spec),
    ]


def _domain_lines(spec: ProgramSpec) -> list[str]:
    """Which numbers an input may hold; what a problem does not say may be anything."""
    return [f"numbers of an input, in the order of reading: {', '.join(spec.domain)}"] if spec.domain else []


def _started_with(spec: ProgramSpec) -> list[str]:
    lines = [f"started with the arguments: {shlex.join(spec.args)}"] if spec.args else []
    lines += [f"in its environment: {name}={value}" for name, value in spec.env]
    return lines + [
        f"beside it, read-only: the file {one.name}, {len(one.content)} bytes, which it may open and read as the "
        "original does"
        for one in spec.files
    ]


def _built_lines(problem: Problem) -> list[str]:
    flags = [f"flags: {' '.join(problem.spec.flags)}"] if problem.spec.flags else []
    return [problem.statement or _PROGRAM, f"language: {problem.language}", *flags]


def _module_lines(problem: Problem) -> list[str]:
    spec = problem.spec.module_spec
    constants = ", ".join(f"{name} = {value}" for name, value in spec.constants)
    return [
        _MODULE,
        *problem.statement.splitlines(),
        "language: python",
        *(
            [f"constants of the file below that are replaced (these are the sizes that count): {constants}"]
            if constants
            else []
        ),
        f"device: {spec.device}",
        *_domains(spec.domain),
        f"{CHECKER}for every element |y - exact| <= t * (|exact| + rms), where exact is the reference's output in "
        "double precision, rms the root mean square of exact over the whole output, "
        f"t = max({spec.tolerance:g}, min({OWN_ERRORS:g} * own, {MOST_OWN:g})), and own the largest |y - exact| / "
        "(|exact| + rms) of the reference's own output of that call; and at most a thousandth (a tenth) of all "
        "elements may be further off than the same t, with own = the error that a thousandth (a tenth) of the "
        "reference's are above",
    ]


def _function_lines(problem: Problem) -> list[str]:
    spec = problem.spec.function_spec
    names = [one.name for one in spec.scalars]
    sizes = "; ".join(
        ", ".join(f"{name} = {value}" for name, value in zip(names, size, strict=True)) for size in spec.timed
    )
    return [
        *_built_lines(problem),
        f"implement the function {spec.name} of {spec.header_name}:",
        spec.header.strip(),
        f"the sizes that matter most: {sizes}; it must be right at every size{_checked_at(spec)}",
        *_domains(spec.domain),
        f"{CHECKER}{_bound(spec)}",
    ]


def _domains(named: tuple[tuple[str, str], ...]) -> list[str]:
    """Which values arguments may have, by name."""
    return [f"values that come: {'; '.join(f'{name}: {words}' for name, words in named)}"] if named else []


def _checked_at(spec: FunctionSpec) -> str:
    """Which sizes are checked, in words: the ends of those that the problem names."""
    if not spec.checked:
        return ""
    ends = [(min(values), max(values)) for values in zip(*spec.checked, strict=True)]
    told = [f"{one.name} {low} to {high}" for one, (low, high) in zip(spec.scalars, ends, strict=True)]
    return (
        f"; it is checked at sizes from {', '.join(told)}, between these and the former, and up to an eighth beyond "
        "the largest"
    )


def _bound(spec: FunctionSpec) -> str:
    """How written arrays are compared."""
    others = f" ({', '.join(f'{name} {most:g}' for name, most in spec.tolerances)})" if spec.tolerances else ""
    return (
        f"the relative Frobenius error of every written array is at most {spec.tolerance:g}{others}; a small element "
        "beside large ones must be right too, except for what changes of the inputs in their last digits do to it"
    )


def _source_of_arguments(spec: PythonSpec) -> list[str]:
    if spec.calls is not None:
        return [f"its arguments are those of {spec.recorded} recorded calls, of which every second one is held out"]
    return [f"its arguments come from inputs(seed, {spec.size}) of this file, with secret seeds:", fenced(spec.inputs)]


def called_line(problem: Problem) -> str:
    """What is called of a Python function or class."""
    method = problem.spec.python_spec.function.rpartition(":")[2].partition(".")[2]
    return f"what is called: {problem.entry}{f'().{method}, of one object made before' if method else ''}"


def _python_lines(problem: Problem) -> list[str]:
    spec = problem.spec.python_spec
    beside = ", ".join(name for name, _ in spec.beside)
    near = f"within {spec.tolerance:g} of their size" if spec.tolerance is not None else "within rounding"
    equal = f"every result equals the original's: the same types, whole numbers and texts equal, real numbers {near}"
    kept = "what becomes of the arguments is compared as well"
    own = "the arguments belong to the function, which may change them and give their memory back"
    return [
        problem.statement or "Make this function faster. It must give the same result for every input.",
        "language: python",
        called_line(problem),
        *([f"files beside it that can be imported: {beside}"] if beside else []),
        *_source_of_arguments(spec),
        f"{CHECKER}{'the user says whether a result is accepted (is_solution)' if spec.check else equal}; "
        f"{own if spec.own_arguments else kept}",
    ]


def _repository_lines(problem: Problem) -> list[str]:
    spec = problem.spec.repo_spec
    commands = (
        ("build", spec.build),
        ("tests", spec.tests),
        ("benchmark, whose whole process is timed", spec.benchmark),
    )
    return [
        problem.statement or "Make the benchmark of this repository faster.",
        f"language: {problem.language}",
        *(f"{name}: {command}" for name, command in commands if command),
        *([f"variables of these commands: {' '.join(map('='.join, problem.spec.env))}"] if problem.spec.env else []),
        f"files that may be changed, or added: {', '.join(spec.edit)}",
    ]


_ABOUT: Mapping[Kind, Callable[[Problem], list[str]]] = {
    "program": _program_lines,
    "function": _function_lines,
    "module": _module_lines,
    "python": _python_lines,
    "repo": _repository_lines,
}
_MEMORY_BESIDE: Mapping[Kind, str] = {"function": " beside the arrays it is given"}


def _checker(checker: Checker) -> str:
    match checker.kind:
        case "exact":
            return "exact (the output is the same, byte for byte)"
        case "tokens":
            return (
                "tokens (the words of the output are the same, in order; what white space is between them is ignored)"
            )
        case "float":
            return (
                f"float (word by word, white space ignored: integers are the same, other numbers differ by at most "
                f"{checker.abs_tol:g} + {checker.rel_tol:g} * |expected|)"
            )
        case "pie":
            return "lines, each equal to the expected one or a number less than 1e-3 from it"
        case "command":
            return "a program of the problem's own, which compares with the original's output"
