"""The rules, best first.

Priors are from measurements.  For a rule measured on real programs, the prior is from its mean gain there; for a rule
measured only on programs written for it, half of that.  Pragmas and attributes rarely help, so they come last.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from itertools import pairwise

from maxcode.code.cpp.edit import Edit, Rule
from maxcode.code.cpp.unit import Unit
from maxcode.errors import InputError
from maxcode.policy.rules import python
from maxcode.policy.rules.rewriter.rules import (
    arithmetic,
    associative,
    flags,
    inner_loops,
    io,
    layout,
    loops,
    memory,
    passing,
    recursion,
    sequences,
    sorting,
    strings,
    tuning,
)
from maxcode.policy.rules.rewriter.rules.guards import inserts_well

_BOTH = ("cpp", "c")
_PYTHON = ("python",)

RULES: tuple[Rule, ...] = (
    Rule("fast_in", io.fast_in, 80, ("input",), _BOTH, friends=("fast_out",)),
    Rule("fast_out", io.fast_out, 70, ("output",), _BOTH, friends=("fast_in",)),
    Rule("set_bound", associative.set_bound, 60, ("lookup",)),
    Rule("memoise", recursion.memoise, 60, ("recursion",)),
    Rule("set_lookup", python.set_lookup, 60, ("lookup",), _PYTHON),
    Rule("set_beside", python.set_beside, 60, ("lookup",), _PYTHON),
    Rule("memo_table", python.memo_table, 60, ("recursion",), _PYTHON),
    Rule("vectorise", python.vectorise, 60, ("loop", "arithmetic", "vector"), _PYTHON),
    Rule("nest_on_lists", python.nest_on_lists, 50, ("loop", "arithmetic"), _PYTHON),
    Rule("self_append", strings.self_append, 50, ("copy", "string")),
    Rule("interchange", loops.interchange, 45, ("loop", "stride"), _BOTH, friends=("tile", "unroll", "ivdep")),
    Rule("expand", loops.expand, 45, ("loop", "stride"), _BOTH, friends=("tile", "unroll", "ivdep")),
    Rule("const_ref", passing.const_ref, 45, ("copy", "allocation")),
    Rule("hash_table", associative.hash_table, 40, ("lookup", "allocation")),
    Rule("popleft", python.popleft, 40, ("queue", "copy"), _PYTHON),
    Rule("swap_dimensions", layout.swap_dimensions, 30, ("stride", "loop"), _BOTH),
    Rule("hoist", inner_loops.hoist, 30, ("loop", "arithmetic"), _BOTH),
    Rule("append_in_place", python.append_in_place, 30, ("string", "copy"), _PYTHON),
    Rule("pool_alloc", memory.pool_alloc, 25, ("allocation",)),
    Rule("direct_lambda", passing.direct_lambda, 25, ("call", "recursion")),
    Rule("newline", io.newline, 25, ("output",), friends=("sync_off",)),
    Rule("sync_off", io.sync_off, 25, ("input", "output"), friends=("newline",)),
    Rule("radix_sort", sorting.radix_sort, 25, ("sort",)),
    Rule("range_ref", passing.range_ref, 25, ("copy", "allocation")),
    Rule("product_pow", arithmetic.product_pow, 25, ("arithmetic",), exact=False),
    Rule("into_function", python.into_function, 25, ("loop", "lookup"), _PYTHON),
    Rule("binary_gcd", arithmetic.binary_gcd, 20, ("modulo", "arithmetic", "recursion")),
    Rule("int_pow", arithmetic.int_pow, 20, ("arithmetic",)),
    Rule("inline_compare", sorting.inline_compare, 20, ("sort", "call")),
    Rule("local_sum", inner_loops.local_sum, 20, ("loop", "vector"), _BOTH),
    Rule("const_global", arithmetic.const_global, 15, ("modulo", "arithmetic"), _BOTH),
    Rule("paged_map", associative.paged_map, 15, ("lookup", "allocation")),
    Rule("tile", loops.tile, 15, ("stride", "loop", "cache"), _BOTH),
    Rule("flat_2d", sequences.flat_2d, 15, ("cache", "allocation", "stride")),
    Rule("malloc_tuning", memory.malloc_tuning, 15, ("allocation",), _BOTH),
    Rule("pad_rows", layout.pad_rows, 15, ("stride", "cache"), _BOTH),
    Rule("read_lines", python.read_lines, 15, ("input",), _PYTHON),
    Rule("split_sum", inner_loops.split_sum, 12, ("loop", "vector", "arithmetic"), _BOTH, exact=False),
    Rule("skip_teardown", memory.skip_teardown, 12, ("allocation",), usual=False),
    Rule("reserve", sequences.reserve, 12, ("allocation", "copy")),
    Rule("substr_compare", strings.substr_compare, 12, ("string", "copy", "allocation")),
    Rule("heap", sequences.heap, 12, ("queue",)),
    Rule("ring", sequences.ring, 12, ("queue", "allocation")),
    Rule("write_lines", python.write_lines, 12, ("output",), _PYTHON),
    Rule("vector_stack", sequences.vector_stack, 10, ("queue", "allocation")),
    Rule("retune", tuning.retune, 10, (), _BOTH),
    Rule("short_mod", arithmetic.short_mod, 10, ("modulo",)),
    Rule("comprehension", python.comprehension, 10, ("loop", "allocation", "call"), _PYTHON),
    Rule("stdio_buffer", io.stdio_buffer, 8, ("input", "output"), _BOTH),
    Rule("unlocked", io.unlocked, 8, ("input", "output"), _BOTH),
    Rule("flat_set", associative.flat_set, 8, ("lookup", "cache")),
    Rule("emplace", sequences.emplace, 6, ("copy",)),
    Rule("restrict", passing.restrict, 6, ("vector", "loop"), _BOTH),
    Rule("unroll", inner_loops.unroll, 6, ("loop", "vector"), _BOTH),
    Rule("byte_flags", sequences.byte_flags, 5, ("vector", "cache")),
    Rule("njit_nest", python.njit_nest, 5, ("loop", "arithmetic"), _PYTHON, usual=False),
    Rule("length_once", python.length_once, 5, ("call", "loop"), _PYTHON),
    Rule("ivdep", inner_loops.ivdep, 4, ("vector",), _BOTH),
    Rule("fast_math", flags.fast_math, 4, ("vector", "arithmetic"), _BOTH, exact=False),
    Rule("attribute", flags.attribute, 3, ("call",), _BOTH),
    Rule("pragma_target", flags.pragma_target, 3, ("vector",), _BOTH),
    Rule("pragma_optimize", flags.pragma_optimize, 3, ("vector",), _BOTH),
    Rule("anonymous_namespace", flags.anonymous_namespace, 2, ("call",)),
)


USUAL_RULES: frozenset[str] = frozenset(rule.name for rule in RULES if rule.usual)


def edits(unit: Unit, inexact: bool = False, names: Collection[str] = USUAL_RULES) -> Iterator[tuple[Rule, list[Edit]]]:
    """For each rule of these names with edits on a program: the rule and its edits, in the order of ``RULES``.

    Rules that may change the last digits of results are left out unless ``inexact``.
    """
    for rule in RULES:
        if rule.name in names and unit.language in rule.languages and (rule.exact or inexact):
            found = offered(rule, unit)
            if found:
                yield rule, found


def offered(rule: Rule, unit: Unit) -> list[Edit]:
    """The edits of one rule that can be applied."""
    found = [edit for edit in rule.edits(unit) if _is_sound(edit)]
    return found if unit.language == "python" else [edit for edit in found if inserts_well(unit, edit)]


def _is_sound(edit: Edit) -> bool:
    """Whether the pieces of an edit do not overlap; nested sites of one kind may, and such edits are dropped."""
    patches = sorted(edit.change.patches, key=lambda patch: (patch.start, patch.end))
    return all(second.start >= first.end for first, second in pairwise(patches))


def chosen_rules(wanted: Collection[str] = (), unwanted: Collection[str] = ()) -> frozenset[str]:
    """The names of the usual rules, with those ``wanted`` in addition and without those ``unwanted``.

    InputError with near matches for a name that is no rule, and for one that is both.
    """
    known = [rule.name for rule in RULES]
    for name in (*wanted, *unwanted):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"; did you mean {', '.join(near)}?" if near else "."
            raise InputError(f"unknown rule '{name}'{hint} `maxcode list rules` lists all of them")
    if both := sorted({*wanted} & {*unwanted}):
        raise InputError(f"--with-rule and --without-rule both name {', '.join(both)}; leave one of them out")
    return (USUAL_RULES | frozenset(wanted)) - frozenset(unwanted)
