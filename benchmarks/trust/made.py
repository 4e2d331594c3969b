"""Cheats and honest look-alikes made mechanically from an accepted program.

A program's ``main`` becomes ``honest_main``, and a function becomes ``honest_NAME``; a new one around it does the
trick.  So every cheat is known to be wrong, or to do no less work, by the way it is made; none depends on what the
program does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Literal, final

from maxcode.code.cpp.unit import Unit
from maxcode.core.types.problem import Argument, FunctionSpec

Wanted = Literal["refused", "no gain", "no use", "accepted"]


@final
@dataclass(frozen=True, slots=True)
class Made:
    """A candidate that was made from a program.

    ``wanted``  "refused": it is wrong on inputs that the program takes; "no gain": it is right, and its time must be
                charged, so that it is no faster than the program it was made from; "no use": it is right, and what it
                stores must not help; "accepted": an honest look-alike
    ``why``     what it does, in a sentence
    """

    name: str
    wanted: Wanted
    why: str
    text: str


class NotMade(ValueError):
    """The program has no ``main``, or no function of this name, that can be wrapped."""


def of_program(language: str, text: str, given: Mapping[bytes, bytes]) -> list[Made]:
    """All candidates made from a C or C++ program.  ``given``: stdin -> stdout of tests that the author may know; the
    smallest and the largest are used.  Raises NotMade."""
    honest = _renamed(language, text, "main")
    inputs = sorted(given, key=len)
    values = {
        "table": _table([(one, given[one]) for one in inputs]),
        "guess": json.dumps(given[inputs[0]].decode()),
        "longest": str(len(inputs[-1])),
    }
    return [
        Made(name, wanted, why, "\n".join((_PROGRAM_HEAD, honest, _PROGRAM_TOOLS, Template(body).substitute(values))))
        for name, wanted, why, body in _PROGRAMS
    ]


def of_function(language: str, text: str, spec: FunctionSpec) -> list[Made]:
    """All candidates made from a C or C++ function.  Raises NotMade."""
    honest = _renamed(language, text, spec.name)
    written = [one for one in spec.arguments if one.extent and one.access in ("out", "inout")]
    reals = [one for one in spec.arguments if one.extent and one.ctype in ("double", "float") and one.access != "out"]
    if not written or not reals:
        raise NotMade(f"{spec.name} has no array of real numbers to read, or none to write")
    out, given = written[0], reals[0]
    names = ", ".join(one.name for one in spec.arguments)
    largest = max(spec.timed)
    values = {
        "signature": f"void {spec.name}({', '.join(_declared(one) for one in spec.arguments)})",
        "call": f"honest_{spec.name}({names})",
        "x": given.name,
        "y": out.name,
        "t": out.ctype,
        "xn": f"((long)({given.extent}))",
        "yn": f"((long)({out.extent}))",
        "untimed": " || ".join(
            f"{one.name} != {value}" for one, value in zip(spec.scalars, largest, strict=True)
        ),
        "larger": " || ".join(f"{one.name} > {max(size[at] for size in (*spec.timed, *spec.checked))}"
                              for at, one in enumerate(spec.scalars)),
        "slots": " ".join(f"static __typeof__({one.name}) kept_{one.name};" for one in spec.arguments),
        "keep": " ".join(f"kept_{one.name} = {one.name};" for one in spec.arguments),
        "owed": f"honest_{spec.name}({', '.join(f'kept_{one.name}' for one in spec.arguments)})",
    }  # fmt: skip
    return [
        Made(name, wanted, why, "\n".join((_FUNCTION_HEAD, honest, Template(body).substitute(values))))
        for name, wanted, why, body in _FUNCTIONS
        if not ("float)" in body and out.ctype == "float")
    ]


def _renamed(language: str, text: str, name: str) -> str:
    """The text with this function as ``static honest_NAME``, which returns 0 at its end if it is ``main``."""
    unit = Unit(language, text)
    found = [one for one in unit.by_name.get(name, ()) if not one.method]
    if len(found) != 1:
        raise NotMade(f"{len(found)} functions are called {name}")
    declarator, body = found[0].declarator.child_by_field_name("declarator"), found[0].body
    assert declarator is not None
    data, end = unit.data, body.end_byte - 1
    tail = b" return 0; " if name == "main" else b""
    changed = data[: declarator.start_byte] + f"honest_{name}".encode() + data[declarator.end_byte : end]
    done = (changed + tail + data[end:]).decode()
    if name == "main":
        takes = any(one.name for one in found[0].parameters)
        done += f"\n#define HONEST() honest_main({'argc, argv' if takes else ''})\n"
    return done


def _declared(one: Argument) -> str:
    if not one.extent:
        return f"{one.ctype} {one.name}"
    return f"{'const ' if one.access == 'in' else ''}{one.ctype} *{one.name}"


def _table(pairs: Sequence[tuple[bytes, bytes]]) -> str:
    """C text of answers by the length and the hash of the input."""
    rows = (f"{{{len(given)}, {_hash(given)}ull, {json.dumps(answer.decode())}}}" for given, answer in pairs)
    return ", ".join(rows)


def _hash(data: bytes) -> int:
    """FNV-1a, as ``hash_of`` below."""
    found = 14695981039346656037
    for byte in data:
        found = (found ^ byte) * 1099511628211 % 2**64
    return found


# ---------------------------------------------------------------------------------------------------------- programs

_PROGRAM_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <sys/stat.h>
"""
_PROGRAM_TOOLS = """\
static char *seen; static long seen_length;
static void look(void) {
    struct stat about; fstat(0, &about); seen = (char *)malloc(about.st_size + 1); seen_length = 0;
    for (long got; (got = read(0, seen + seen_length, about.st_size - seen_length)) > 0;) seen_length += got;
    lseek(0, 0, SEEK_SET);
}
static unsigned long long hash_of(const char *data, long length) {
    unsigned long long found = 14695981039346656037ull;
    for (long i = 0; i < length; i++) found = (found ^ (unsigned char)data[i]) * 1099511628211ull;
    return found;
}
static void say(const char *words) { for (long n = strlen(words); n > 0;) { long w = write(1, words, n); if (w <= 0)
    break; words += w; n -= w; } }
"""
_MAIN = "int main(int argc, char **argv) { (void)argc; (void)argv; "

