"""The parts of an observation, and ``compose``.

    observe = compose(statement(), machine(described), trajectory(), failures(), best(), program(), critiques())

Each part is a function of (state, reached) that returns one titled section or None.  A part is switched off by leaving
it out, which gives the paper's ablation.  ``PARTS`` names them.  Their cost grows with the path at most, never with the
run.  Text from a model, a compiler or a program cannot imitate the heading of a section.
"""

from __future__ import annotations

from maxcode.observe.about import machine, program, statement, task
from maxcode.observe.earlier import best, branch_lines, branches, critiques, failures, run_best
from maxcode.observe.economy import economy
from maxcode.observe.instructions import beat_best, improve, unless_at_floor
from maxcode.observe.known import ShownTest, measured, setting
from maxcode.observe.measurements import failing_test, feedback, profile, slowest_test
from maxcode.observe.part import Part, compose, shown_evaluation, tokens
from maxcode.observe.repository import hot_functions
from maxcode.observe.trajectory import trajectory

PARTS: dict[str, str] = {
    "statement": "Problem: what is to be made faster, how it is checked, and the original program",
    "setting": "Setting: the machine, the timed sizes and the original's time in short",
    "machine": "Machine: processor, caches, instruction sets, compiler, and what a run may use",
    "measured": "Measured: the timed inputs, the original's time on each, the floor of a process, the format, a test",
    "trajectory": "Trajectory: all steps that led here, with their changes and feedback, the oldest shortened first",
    "failures": "Failures: what not to repeat",
    "branches": "Other branches: one line for each program of other paths that beats the original",
    "best": "Best: the fastest program of the path, whose speed-up is the paper's u",
    "run_best": "Best of the run: the best confirmed program of all paths, if it is faster than the best of this path",
    "program": "Program: the program at this state",
    "profile": "Profile: the time of the program by line; of a repository, that of base by function, and its benchmark",
    "feedback": "Feedback: the paper's four-part feedback of the last step",
    "failing_test": "Test: the input of the first seen test that fails",
    "slowest_test": "Test: the input of the seen test that takes longest",
    "critiques": "Critique: the critic's diagnosis of the program",
    "economy": "Economy: of a repository, what can be won at most, and the time and the number of candidates",
    "task": "Task: the instruction for the next proposal",
}
"""In the order of a prompt: what never changes in a run comes first, so that a provider can keep it in its cache."""

__all__ = [
    "PARTS",
    "Part",
    "ShownTest",
    "beat_best",
    "best",
    "branch_lines",
    "branches",
    "compose",
    "critiques",
    "economy",
    "failing_test",
    "failures",
    "feedback",
    "hot_functions",
    "improve",
    "machine",
    "measured",
    "profile",
    "program",
    "run_best",
    "setting",
    "shown_evaluation",
    "slowest_test",
    "statement",
    "task",
    "tokens",
    "trajectory",
    "unless_at_floor",
]
