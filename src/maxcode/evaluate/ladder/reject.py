"""The rung *reject*: refuses programs before anything runs, and techniques that are not permitted.  Pure."""

from __future__ import annotations

from maxcode.code import techniques
from maxcode.code.source import SOURCE_AT_MOST
from maxcode.core.types import Action, Evaluation, Feedback, Outcome, Problem, Program
from maxcode.evaluate.function.libraries import forbidden


def reject(problem: Problem, action: Action) -> Evaluation | None:
    """The first rung: the evaluation of a refused program; None if nothing is refused."""
    program = action.program
    if program is None:
        return Evaluation(
            Outcome.UNPARSED, Feedback((action.unread or "no program could be read from the completion",))
        )
    if program.files.keys() != problem.program.files.keys():
        wanted, got = sorted(problem.program.files), sorted(program.files)
        return Evaluation(Outcome.REJECTED, Feedback((f"the program must consist of {wanted}, not {got}",)))
    try:
        size = sum(len(text.encode()) for text in program.files.values())
    except UnicodeEncodeError as error:
        return Evaluation(Outcome.REJECTED, Feedback((f"not text: it holds {error.object[error.start]!r}",)))
    if size > SOURCE_AT_MOST:
        return Evaluation(Outcome.REJECTED, Feedback((f"{size} bytes of source; at most {SOURCE_AT_MOST}",)))
    library = forbidden(program, problem.spec.function_spec.name) if problem.traits.bars_libraries else None
    return Evaluation(Outcome.REJECTED, Feedback((library,))) if library is not None else None


def not_permitted(problem: Problem, program: Program) -> Evaluation | None:
    """The refusal of techniques that the problem does not permit; techniques of the original are always permitted.

    Ask it only for programs that build: one that does not build could look as if it hides something.
    """
    if problem.permitted is None:
        return None
    own = {name for text in problem.program.files.values() for name in techniques.used(problem.language, text)}
    reasons = tuple(
        f"{path}, line {use.line}: `{use.what}` is {use.technique}, which is not permitted here"
        for path, text in program.files.items()
        for use in techniques.forbidden(problem.language, text, problem.permitted | own)
    )
    return Evaluation(Outcome.REJECTED, Feedback(reasons)) if reasons else None
