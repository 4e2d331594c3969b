"""A Python program for the rules: its tree, its scopes, and where each node stands in the text.

Python lets a program change almost everything at run time.  ``Script.why_not`` names what makes a text unpredictable
(``eval``, a rebound builtin, ``from x import *``, ...); the rules leave such a program alone.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import final

from maxcode.code.source import Patch

Variable = tuple[ast.AST, str]  # the node of its scope, and its name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRIES = (ast.Try, ast.TryStar)
_HANDS_ON = frozenset(  # what ``with`` makes of these lets errors out
    {
        *("open", "no_grad", "inference_mode", "closing", "nullcontext", "localcontext", "ZipFile"),
        *("ThreadPoolExecutor", "ProcessPoolExecutor", "TemporaryDirectory", "TemporaryFile", "NamedTemporaryFile"),
    }
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTINS = frozenset(dir(builtins))
_UNPREDICTABLE = frozenset(
    {"eval", "exec", "compile", "globals", "locals", "vars", "setattr", "delattr", "__import__", "__builtins__"}
)
_MODULES = frozenset(
    {
        *(
            "__main__",
            "ast",
            "asyncio",
            "atexit",
            "builtins",
            "code",
            "ctypes",
            "dis",
            "faulthandler",
            "gc",
            "importlib",
        ),
        *("inspect", "multiprocessing", "pdb", "pickle", "runpy", "signal", "symtable", "threading", "trace"),
        *("traceback", "tracemalloc", "types", "unittest", "weakref"),
    }
)
_ATTRIBUTES = frozenset({"settrace", "setprofile", "modules", "_getframe", "displayhook", "excepthook"})
_OF_TEXTS = frozenset({"__init__", "__new__", "__str__", "__repr__", "__format__"})
_USUAL = frozenset({"__init__", "__name__"})


@final
class Script:
    """A Python text.  ``SyntaxError`` or ``ValueError`` if it is none.  Offsets are bytes of the text as UTF-8."""

    def __init__(self, text: str) -> None:
        self.text, self.data = text, text.encode()
        self.tree = ast.parse(text)
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", self.data))]
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    # ------------------------------------------------------------------------------------------------------ the text

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The first byte of a node and the one behind it."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def source(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Patch:
        return Patch(*self.span(node), text)

    def indent(self, statement: ast.stmt) -> str | None:
        """The white space before a statement that has its lines for itself; None if it shares them."""
        start, end = self.span(statement)
        line = self._starts[statement.lineno - 1]
        before, after = self.data[line:start].decode(), self.data[end:].split(b"\n", 1)[0].strip()
        is_apart = not before.strip() and not self.data[:line].endswith(b"\\\n")
        return before if is_apart and (not after or after.startswith(b"#")) else None

    def at_start(self, lines: str) -> Patch:
        """Inserts lines behind the imports at the top; without empty lines at their end if some follow."""
        is_apart = self.data[self.start : self.start + 1] == b"\n"
        return Patch(self.start, self.start, f"{lines.rstrip()}\n" if is_apart else lines)

    def before(self, statement: ast.stmt, line: str) -> Patch:
        """Inserts a line before a statement that has its lines for itself."""
        start = self._starts[statement.lineno - 1]
        return Patch(start, start, f"{self.indent(statement) or ''}{line}\n")

    def after(self, statement: ast.stmt, line: str) -> Patch:
        """Inserts a line after a statement that has its lines for itself."""
        end = self.span(statement)[1]
        return Patch(end, end, f"\n{self.indent(statement) or ''}{line}")

    @cached_property
    def start(self) -> int:
        """The start of the first line that may hold statements: behind the docstring and the imports at the top."""
        line = 0
        for statement in self.tree.body:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_text and not isinstance(statement, ast.Import | ast.ImportFrom):
                first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
                return self.offset(line + 1 if line and line < first else first, 0)
            line = statement.end_lineno or statement.lineno
        return len(self.data)

    @cached_property
    def sys(self) -> str:
        """The name of the module ``sys`` at the top of the program; empty if it has none."""
        tops = [
            one for one in self.tree.body if isinstance(one, ast.Import) and self.offset(one.lineno, 0) < self.start
        ]
        is_there = any(alias.name == "sys" and alias.asname is None for one in tops for alias in one.names)
        bound = [name for (_, name), made in self.bindings.items() for _ in made]
        return "sys" if is_there and bound.count("sys") == 1 else ""

    def fresh(self, wanted: str) -> str:
        """The name, with underscores behind it while the text uses it."""
        while re.search(rf"\b{wanted}\b", self.text):
            wanted += "_"
        return wanted

    # ------------------------------------------------------------------------------------------------------- names

    @cached_property
    def why_not(self) -> str:
        """What makes the program unpredictable for rules; empty if nothing does."""
        if b"\r" in self.data or b"\f" in self.data:
            return "line ends"
        for node in ast.walk(self.tree):
            if found := _unpredictable(node):
                return found
        if self._has_texts:
            return "a class of texts with operators"
        if patched := self._patched:
            return f"{patched} is replaced"
        rebound = {name for _, name in self.bindings} & _BUILTINS
        return f"rebinds {min(rebound)}" if rebound else ""

    @property
    def _patched(self) -> str:
        """What the program sets in a module that it imports; empty if nothing."""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.Import)]
        modules = {one.asname or one.name.partition(".")[0] for node in imports for one in node.names}
        changed = (node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute))
        names = (ast.unparse(node) for node in changed if not isinstance(node.ctx, ast.Load))
        return next((name for name in names if name.partition(".")[0] in modules), "")

    @property
    def _has_texts(self) -> bool:
        """Whether ``str``, ``repr`` or a text with values may give a text of a class with operators of its own."""
        classes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef) and node.bases]
        is_text = any(isinstance(base, ast.Name) and base.id == "str" for node in classes for base in node.bases)
        made = (one.name for node in classes for one in node.body if isinstance(one, ast.FunctionDef))
        return is_text and any(re.fullmatch("__.*__", name) and name not in _OF_TEXTS for name in made)

    def scope_of(self, node: ast.AST) -> ast.AST:
        """The innermost function, class or module around a node; what stands in a function's head is outside of it."""
        child, parent = node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.Module) or (isinstance(parent, ast.ClassDef) and child in parent.body):
                return parent
            if isinstance(parent, _FUNCTIONS) and _is_inside(parent, child):
                return parent
            child, parent = parent, self.parents.get(parent)
        return self.tree

    def variable(self, name: ast.Name) -> Variable | None:
        """The variable that a name means; None for a builtin, and for what ``global`` and ``nonlocal`` declare."""
        if name.id in self._declared:
            return None
        node: ast.AST | None = name
        sees_class = True
        while node is not None:
            inner = node
            node = self.parents.get(node)
            if isinstance(node, _COMPREHENSIONS) and not _within(name, first_iter(node)):
                if name.id in _targets(node):
                    return node, name.id
                sees_class = False
            is_own = isinstance(node, ast.Module) or (isinstance(node, _FUNCTIONS) and _is_inside(node, inner))
            if is_own or (sees_class and isinstance(node, ast.ClassDef) and self.scope_of(name) is node):
                assert node is not None
                if (node, name.id) in self.bindings:
                    return node, name.id
        return None

    @cached_property
    def _declared(self) -> frozenset[str]:
        declarations = (node for node in ast.walk(self.tree) if isinstance(node, ast.Global | ast.Nonlocal))
        return frozenset(name for node in declarations for name in node.names)

    @cached_property
    def bindings(self) -> dict[Variable, list[ast.AST]]:
        """The nodes that bind each variable: names in stores, parameters, imports, definitions, handlers."""
        found: dict[Variable, list[ast.AST]] = defaultdict(list)
        for node in ast.walk(self.tree):
            for name in _bound(node):
                scope = self._binding_scope(node)
                found[scope, name].append(node)
        return dict(found)

    @cached_property
    def made(self) -> frozenset[str]:
        """The names that the program binds in another way than by an import."""
        imports = (ast.Import, ast.ImportFrom)
        return frozenset(
            name for (_, name), nodes in self.bindings.items() if not all(isinstance(one, imports) for one in nodes)
        )

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The names that assignments, loops and the like bind: as a kind of error, one may be any."""
        return frozenset(
            name for (_, name), nodes in self.bindings.items() if any(isinstance(one, ast.Name) for one in nodes)
        )

    def _binding_scope(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.arg):
            return next(up for up in self.ancestors(node) if isinstance(up, _FUNCTIONS))
        up = self.parents.get(node)
        while up is not None and not isinstance(up, (*_FUNCTIONS, ast.ClassDef, ast.Module)):
            if isinstance(up, ast.comprehension) and isinstance(node, ast.Name) and _within(node, up.target):
                return self.parents[up]
            up = self.parents.get(up)
        return self.scope_of(node)

    @cached_property
    def uses(self) -> dict[Variable, list[ast.Name]]:
        """All names that mean a variable, in the order of the text."""
        found: dict[Variable, list[ast.Name]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and (variable := self.variable(node)) is not None:
                found[variable].append(node)
        return {key: sorted(names, key=lambda name: (name.lineno, name.col_offset)) for key, names in found.items()}

    def is_builtin(self, node: ast.expr, *names: str) -> bool:
        """Whether an expression is one of these builtins by name; with no names, any of them."""
        return isinstance(node, ast.Name) and node.id in (names or _BUILTINS) and self.variable(node) is None

    def imported(self, name: ast.expr, module: str) -> bool:
        """Whether a name means a module that is imported once, at the top of the program, under its own name."""
        if not isinstance(name, ast.Name) or name.id != module:
            return False
        bound = self.bindings.get((self.tree, module), [])
        return self.variable(name) == (self.tree, module) and len(bound) == 1 and isinstance(bound[0], ast.Import)

    def is_stdin(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "stdin" and self.imported(node.value, "sys")

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while (up := self.parents.get(node)) is not None:
            yield up
            node = up

    def may_catch(self, node: ast.AST) -> bool:
        """Whether the function of a node goes on after an error in it: ``try``, and ``with`` of all but a few."""
        scope, found = self.scope_of(node), self.ancestors(node)
        around = itertools.takewhile(lambda up: up is not scope, found)
        return any(isinstance(up, _TRIES) or (isinstance(up, ast.With) and not self.hands_on(up)) for up in around)

    def hands_on(self, block: ast.With) -> bool:
        """Whether an error in a block certainly comes out of it."""
        calls = [item.context_expr.func for item in block.items if isinstance(item.context_expr, ast.Call)]
        names = [getattr(one, "attr", getattr(one, "id", "")) for one in calls]
        return len(names) == len(block.items) and all(name in _HANDS_ON - self.made for name in names)

    def is_in(self, node: ast.AST, *kinds: type[ast.AST]) -> bool:
        """Whether a node stands in one of these, inside of its scope."""
        scope = self.scope_of(node)
        for up in self.ancestors(node):
            if up is scope:
                return False
            if isinstance(up, kinds):
                return True
        return False


def _is_inside(function: ast.AST, child: ast.AST) -> bool:
    if isinstance(function, ast.Lambda):
        return child is function.body
    return child in getattr(function, "body", [])


def _within(node: ast.AST, tree: ast.AST) -> bool:
    return any(one is node for one in ast.walk(tree))


def first_iter(comprehension: ast.AST) -> ast.expr:
    """What the first loop of a comprehension goes over: it is evaluated in the scope around."""
    generators: list[ast.comprehension] = getattr(comprehension, "generators", [])
    return generators[0].iter


def _targets(node: ast.AST) -> set[str]:
    generators: list[ast.comprehension] = getattr(node, "generators", [])
    names = (one for generator in generators for one in ast.walk(generator.target))
    return {one.id for one in names if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.arg():
            yield node.arg
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            yield node.name
        case ast.MatchMapping() if node.rest:
            yield node.rest


def _unpredictable(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) if name in _UNPREDICTABLE:
            return name
        case ast.Call(func=ast.Name(id="dir" as name), args=[]):
            return name
        case ast.Attribute(attr=name) if name in _ATTRIBUTES or (re.fullmatch("__.*__", name) and name not in _USUAL):
            return name
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if name in ("stdin", "stdout", "stderr"):
            return f"{name} is replaced"
        case ast.Import():
            return next((one.name for one in node.names if one.name.partition(".")[0] in _MODULES), "")
        case ast.ImportFrom():
            star = any(one.name == "*" for one in node.names)
            is_known = not node.level and (node.module or "").partition(".")[0] in _MODULES
            return (node.module or ".") if star or is_known else ""
        case ast.JoinedStr(values=parts) if any(_is_quoted(*pair) for pair in itertools.pairwise(parts)):
            return "= in a text"
        case ast.FunctionDef(name="__del__" | "__rmod__" as name):
            return name
        case ast.AsyncFunctionDef() | ast.Await() | ast.Match():
            return type(node).__name__
    return ""


def _is_quoted(before: ast.expr, part: ast.expr) -> bool:
    """Whether a text shows the words of an expression, which a rule may change: ``{x in L=}``."""
    if not isinstance(before, ast.Constant) or not isinstance(part, ast.FormattedValue):
        return False
    if part.conversion == -1 and part.format_spec is None:
        return False  # with ``=`` alone, the value is written by ``repr``
    shown, written = (re.sub(r"[\s()'\"]", "", one) for one in (str(before.value), ast.unparse(part.value)))
    is_name = all(isinstance(node, ast.Name | ast.expr_context) for node in ast.walk(part.value))
    return shown.endswith(f"{written}=") and not is_name


@lru_cache(maxsize=64)
def script_of(text: str) -> Script | None:
    """The text as a script; None if it is no Python, or too deep or too unpredictable for rules."""
    try:
        found = Script(text)
        return None if found.why_not else found
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