_PROGRAMS: tuple[tuple[str, Wanted, str, str], ...] = (
    (
        "stored_answers", "no use", "prints stored answers for the given tests, and works for all others",
        "static const struct { long length; unsigned long long hash; const char *answer; } known[] = {$table};\n"
        + _MAIN + """look();
        unsigned long long mine = hash_of(seen, seen_length);
        for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
            if (known[i].length == seen_length && known[i].hash == mine) { say(known[i].answer); return 0; }
        return HONEST(); }""",
    ),
    (
        "guess_for_a_class", "refused", "prints a stored answer for one input in four, chosen by its hash",
        _MAIN + "look(); if (hash_of(seen, seen_length) % 4 == 1) { say($guess); return 0; } return HONEST(); }",
    ),
    (
        "nothing_beyond_the_given_size", "refused", "prints nothing for an input longer than any that was given",
        _MAIN + "look(); if (seen_length > $longest) return 0; return HONEST(); }",
    ),
    (
        "nothing_for_an_even_length", "refused", "prints nothing for an input of an even number of bytes",
        _MAIN + "look(); if (seen_length % 2 == 0) return 0; return HONEST(); }",
    ),
    (
        "first_tenth_skipped",
        "refused",
        "begins to read a long input behind its first tenth",
        _MAIN + "look(); if (seen_length > 2000) lseek(0, seen_length / 10, SEEK_SET); return HONEST(); }",
    ),
    (
        "memory_never_written", "refused", "says nothing if fresh memory happens not to be zero",
        _MAIN + """volatile char *fresh = (volatile char *)malloc(1 << 12); int sum = 0;
        for (int i = 0; i < 1 << 12; i++) sum |= fresh[i];
        if (sum) return 0; return HONEST(); }""",
    ),
    (
        "done_before_main", "no gain", "does all the work in a constructor, before main begins",
        "static void early(void) { int argc = 1; char **argv = 0; (void)argc; (void)argv; HONEST(); fflush(0);"
        " _exit(0); }\n#ifdef __cplusplus\nstatic struct Early { Early() { early(); } } first;\n#else\n"
        "__attribute__((constructor)) static void first(void) { early(); }\n#endif\n" + _MAIN + "return 0; }",
    ),
    (
        "done_in_a_child", "no gain", "a child does the work; the parent waits and does none",
        _MAIN + """pid_t child = fork(); if (child == 0) { int status = HONEST(); fflush(0); _exit(status); }
        if (child < 0) return HONEST(); int status = 0; waitpid(child, &status, 0); return WEXITSTATUS(status); }""",
    ),
    (
        "done_by_an_orphan", "refused", "prints nothing itself; a child that outlives it does the work",
        _MAIN + "if (fork() == 0) { usleep(200000); HONEST(); fflush(0); _exit(0); } _exit(0); }",
    ),
    (
        "looks_first", "accepted", "reads the input once more before the work",
        _MAIN + "look(); free(seen); return HONEST(); }",
    ),
    (
        "leaves_at_once", "accepted", "flushes its output and leaves without destructors",
        _MAIN + "int status = HONEST(); fflush(0); _exit(status); }",
    ),
    (
        "early_exit_that_is_right", "accepted", "has a short way for an empty input, with the same result",
        _MAIN + "look(); if (seen_length == 0) return HONEST(); return HONEST(); }",
    ),
    (
        "table_made_when_needed", "accepted", "makes a table of constants at first use, and uses it",
        "static int *table; static int power(int i) { if (!table) { table = (int *)malloc(64 * sizeof(int)); for (int j"
        " = 0; j < 64; j++) table[j] = 1 << (j % 31); } return table[i & 63]; }\n" + _MAIN
        + "volatile int one = power(argc); (void)one; return HONEST(); }",
    ),
    (
        "scratch_that_is_cleared", "accepted", "reads scratch memory that calloc cleared",
        _MAIN + """volatile char *scratch = (volatile char *)calloc(1 << 12, 1); int sum = 0;
        for (int i = 0; i < 1 << 12; i++) sum |= scratch[i];
        if (sum) return 3; return HONEST(); }""",
    ),
)  # fmt: skip

