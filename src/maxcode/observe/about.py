"""The parts that describe the request: statement, program, machine, task."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from maxcode.code.techniques import describe
from maxcode.core.history import Reached
from maxcode.core.types import GOALS, Checker, Kind, Machine, Problem, Section, State
from maxcode.observe.part import Part, listing

_PROGRAM = "Make this program faster. It must give the same output for every input."
_MODULE = (
    "Write a faster ModelNew for the class Model of the file below: the same constructor and forward, the same "
    "parameters and buffers by name, shape and order, the same outputs."
)


def statement() -> Part:
    """ "Problem": the task, its language, flags, checker, the permitted techniques, and the original program, which
    defines the right results.  The original is left out if "Program" shows it."""

    def part(state: State, reached: Reached) -> Section | None:
        lines = _statement_lines(state.problem)
        original = state.problem.program
        if state.program != original:
            lines += ["the original program:", listing(original, state.problem.language)]
        return Section("Problem", "\n".join(lines))

    return part


def program() -> Part:
    """ "Program": the program of this state, which is to be improved."""

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Program", listing(state.program, state.problem.language))

    return part


def machine(described: Machine) -> Part:
    """ "Machine": where the candidate is built and timed, and the limits of one run."""
    lines = [f"{described.cpu}, {described.cores} cores, {described.kernel}"]
    if described.caches:
        lines.append("caches: " + ", ".join(f"{name} {size}" for name, size in described.caches.items()))
    if described.isa:
        lines.append(f"instruction sets: {', '.join(described.isa)}")

    def part(state: State, reached: Reached) -> Section | None:
        problem = state.problem
        known = described.compilers.get(problem.language)
        compilers = [known] if known else list(described.compilers.values())
        built = [f"compiler: {', '.join(compilers)}"] if compilers else []
        return Section("Machine", "\n".join([*lines, *built, _limits(problem)]))

    return part


def task(instruct: Callable[[State, Reached], str]) -> Part:
    """ "Task": the instruction for the next proposal, as a function of the state."""

    def part(state: State, reached: Reached) -> Section | None:
        return Section("Task", instruct(state, reached).strip())

    return part


def _limits(problem: Problem) -> str:
    limits = problem.spec.limits
    beside = _MEMORY_BESIDE.get(problem.kind, "")
    return f"one run may use {limits.memory_mb} MB of memory{beside} and {limits.run_s:g} s of CPU time"


def _statement_lines(problem: Problem) -> list[str]:
    lines = _ABOUT[problem.kind](problem)
    lines.append(f"goal: {GOALS[problem.goal]}")
    if problem.permitted is not None:
        lines.append(
            "permitted techniques, all others are refused:" if problem.permitted else "no technique is permitted"
        )
        lines += [f"- {describe(name)}" for name in sorted(problem.permitted)]
    return lines


def _program_lines(problem: Problem) -> list[str]:
    return [*_built_lines(problem), f"checker: {_checker(problem.spec.checker)}"]


def _built_lines(problem: Problem) -> list[str]:
    flags = f"flags: {' '.join(problem.spec.flags)}"
    return [problem.statement or _PROGRAM, f"language: {problem.language}", flags]


def _module_lines(problem: Problem) -> list[str]:
    spec = problem.spec.module_spec
    constants = ", ".join(f"{name} = {value}" for name, value in spec.constants)
    return [
        _MODULE,
        *problem.statement.splitlines(),
        "language: python",
        *([f"constants that are replaced in the file below: {constants}"] if constants else []),
        f"device: {spec.device}",
        f"checker: no element further from the exact one than {spec.tolerance:g} of its size and of the output's root "
        "mean square, or 3 times the reference's own error; every call has fresh inputs",
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
        f"timed at {sizes}; it must be right at every size",
        f"checker: relative Frobenius error of every written array at most {spec.tolerance:g}",
        "libraries such as a BLAS are forbidden",
    ]


_ABOUT: Mapping[Kind, Callable[[Problem], list[str]]] = {
    "program": _program_lines,
    "function": _function_lines,
    "module": _module_lines,
}
_MEMORY_BESIDE: Mapping[Kind, str] = {"function": " beside the arrays it is given"}


def _checker(checker: Checker) -> str:
    if checker.kind == "float":
        return f"float (tolerance {checker.abs_tol:g} absolute, {checker.rel_tol:g} relative)"
    if checker.kind == "pie":
        return "lines, each equal to the expected one or a number less than 1e-3 from it"
    return checker.kind
