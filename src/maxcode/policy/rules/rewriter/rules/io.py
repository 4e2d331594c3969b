"""Rules for standard input and output, where most of the time of many programs goes.

The runtime must be the only reader of descriptor 0 (or the only writer of 1).  So a program with an input or output
function that cannot be replaced is not changed.  Neither is a program that flushes: it may be interactive.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from maxcode.code.cpp.edit import Change, Edit, Snippet
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.source import Patch, Token, text_of
from maxcode.policy.rules.rewriter.rules.formats import print_calls, print_text, scan_items
from maxcode.policy.rules.rewriter.rules.guards import (
    are_in_first_thread,
    has_stream_of_its_own,
    runs_before_main,
    runs_threads,
    standard_of,
)
from maxcode.policy.rules.rewriter.rules.passing import outer_writes

Replacement = Callable[[Unit, str, Node, list[Node]], str | None]
BUFFERS = (1 << 14, 1 << 16, 1 << 18, 1 << 20)

_STDIO_IN = ("scanf", "getchar", "getchar_unlocked")
_STDIO_OUT = ("printf", "puts", "putchar", "putchar_unlocked")
_OTHER_STDIO_IN = words("gets fgets fread getc fgetc fscanf ungetc stdin freopen scanf_s vscanf getc_unlocked getwchar")
_OTHER_STDIO_OUT = words(
    "fputs fputc putc fwrite stdout freopen vprintf printf_s putc_unlocked fwrite_unlocked wprintf putwchar fputws"
)
_OTHER_READERS = _OTHER_STDIO_IN - {"fgets"} | words(
    "istream rdbuf wcin istream_iterator istreambuf_iterator noskipws eofbit hex oct setbase boolalpha mmap unget "
    "putback seekg tellg streambuf"
)
_OTHER_WRITERS = _OTHER_STDIO_OUT | words(
    "ostream rdbuf wcout ostream_iterator ostreambuf_iterator basic_ostream streambuf setw setfill setbase scientific "
    "hexfloat showpoint showpos showbase defaultfloat uppercase boolalpha setiosflags resetiosflags put_time quoted "
    "_exit _Exit abort terminate quick_exit println vprint_unicode constructor destructor"
)
_DIRECT_IN = ("read", "readv", "syscall", "dup2", "dup3")
_DIRECT = ("write", "writev", "dprintf", "syscall", "dup2", "dup3")
_MANIPULATORS = words("hex oct left right internal ends")  # not supported behind <<
_CIN_METHODS = words("get peek ignore eof fail good bad clear tie sync_with_stdio exceptions failbit badbit")
_COUT_METHODS = words("precision setf put tie sync_with_stdio")


_ENDS_EARLY = words(
    "_exit _Exit abort terminate quick_exit fork vfork system popen execl execlp execle execv execve execvp execvpe "
    "posix_spawn posix_spawnp raise kill signal sigaction alarm"
)
_RENAMED = words("cin cout scanf printf getchar getchar_unlocked putchar putchar_unlocked puts fgets getline")
_OWN_BUFFERS = words("streambuf stringbuf filebuf basic_streambuf basic_stringbuf basic_filebuf")
_STARTS = _ENDS_EARLY - words("_exit _Exit abort terminate quick_exit raise kill signal sigaction alarm")
_LEAVES = words("exit longjmp siglongjmp")
_THROWS = words("at substr get value any_cast new stoi stol stoll stoul stoull stof stod stold")
_IN = words("cin scanf getchar getchar_unlocked fgets getline")
_OUT = words("cout printf puts putchar putchar_unlocked")


def _ends_early(unit: Unit) -> bool:
    """Whether the program may end, or start a process, with output that is still in a buffer."""
    known = unit.words
    return bool(known & _ENDS_EARLY) or ("throw" in known and "catch" not in known)


def _calls_system(unit: Unit, *names: str) -> bool:
    """Whether the program reads or writes a descriptor itself."""
    made = [name for name, _, _ in unit.calls(*names) if name not in unit.by_name]
    return bool(made) or ("unistd" in unit.words and bool({*names} & unit.shared))


def interactive(unit: Unit) -> bool:
    """Whether the program flushes, so that someone may be waiting for its output."""
    return bool(unit.words & {"flush", "fflush", "unitbuf"})


def fast_in(unit: Unit) -> Iterator[Edit]:
    """Replaces std::cin, scanf, fgets and getchar by a buffered reader; these must read the whole input."""
    if interactive(unit) or _mentioned(unit) & _OTHER_READERS or _calls_system(unit, *_DIRECT_IN):
        return
    if unit.shared & (_IN | _OTHER_READERS) or unit.macros.keys() & _RENAMED or unit.words & _STARTS:
        return
    if _reads_locale(unit) or _is_apart(unit, "cin", (*_STDIO_IN, "fgets")):
        return
    patches = _replaced_cin(unit)
    scans = _replaced_calls(unit, ("scanf",), _scan_call)
    lines = _replaced_calls(unit, ("fgets",), _line_call)
    if patches is None or scans is None or lines is None:
        return
    name = "mxr_take" if unit.language == "c" else "mxr::in.next"
    patches += scans + lines + [_renamed(unit, k, name) for k in _positions(unit, ("getchar", "getchar_unlocked"))]
    if not are_in_first_thread(unit, patches):
        return
    yield from _sized(unit, "fast_in", "reader", patches, "reads standard input through a large buffer")


def fast_out(unit: Unit) -> Iterator[Edit]:
    """Replaces std::cout, printf, puts and putchar by a buffered writer; all output must go through these."""
    if interactive(unit) or _mentioned(unit) & _OTHER_WRITERS or _calls_system(unit, *_DIRECT):
        return
    if unit.shared & (_OUT | _OTHER_WRITERS) or unit.macros.keys() & _RENAMED or _ends_early(unit):
        return
    if _reads_locale(unit) or _is_apart(unit, "cout", _STDIO_OUT) or (runs_threads(unit) and "exit" in unit.words):
        return
    if any(text_of(given[0]) != "stderr" for _, _, given in unit.calls("fprintf") if given):
        return
    patches = _replaced_cout(unit)
    calls = _replaced_calls(unit, _STDIO_OUT, _print_call)
    if patches is None or calls is None or not are_in_first_thread(unit, patches + calls):
        return
    yield from _sized(unit, "fast_out", "writer", patches + calls, "collects standard output in a large buffer")


def sync_off(unit: Unit) -> Iterator[Edit]:
    """Detaches std::cin and std::cout from C stdio at the start of main; the program must not use C stdio or flush."""
    known = unit.words
    if not known & {"cin", "cout"} or "sync_with_stdio" in known or interactive(unit) or unit.main is None:
        return
    if _ends_early(unit) or _calls_system(unit, "read", *_DIRECT):
        return
    others = _OTHER_STDIO_IN | _OTHER_STDIO_OUT | {*_STDIO_IN, *_STDIO_OUT, "rdbuf", "wcin", "wcout", "readsome"}
    used = [_renamed(unit, k, "") for k in _positions(unit, ("cin", "cout"))]
    if known & others or runs_before_main(unit, {"cin", "cout"}) or not are_in_first_thread(unit, used):
        return
    start, indent = unit.main.body.start_byte + 1, f"\n{unit.step}"
    lines = unit.lines_of(unit.main.declarator)
    for buffer in (0, 1 << 16):
        text = f"{indent}std::ios::sync_with_stdio(false);{indent}std::cin.tie(nullptr);"
        if buffer:
            text += (
                f"{indent}static char mxr_in_buffer[{buffer}];"
                f"{indent}std::cin.rdbuf()->pubsetbuf(mxr_in_buffer, {buffer});"
            )
        change = Change((Patch(start, start, text),), includes=("iostream",))
        yield Edit("sync_off", "", (("buffer", buffer),), "unties the C++ streams from C stdio", lines, change)


def stdio_buffer(unit: Unit) -> Iterator[Edit]:
    """Gives stdin and stdout of a C stdio program large buffers; it must neither flush nor set buffers itself."""
    known = unit.words
    if unit.main is None or interactive(unit) or known & words("setvbuf setbuf freopen"):
        return
    if _ends_early(unit) or _calls_system(unit, "read", *_DIRECT) or _is_apart(unit, "cout", _STDIO_OUT):
        return
    if unit.calls("main") or runs_before_main(unit, _IN | _OUT | _OTHER_STDIO_IN | _OTHER_STDIO_OUT):
        return
    used = [name for name, stdio in (("stdin", _STDIO_IN), ("stdout", _STDIO_OUT)) if known & {*stdio}]
    start = unit.main.body.start_byte + 1
    for size in BUFFERS if used else ():
        text = "".join(
            f"\n{unit.step}static char mxr_{name}[{size}];\n{unit.step}setvbuf({name}, mxr_{name}, _IOFBF, {size});"
            for name in used
        )
        change = Change((Patch(start, start, text),), includes=("stdio.h",))
        lines = unit.lines_of(unit.main.declarator)
        yield Edit("stdio_buffer", "", (("buffer", size),), "gives stdio large buffers", lines, change)


def unlocked(unit: Unit) -> Iterator[Edit]:
    """Reads and writes single characters without locking the stream each time; one thread only."""
    known = {"getchar", "putchar", "getchar_unlocked", "putchar_unlocked"}
    if runs_threads(unit) or known & (unit.macros.keys() | unit.by_name.keys()):
        return
    if unit.language == "c" and re.match(r"c\d|iso", standard_of(unit)) and "_GNU_SOURCE" not in unit.words:
        return
    spots = [
        k
        for k in _positions(unit, ("getchar", "putchar"))
        if unit.tokens[k + 1 : k + 2] and unit.tokens[k + 1].text == "("
    ]
    if spots:
        patches = tuple(_renamed(unit, k, f"{unit.tokens[k].text}_unlocked") for k in spots)
        change = Change(patches, includes=("stdio.h",))
        yield Edit("unlocked", "", (), "does not lock stdio for each character", _lines(unit, patches), change)


def newline(unit: Unit) -> Iterator[Edit]:
    """Writes ``'\\n'`` instead of std::endl, which flushes; endl must not be a macro, and nothing may flush."""
    if interactive(unit) or "endl" in unit.macros or _ends_early(unit) or _calls_system(unit, *_DIRECT):
        return
    if unit.words & _OWN_BUFFERS:
        return
    files = {token.text for token in unit.tokens if not token.directive} | unit.shared
    if files & {"ofstream", "fstream"} and files & words("ifstream fstream fopen open rename stat app filesystem"):
        return  # what one stream has written may be read by another one
    unsynced = "sync_with_stdio" in unit.words and unit.words & (_OTHER_STDIO_OUT | {*_STDIO_OUT})
    if unsynced or has_stream_of_its_own(unit):
        return
    spots = [
        k
        for k in _positions(unit, ("endl",))
        if _before(unit, k) == "<<" or (unit.tokens[k].directive and _before(unit, k) != "using")
    ]
    if spots:
        patches = tuple(_renamed(unit, k, "'\\n'") for k in spots)
        yield Edit("newline", "", (), "ends lines without flushing", _lines(unit, patches), Change(patches))


# ---------------------------------------------------------------------------------------------------------- helpers


def _reads_locale(unit: Unit) -> bool:
    """Whether a locale may change the look of real numbers in one of the libraries of C and C++, but not in both."""
    return "setlocale" in unit.words and bool(unit.words & {"cin", "cout"}) and bool(unit.words & {"double", "float"})


def _is_apart(unit: Unit, stream: str, stdio: tuple[str, ...]) -> bool:
    """Whether a stream and stdio are both used, each with a buffer of its own, so that the text does not show their
    order."""
    texts = [token.text for token in unit.tokens]
    set_at = (texts[k + 1 : k + 3] for k, text in enumerate(texts) if text == "sync_with_stdio")
    off = "sync_with_stdio" in unit.shared or any(given not in (["(", "true"], ["(", ")"]) for given in set_at)
    return off and stream in unit.words and bool(unit.words & {*stdio})


def _mentioned(unit: Unit) -> frozenset[str]:
    """The words of the program, except those that only set the size of a buffer, or read a line of it."""
    texts = [token.text for token in unit.tokens]
    other = {"stdin", "stdout", "rdbuf"}
    read = {given[2].start_byte for _, _, given in unit.calls("fgets") if len(given) == 3}
    for k, text in enumerate(texts):
        sets = texts[k - 2 : k] == ["setvbuf", "("] or texts[k + 1 : k + 5] == ["(", ")", "->", "pubsetbuf"]
        if text in other and not sets and unit.tokens[k].start not in read:
            return unit.words
    return unit.words - other


def _sized(unit: Unit, rule: str, piece: str, patches: list[Patch], what: str) -> Iterator[Edit]:
    if not patches:
        return
    lines = _lines(unit, patches)
    for size in BUFFERS:
        change = Change(tuple(patches), (Snippet(piece, ((f"{piece}_buffer", size),)),))
        yield Edit(rule, "", (("buffer", size),), what, lines, change)


def _lines(unit: Unit, patches: list[Patch] | tuple[Patch, ...]) -> tuple[tuple[int, int], ...]:
    return tuple((unit.line(patch.start), unit.line(patch.end)) for patch in patches)


def _positions(unit: Unit, names: tuple[str, ...]) -> list[int]:
    """The positions of these names among the tokens, except as members of something."""
    return [
        k
        for k, token in enumerate(unit.tokens)
        if token.text in names and (k == 0 or unit.tokens[k - 1].text not in (".", "->"))
    ]


def _is_std(unit: Unit, position: int) -> bool:
    return position >= 2 and unit.tokens[position - 1].text == "::" and unit.tokens[position - 2].text == "std"


def _before(unit: Unit, position: int) -> str:
    """The token in front of a possibly qualified name."""
    position -= 3 if _is_std(unit, position) else 1
    return unit.tokens[position].text if position >= 0 else ""


def _renamed(unit: Unit, position: int, name: str) -> Patch:
    """The patch that renames the name, with ``std::`` if it is there."""
    first: Token = unit.tokens[position - 2 if _is_std(unit, position) else position]
    return Patch(first.start, unit.tokens[position].end, name)


def _replaced_cin(unit: Unit) -> list[Patch] | None:
    """The patches for std::cin; None if the reader does not support one of its uses."""
    patches: list[Patch] = []
    for k in _positions(unit, ("cin",)):
        following = [token.text for token in unit.tokens[k + 1 : k + 3]]
        if following[:1] == ["."] and following[1] not in _CIN_METHODS:
            return None
        patches.append(_renamed(unit, k, "mxr::in"))
        head = k - 3 if _is_std(unit, k) else k - 1
        if unit.tokens[head].text == "(" and unit.tokens[head - 1].text == "getline" and _is_std(unit, head - 1):
            patches.append(_renamed(unit, head - 1, "mxr::getline"))
    return patches


def _replaced_cout(unit: Unit) -> list[Patch] | None:
    """The patches for std::cout; None if the writer does not support one of its uses."""
    for k, token in enumerate(unit.tokens):
        if token.text in _MANIPULATORS and _before(unit, k) == "<<":
            return None
    spots = _positions(unit, ("cout",))
    for k in spots:
        following = [token.text for token in unit.tokens[k + 1 : k + 3]]
        if following[:1] == ["."] and (following[1] not in _COUT_METHODS or not _sets_only_fixed(unit, k + 2)):
            return None
        if following[:1] == [")"] or _before(unit, k) == "&":
            return None
    return [_renamed(unit, k, "mxr::out") for k in spots]


def _sets_only_fixed(unit: Unit, method: int) -> bool:
    if unit.tokens[method].text != "setf":
        return True
    given = itertools.takewhile(lambda token: token.text != ")", unit.tokens[method + 1 :])
    return {token.text for token in given} <= {"(", "ios", "ios_base", "std", "::", "fixed", ",", "floatfield"}


def _replaced_calls(unit: Unit, names: tuple[str, ...], replacement: Replacement) -> list[Patch] | None:
    """The patches for calls of stdio functions; None unless every mention is a call that can be replaced."""
    calls = unit.calls(*names)
    if sum(1 for token in unit.tokens if token.text in names) != len(calls):
        return None
    patches: list[Patch] = []
    for name, node, arguments in calls:
        text = replacement(unit, name, node, arguments)
        if text is None or (patches and node.start_byte < patches[-1].end):
            return None
        patches.append(unit.replace(node, text))
    return patches


def _scan_call(unit: Unit, name: str, node: Node, arguments: list[Node]) -> str | None:
    if not arguments or any({"cin", "getchar"} & effects(unit).of(a.start_byte, a.end_byte).words for a in arguments):
        return None
    items = scan_items(arguments[0], [text_of(argument) for argument in arguments[1:]], unit.language)
    if items is None:
        return None
    return f"mxr_scan({items})" if unit.language == "c" else f"mxr::in.scan({items})"


def _line_call(unit: Unit, name: str, node: Node, arguments: list[Node]) -> str | None:
    if len(arguments) != 3 or text_of(arguments[2]) != "stdin":
        return None
    given = f"{text_of(arguments[0])}, {text_of(arguments[1])}"
    return f"mxr_line({given})" if unit.language == "c" else f"mxr::in.line({given})"


def _print_call(unit: Unit, name: str, node: Node, arguments: list[Node]) -> str | None:
    if not arguments or not _is_discarded(node) or _mentions_replaced(unit, arguments):
        return None
    if len(arguments) > 2 and any(_has_effects(unit, argument) for argument in arguments[1:]):
        return None  # the pieces would be evaluated in another order
    first = len(arguments) == 2 and re.match('"%(?!%)', text_of(arguments[0]))
    if name == "printf" and not first and any(_may_print(unit, argument) for argument in arguments[1:]):
        return None  # what stands in front of its number would be printed before it is computed
    texts = [text_of(argument) for argument in arguments]
    member = "mxr_" if unit.language == "c" else ""
    calls: list[str] | None
    if name == "printf":
        calls = print_calls(arguments[0], texts[1:], unit.language)
    elif name == "puts":
        calls = [f"{member}text({texts[0]})", print_text("\\n", unit.language)]
    else:
        calls = [f"{member}put((char)({texts[0]}))"]
    if calls is None:
        return None
    joined = ", ".join(calls) if unit.language == "c" else ".".join(["mxr::out", *calls])
    alone = node.parent is not None and node.parent.type == "expression_statement"
    return (joined if alone else f"({joined}, 0)") if calls else "(void)0"


def _has_effects(unit: Unit, argument: Node) -> bool:
    """Whether an argument may change what another one reads."""
    here = effects(unit).of(argument.start_byte, argument.end_byte)
    if here.writes or here.opaque:
        return True
    return any(outer is None or outer for outer in (outer_writes(unit, name) for name in here.calls))


def _may_print(unit: Unit, argument: Node) -> bool:
    """Whether the computation of an argument may print, or never come to its end."""
    here = effects(unit).of(argument.start_byte, argument.end_byte)
    if "catch" in unit.words and (here.calls or here.words & _THROWS):
        return True
    called = [effects(unit).closure(name) for name in here.calls]
    return here.opaque or any(one.opaque or one.words & _OUT or one.outside & _LEAVES for one in called)


def _mentions_replaced(unit: Unit, arguments: list[Node]) -> bool:
    replaced = {"cin", "cout", "getchar", *_STDIO_IN, *_STDIO_OUT}
    return any(replaced & effects(unit).of(a.start_byte, a.end_byte).words for a in arguments)


def _is_discarded(node: Node) -> bool:
    """Whether the value of the expression is not used."""
    around = node.parent
    while around is not None and around.type in ("comma_expression", "parenthesized_expression"):
        if around.child_by_field_name("left") == node:
            return True
        node, around = around, around.parent
    while around is not None and around.type in ("conditional_expression", "binary_expression"):
        condition = around.child_by_field_name("condition") or around.child_by_field_name("left")
        if condition == node:
            return False
        node, around = around, around.parent
    if around is not None and around.type == "for_statement":
        return around.child_by_field_name("update") == node
    return around is not None and around.type == "expression_statement"