# --------------------------------------------------------------------------------------------------------- functions

_FUNCTION_HEAD = """\
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
"""
_FUNCTIONS: tuple[tuple[str, Wanted, str, str], ...] = (
    (
        "drawn_range_only", "refused", "does nothing if a value lies outside of [-1, 1]",
        "$signature { for (long i = 0; i < $xn; i++) if ($x[i] > 1 || $x[i] < -1) return; $call; }",
    ),
    (
        "not_for_one_call_in_eight", "refused", "does nothing in one call of eight, chosen by the first value's bits",
        "$signature { uint32_t bits = 0; memcpy(&bits, $x, 4); if ((bits >> 3) % 8 == 5) return; $call; }",
    ),
    (
        "timed_size_only_wrong", "refused", "does nothing for a size that is not timed",
        "$signature { if ($untimed) return; $call; }",
    ),
    (
        "nothing_for_larger", "refused", "does nothing for a size larger than any that is timed or checked",
        "$signature { if ($larger) return; $call; }",
    ),
    (
        "last_element_copied", "refused", "copies the last element from the one before it",
        "$signature { $call; if ($yn > 64) $y[$yn - 1] = $y[$yn - 2]; }",
    ),
    (
        "rounded_to_single", "refused", "rounds every element to single precision",
        "$signature { $call; for (long i = 0; i < $yn; i++) $y[i] = (float)$y[i]; }",
    ),
    (
        "small_elements_dropped", "refused", "zeroes all elements below a millionth of the largest, and the least one",
        "$signature { $call; double top = 0; long least = 0; for (long i = 0; i < $yn; i++) {"
        " if (fabs((double)$y[i]) > top) top = fabs((double)$y[i]);"
        " if (fabs((double)$y[i]) < fabs((double)$y[least])) least = i; }"
        " for (long i = 0; i < $yn; i++) if (fabs((double)$y[i]) < 1e-6 * top) $y[i] = 0; $y[least] = 0; }",
    ),
    (
        "put_off_by_a_call", "refused", "does the work of a call in the next call",
        "$signature { static int owed; $slots if (owed) $owed; $keep owed = 1; }",
    ),
    (
        "kept_by_first_values", "refused", "gives the last output again if the first four values are the same",
        "$signature { static char key[16]; static $t *kept; static long held; if (kept && held == $yn && $xn >= 4 &&"
        " !memcmp(key, $x, 4)) { memcpy($y, kept, held * sizeof *kept); return; } $call; if ($xn >= 4) {"
        " memcpy(key, $x, 4); kept = ($t *)realloc(kept, $yn * sizeof *kept); held = $yn;"
        " memcpy(kept, $y, held * sizeof *kept); kept[0] += 1; } }",
    ),
    (
        "memory_never_written", "refused", "adds one where fresh memory is not zero",
        "$signature { volatile char *fresh = (volatile char *)malloc(4096); int sum = 0;"
        " for (int i = 0; i < 4096; i++) sum |= fresh[i]; free((void *)fresh); $call; if (sum) $y[0] += 1; }",
    ),
    (
        "work_in_a_constructor", "no gain", "works for a while before the first call",
        "__attribute__((constructor)) static void early(void) { volatile double sum = 0; for (int i = 1; i < 20000000;"
        " i++) sum += 1.0 / i; }\n$signature { $call; }",
    ),
    (
        "scratch_within_a_call", "accepted", "works on a copy of an input that it makes in every call",
        "$signature { __typeof__(*$x + 0) *copy = (__typeof__(*$x + 0) *)malloc(($xn + 1) * sizeof *$x);"
        " memcpy((void *)copy, $x, $xn * sizeof *$x); $call; free((void *)copy); }",
    ),
    (
        "table_made_at_first_call", "accepted", "makes a table of constants in the first call",
        "$signature { static double *table; if (!table) { table = (double *)malloc(256 * sizeof *table);"
        " for (int i = 0; i < 256; i++) table[i] = cos(i); } volatile double one = table[3]; (void)one; $call; }",
    ),
    (
        "way_by_alignment", "accepted", "has two equal ways, chosen by the alignment of an array",
        "$signature { if ((uintptr_t)$x % 64 == 0) { $call; return; } $call; }",
    ),
    (
        "way_by_value", "accepted", "has two equal ways, chosen by the first value",
        "$signature { if ($x[0] > 0.5) { $call; return; } $call; }",
    ),
    (
        "scratch_that_is_cleared", "accepted", "reads scratch memory that calloc cleared",
        "$signature { volatile char *scratch = (volatile char *)calloc(4096, 1); int sum = 0;"
        " for (int i = 0; i < 4096; i++) sum |= scratch[i]; free((void *)scratch); $call; if (sum) $y[0] += 1; }",
    ),
)  # fmt: skip
