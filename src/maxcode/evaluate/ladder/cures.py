"""Why an original fails here, and what the user can do: causes that its output or the compiler's shows."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from maxcode.code.languages import language
from maxcode.core.types import CaseResult, Limits, Outcome, Problem, ProgramSpec

_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,80})'")
_OPENMP = re.compile(r"undefined reference to `(?:omp_|GOMP_)|fatal error: omp\.h")
_LIBRARY = re.compile(r"undefined reference to `([^'\n]{1,80})'")
_HEADER = re.compile(r"fatal error: ([^:\n]{1,200}): No such file or directory")
_SHOWN = 40


def cure_of_build(diagnostics: str) -> str:
    """What to do about a failed build; empty if the compiler's words show no cause that is known here."""
    if _OPENMP.search(diagnostics):
        return "it uses OpenMP: add -fopenmp to --flags"
    if found := _HEADER.search(diagnostics):
        return (
            f"the header {found[1]} is not among its files: if it is yours, give its folder with --include DIR; if a "
            "macro selects it, give the macro with --flags (-DNAME)"
        )
    if found := _LIBRARY.search(diagnostics):
        return (
            f"nothing defines {found[1]}: if it is yours, give the folder of all sources, with a problem.toml that "
            "names them in `sources`; if it is from a usual library, name it with --flags (such as -lm or -lpthread)"
        )
    return ""


def cure_of_candidate(diagnostics: str, problem: Problem) -> str:
    """What to do about a candidate that does not build, although the original does; empty as for that one."""
    found = _LIBRARY.search(diagnostics)
    sources = [name for name in problem.program.files if name.endswith(language(problem.language).suffixes)]
    if found is None or len(sources) < 2:
        return cure_of_build(diagnostics)
    return (
        f"nothing defines {found[1]}: a candidate that is one file replaces {sources[0]}, or another file only if it "
        f"has that one's name (such as {PurePosixPath(sources[1]).name}); else give a folder with all files of the "
        "program"
    )


def cure_of_failure(result: CaseResult, spec: ProgramSpec) -> str:
    """What to do about a test that the original fails; empty if the result shows no cause that is known here."""
    if result.outcome is Outcome.TIMEOUT:
        return (
            f"it ran longer than {spec.limits.run_s:g} s of CPU, the limit of one run: give --run-limit SECONDS, or a "
            "smaller input"
        )
    if found := _NO_MODULE.search(result.detail):
        if spec.venv:
            return f"the virtual environment {spec.venv} has no {found[1]}: install it there"
        return (
            "the sandbox runs the system's /usr/bin/python3 without your packages: give a virtual environment that has "
            f"{found[1]} (--venv DIR), or install {found[1]} for that Python (as a package of the system)"
        )
    return ""


def stopped_by_run_limit(limits: Limits, cpu_s: float) -> str:
    """What to add about a job that was stopped after ``cpu_s`` allowed seconds: the option, if that is the limit of one
    run and no shorter one."""
    is_that = cpu_s >= limits.run_s
    return f" (the limit of one run is {limits.run_s:g} s of CPU: give --run-limit SECONDS)" if is_that else ""


def unlike_itself(first: bytes, second: bytes) -> str:
    """That two runs on the same input differ, with the first words in which they do; empty if they are the same."""
    words = ([*output.decode(errors="replace").split(), ""] for output in (first, second))
    for number, (one, other) in enumerate(zip(*words, strict=False), 1):
        if one != other:
            return (
                f"its answers change from run to run: '{one[:_SHOWN]}', then '{other[:_SHOWN]}' on the same input "
                f"(word {number} of the output): fix its seed, and take time and addresses out, or give a checker that "
                "accepts every right answer (--tolerance, or [checker] in problem.toml)"
            )
    return ""
