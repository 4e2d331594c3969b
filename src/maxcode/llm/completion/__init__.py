"""Reads a program from the text of a completion: one function, ``read``.

    completion -> answer (without reasoning) -> fenced blocks -> whole program      whole.py
                                             -> SEARCH/REPLACE blocks, applied      edits.py
                                             -> a unified diff, applied             diffs.py

A text that has more than one reading is not guessed.  It gives ``Unread`` with a short, plain reason, because the model
sees that reason.
"""

from __future__ import annotations

import re

from maxcode.code.source import answer_of
from maxcode.core.types import Program
from maxcode.llm.completion.blocks import Unread
from maxcode.llm.completion.diffs import has_diff, patched
from maxcode.llm.completion.edits import edited, has_edits
from maxcode.llm.completion.whole import Answer, whole

__all__ = ["Answer", "Unread", "read"]

_UNWRITABLE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves of surrogate pairs that stand for no byte


def read(
    text: str,
    program: Program,
    language: str,
    answer: Answer = "whole",
    entry: str = "main",
    complete: bool = False,
    is_open: bool = False,
) -> Program | Unread:
    """The program that a completion proposes in place of ``program``; Unread with the reason if there is none.

    ``answer``: the requested form.  If the completion has only another form, that is read too: it was paid for, and it
    means one program only.  A diff is a form of edits.
    ``entry``: the function that a whole program of C or C++ must define.
    ``is_open``: a block may add a file to a program of one file, as in a repository.
    ``complete``: the model ended by itself, so a last block that is never closed is whole, and a last edit ends with
    its fence.
    Never raises for any text; InputError for an unknown language.
    """
    said = answer_of(_UNWRITABLE.sub("\ufffd", text).replace("\r\n", "\n"))
    if not said.strip():
        return Unread("the completion holds no answer" + (" after its reasoning" if text.strip() else ""))
    if answer == "edits" and has_edits(said):
        return edited(said, program, is_open, complete)
    by_diff = patched(said, program) if answer == "edits" and has_diff(said) else None
    if isinstance(by_diff, Program):
        return by_diff
    program_read = whole(said, program, language, entry, complete, is_open)
    if isinstance(program_read, Unread) and has_edits(said):
        return edited(said, program, is_open, complete)
    if isinstance(program_read, Unread) and has_diff(said):
        return by_diff or patched(said, program)
    if isinstance(program_read, Unread) and answer == "edits" and not program_read.cut:
        return Unread(f"there is no SEARCH/REPLACE block and no diff, and {program_read.reason}")
    return program_read
