"""What a candidate of a problem is and may do, in words: the system message of a policy; a critic is told it too."""

from __future__ import annotations

from maxcode.core.types import Problem
from maxcode.llm.prompts import filled

_LANGUAGES = {  # those that have a template
    "cpp": "C++", "c": "C", "python": "Python", "rust": "Rust", "go": "Go", "java": "Java", "javascript": "JavaScript",
}  # fmt: skip
_CLOCKS = {
    "cpu": "the processor time (of all threads together)",
    "wall": "the wall-clock time",
    "instructions": "the number of instructions executed (of all threads together)",
}
_READING = "reading and printing included"
_BESIDE = {
    "python": "the start of the interpreter, imports, reading and printing included",
    "java": "the start of the virtual machine, reading and printing included",
    "javascript": "the start of the engine, reading and printing included",
}
_MEANS = {"cpp": "means_native", "c": "means_native", "python": "means_python"}
_ONE_THREAD = "`torch.get_num_threads()` is 1, and the time of all threads counts together: leave OpenMP out."
_MANY_THREADS = "Threads are those of OpenMP, `torch.get_num_threads()` of them; start none of your own."


def rules_for(problem: Problem, with_example: bool = True) -> str:
    """The language, how a candidate is judged, what counts, and what is allowed; ``with_example``: for modules, also
    how native code is written."""
    kind = f"{problem.kind}_cuda" if problem.spec.on_gpu else problem.kind
    threads = ", and threads, one for each core" if problem.goal == "wall" else ""
    told = {"language": _language(problem), "clock": _CLOCKS[problem.goal], "threads": threads}
    if problem.traits.shows_operators:
        told["threads"] = _MANY_THREADS if problem.goal == "wall" else _ONE_THREAD
        told["native"] = filled(f"native_{kind}") if with_example else ""
    if not problem.traits.has_tests:
        return filled(f"system_{kind}", **told)
    means = filled(_MEANS.get(problem.language, "means_other"), threads=threads)
    return filled(f"system_{kind}", means=means, beside=_BESIDE.get(problem.language, _READING), **told)


def _language(problem: Problem) -> str:
    """The language and what is there beside it; its name alone for a repository, which has libraries of its own."""
    if problem.traits.is_patch:
        return _LANGUAGES.get(problem.language, problem.language)
    known = problem.language in _LANGUAGES
    return filled(f"language_{problem.language}") if known else f"They are written in {problem.language}."
