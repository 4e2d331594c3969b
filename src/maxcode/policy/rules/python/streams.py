"""Rules about input and output: lines without ``input``, output without ``print``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.library_types import SCALARS
from maxcode.policy.rules.python.reading import reading

_BESIDE = re.compile("write|system|popen|fdopen|posix_spawn|_exit|abort|fork|exec|spawn")  # functions of ``os``
_READER = """\
def {name}(read={sys}.stdin.readline):
    line = read()
    if not line:
        raise EOFError("EOF when reading a line")
    return line[:-1] if line[-1] == "\\n" else line


"""


def read_lines(unit: Unit) -> Iterable[Edit]:
    """Read lines with ``sys.stdin.readline`` in place of ``input()``, which also serves terminals."""
    read = reading(unit)
    calls = list(_inputs(read)) if read else []
    if read is None or not calls:
        return
    (lines, sys), name = _sys(read), read.script.fresh("next_line")
    lines += f"\n\n{_READER.format(name=name, sys=sys)}"
    patches = [read.script.at_start(lines), *(read.script.replaced(call.func, name) for call in calls)]
    yield read.edit("read_lines", "the program", f"reads lines by {name}", patches, *calls)


def _sys(read: Reading) -> tuple[str, str]:
    """The line that imports the module ``sys``, empty if the program has one, and the module's name."""
    sys = read.script.sys or read.script.fresh("_sys")
    return ("" if read.script.sys else f"import sys as {sys}\n"), sys


def _inputs(read: Reading) -> Iterator[ast.Call]:
    """All calls of ``input``; none if one has a prompt, or if ``input`` is used in another way."""
    uses = [node for node in ast.walk(read.script.tree) if isinstance(node, ast.Name) and node.id == "input"]
    calls = [read.script.parents[use] for use in uses]
    plain = [call for call in calls if isinstance(call, ast.Call) and not call.args and not call.keywords]
    if len(plain) == len(uses) and not any(_is_beside(node) for node in ast.walk(read.script.tree)):
        yield from plain


def _is_beside(node: ast.AST) -> bool:
    """Whether the program may write beside ``sys.stdout``, whose text ``input`` hands on each time, or end without."""
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr=name):
            return _BESIDE.match(name) is not None
        case ast.Call(func=ast.Name(id="open"), args=[ast.Constant(value=1 | 2 | "/dev/stdout"), *_]):
            return True
        case ast.Attribute(value=owner, attr="buffer" | "fileno"):
            return "stdin" not in ast.unparse(owner)
        case ast.Import(names=names):
            return any(one.name == "subprocess" or (one.name == "os" and one.asname) for one in names)
        case ast.ImportFrom(module=module, names=names):
            return module == "subprocess" or (module == "os" and any(_BESIDE.match(one.name) for one in names))
    return False


def write_lines(unit: Unit) -> Iterable[Edit]:
    """Write whole lines by ``sys.stdout.write`` in place of ``print``, where numbers and texts are printed.

    Prints with keywords, and those of other values, stay.
    """
    read = reading(unit)
    calls = [node for node in ast.walk(read.script.tree) if _is_print(read, node)] if read else []
    if read is None or not calls or "redirect_stdout" in read.script.text:  # to what may count the parts of a line
        return
    line, sys = _sys(read)
    patches = [read.script.at_start(line)] if line else []
    for call in calls:
        assert isinstance(call, ast.Call)
        patches.append(read.script.replaced(call, f"{sys}.stdout.write({_line(read, call)})"))
    nodes = [call for call in calls if isinstance(call, ast.Call)]
    yield read.edit("write_lines", "the program", "writes lines without print", patches, *nodes)


def _is_print(read: Reading, node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and read.script.is_builtin(node.func, "print") and not node.keywords):
        return False
    is_statement = isinstance(read.script.parents[node], ast.Expr)
    return is_statement and all(_is_plain(read, one) for one in node.args)


def _is_plain(read: Reading, node: ast.expr) -> bool:
    if isinstance(node, ast.Starred):
        return isinstance(read.types.of(node.value), tuple) and read.types.element(node.value) in SCALARS
    return read.types.of(node) in SCALARS


def _line(read: Reading, call: ast.Call) -> str:
    """The expression of the line that a print writes."""
    if any(isinstance(one, ast.Starred) for one in call.args):
        parts = [_part(read, one) for one in call.args]
        return f'" ".join([{", ".join(parts)}]) + "\\n"'
    words = ' + " " + '.join(_text(read, one) for one in call.args)
    return f'{words} + "\\n"' if words else '"\\n"'


def _part(read: Reading, node: ast.expr) -> str:
    if isinstance(node, ast.Starred):
        return f"*map(str, {read.script.source(node.value)})"
    return _text(read, node)


def _text(read: Reading, node: ast.expr) -> str:
    written = read.script.source(node)
    if read.types.of(node) != "str":
        return f"str({written})"
    is_atom = isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Subscript | ast.Attribute | ast.JoinedStr)
    return written if is_atom and "\n" not in written else f"({written})"
