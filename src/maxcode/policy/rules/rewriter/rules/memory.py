"""Rules for allocation."""

from __future__ import annotations

from collections.abc import Iterator

from maxcode.code.cpp.edit import Change, Edit, Snippet
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.source import Patch, text_of
from maxcode.policy.rules.rewriter.rules.guards import owns_new, runs_threads
from maxcode.policy.rules.rewriter.runtime import holds

CHUNKS = (1 << 14, 1 << 16, 1 << 18)
LARGEST = (128, 512, 2048)
TOP_PADS = (1 << 16, 1 << 20, 1 << 24)

_NODES = words("map set multiset multimap list unordered_map unordered_set new deque queue shared_ptr unique_ptr")
_BLOCKS = words("vector string malloc calloc realloc")


def pool_alloc(unit: Unit) -> Iterator[Edit]:
    """Serves small allocations from lists by size; one thread only, and the program must not define operator new."""
    known = unit.words
    if (
        runs_threads(unit)
        or not known & (_NODES | _BLOCKS)
        or holds(unit, "pool")
        or owns_new(unit)
        or "set_new_handler" in known
    ):
        return
    for chunk in CHUNKS:
        for largest in LARGEST:
            snippet = Snippet("pool", (("pool_chunk", chunk), ("pool_largest", largest)))
            params = (("chunk", chunk), ("largest", largest))
            yield Edit(
                "pool_alloc", "", params, "serves small allocations from lists by size", (), Change((), (snippet,))
            )


def malloc_tuning(unit: Unit) -> Iterator[Edit]:
    """Keeps freed memory instead of returning it to the kernel each time; for programs that allocate."""
    if unit.main is None or "mallopt" in unit.words or not unit.words & (_NODES | _BLOCKS):
        return
    start, indent = unit.main.body.start_byte + 1, f"\n{unit.step}"
    for pad in TOP_PADS:
        text = (
            f"{indent}mallopt(M_MMAP_THRESHOLD, 1 << 30);{indent}mallopt(M_TRIM_THRESHOLD, 2000000000);"
            f"{indent}mallopt(M_TOP_PAD, {pad});"
        )
        change = Change((Patch(start, start, text),), includes=("malloc.h",))
        lines = unit.lines_of(unit.main.declarator)
        yield Edit("malloc_tuning", "", (("top_pad", pad),), "keeps freed memory for reuse", lines, change)


def skip_teardown(unit: Unit) -> Iterator[Edit]:
    """Ends main without destroying its containers; no destructor of the program, no thread, no code at exit."""
    main, known = unit.main, unit.words
    if main is None or not known & (_NODES | {"vector", "string"}) or holds(unit, "leave") or "atexit" in known:
        return
    streams = "iostream" in known or "stdc" in known
    if unit.nodes("destructor_name") or runs_threads(unit) or not streams or "quick_exit" in known:
        return
    inside = [child for child in main.body.named_children if child.type != "comment"]
    last = inside[-1] if inside else None
    if last is None or (last.type == "return_statement" and "".join(text_of(last).split()) != "return0;"):
        return
    indent = unit.indent(last.start_byte)
    if last.type == "return_statement":
        patch = Patch(last.start_byte, last.start_byte, f"mxr::leave();\n{indent}")
    else:
        patch = Patch(last.end_byte, last.end_byte, f"\n{indent}mxr::leave();")
    change = Change((patch,), (Snippet("leave"),))
    yield Edit("skip_teardown", "", (), "ends without taking containers apart", unit.lines_of(last), change)
