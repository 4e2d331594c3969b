"""Rules for Python programs: fixed rewrites, without a language model.

Python lets a program change almost everything at run time, so a rule acts only where the text proves the types that it
needs (``inferred.py``), in a program that does nothing unpredictable (``script.py``).  ``set_beside`` and the rules
about numpy arrays (``arrays.py``) ask for the types when the program runs, and keep the old code for others.
"""

from maxcode.policy.rules.python.filling import comprehension
from maxcode.policy.rules.python.functions import memo_table
from maxcode.policy.rules.python.listed import nest_on_lists
from maxcode.policy.rules.python.lists import popleft, set_lookup
from maxcode.policy.rules.python.loops import append_in_place, into_function, length_once
from maxcode.policy.rules.python.njit import njit_nest
from maxcode.policy.rules.python.searches import set_beside
from maxcode.policy.rules.python.streams import read_lines, write_lines
from maxcode.policy.rules.python.vectorise import vectorise

__all__ = [
    "append_in_place",
    "comprehension",
    "into_function",
    "length_once",
    "memo_table",
    "nest_on_lists",
    "njit_nest",
    "popleft",
    "read_lines",
    "set_beside",
    "set_lookup",
    "vectorise",
    "write_lines",
]
