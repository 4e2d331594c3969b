"""What the tests of the rewriter share: the programs its rules are tried on, and edits by rule."""

from __future__ import annotations

from pathlib import Path

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.rewriter.rules import RULES, offered
from maxcode.policy.rules.rewriter.runtime import applied

PROGRAMS = Path(__file__).parents[1] / "policy" / "programs"

OF_ARRAYS = ("vectorise", "nest_on_lists", "njit_nest")  # in test_array_rules.py, test_listed_rule.py, with numpy

# program -> the rules that must fire on it, in the order in which they are applied
FIRE = {
    "streams.cpp": ("newline", "fast_in", "fast_out"),
    "stdio.cpp": ("stdio_buffer", "unlocked", "fast_in", "fast_out", "pragma_optimize"),
    "plain.c": (
        *("const_global", "hoist", "expand", "swap_dimensions", "local_sum", "interchange", "tile", "pad_rows"),
        *("restrict", "unroll", "ivdep", "attribute", "fast_in", "fast_out", "pragma_optimize", "retune"),
    ),
    "containers.cpp": (
        *("set_bound", "flat_set", "paged_map", "hash_table", "ring", "vector_stack", "heap", "byte_flags", "flat_2d"),
        *("reserve", "emplace", "radix_sort", "inline_compare", "sync_off", "skip_teardown", "malloc_tuning"),
        *("pool_alloc", "fast_in", "fast_out", "retune"),
    ),
    "functions.cpp": (
        *("const_ref", "range_ref", "self_append", "substr_compare", "direct_lambda", "memoise", "binary_gcd"),
        *("int_pow", "short_mod", "const_global", "reserve", "inline_compare", "attribute", "pragma_target"),
        *("anonymous_namespace", "retune"),
    ),
    "loops.cpp": (
        *("const_ref", "hoist", "local_sum", "expand", "interchange", "tile", "swap_dimensions", "pad_rows"),
        *("flat_2d", "restrict", "ivdep", "unroll", "retune", "fast_out"),
    ),
    "words.py": (
        *("into_function", "set_lookup", "set_beside", "memo_table", "popleft", "append_in_place", "comprehension"),
        *("length_once", "write_lines", "read_lines"),
    ),
}  # fmt: skip


def text_of(program: str) -> str:
    return (PROGRAMS / program).read_text(encoding="utf-8")


def input_of(program: str) -> str:
    return (PROGRAMS / program).with_suffix(".in").read_text(encoding="utf-8")


def language_of(program: str) -> str:
    return {".c": "c", ".py": "python"}.get(Path(program).suffix, "cpp")


def edits_of(rule: str, text: str, language: str = "cpp") -> list[Edit]:
    """All edits one rule offers on a program."""
    known = next(row for row in RULES if row.name == rule)
    return offered(known, Unit(language, text)) if language in known.languages else []


def labels(rule: str, text: str, language: str = "cpp") -> list[str]:
    return [edit.label for edit in edits_of(rule, text, language)]


def rewritten(text: str, rule: str, language: str = "cpp", pick: int = 0, sites: int = 6) -> str:
    """The program after a rule was applied at up to ``sites`` sites, with its first (0) or last (-1) parameters."""
    done: set[str] = set()
    for _ in range(sites):
        open_to: dict[str, list[Edit]] = {}
        for edit in edits_of(rule, text, language):
            if edit.site not in done:
                open_to.setdefault(edit.site, []).append(edit)
        if not open_to:
            break
        site, offered = next(iter(open_to.items()))
        done.add(site)
        text = applied(Unit(language, text), offered[pick])
    return text


def names_of_rules() -> set[str]:
    return {rule.name for rule in RULES}
