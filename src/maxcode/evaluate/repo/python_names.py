"""Reads which names of modules a Python file uses, whatever it calls them: ``import sys as s; s.argv`` is ``sys.argv``.

One line for each use, which the rules of ``word_rules`` match:

    import a.b         a module is loaded
    a.b.c              an attribute of a module, called or imported; ``a.*``: all of them
    a.b =              it gets another value
    a.b as a value     a module, function or class is handed on: what is done with it there is not known
    ?.b                an attribute of what is not known
    builtins.open      a name that nothing in the file binds
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import final

from maxcode.evaluate.repo.kept_texts import kept

UNKNOWN, VALUE, NEW, MADE_NAME = "?", " as a value", " =", "an attribute by a name that is made"
WATCHED = frozenset({"sys", "os", "posix", "nt", "builtins", "time", "timeit", "datetime", "signal", "gc", "inspect"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_GETTERS, _MAKERS = {"builtins.getattr", "builtins.hasattr"}, {"operator.attrgetter", "operator.methodcaller"}
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?c?import\b[ \t]*(\([^()]*\)|[^\n;]+)", re.MULTILINE)
_CHAIN = re.compile(r"(?<!\w)(\.[ \t]*)?([A-Za-z_]\w*(?:[ \t]*\.[ \t]*[A-Za-z_]\w*)*)(?=[ \t]*(\(|=(?!=))?)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PIECE = re.compile(rb"[a-zA-Z]*(\"\"\"|'''|\"|')(.*)\1", re.DOTALL)

Names = Mapping[str, Sequence[str]]
_Bindings = Iterator[tuple[str, str]]


def parsed(text: str) -> ast.Module | None:
    """The tree of a text; None where this Python cannot read it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def other_names(texts: Iterable[str]) -> Names:
    """The names that files give to watched modules in place of their own: other files may use them, and rename them."""
    found: dict[str, list[str]] = {}
    again: dict[str, list[str]] = {}  # by the last word of what they stand for
    more: list[tuple[str, str]] = []  # names with the watched modules that they are
    for name, last in (pair for text in texts for pair in _renamed(text)):
        again.setdefault(last, []).append(name)
        if last.strip("_") in WATCHED:
            more.append((name, last.strip("_")))
    while more:
        name, module = more.pop()
        if module not in found.setdefault(name, []):
            found[name].append(module)
            more += [(other, module) for other in again.get(name, ())]
    return found


@kept
def _renamed(text: str) -> tuple[tuple[str, str], ...]:
    tree = parsed(text)
    pairs = _imported(tree) if tree else _imported_by_words(text)
    return tuple((name, target.split(".")[-1]) for name, target in pairs if name.strip("_") not in WATCHED)


@final
@dataclass(frozen=True, slots=True)
class PythonUses:
    """``names``: one line for each use.  ``texts``: those that are joined in a run, or written with escapes.
    ``is_read``: False where this Python cannot read it, as Cython; then names are found word by word."""

    names: Sequence[str]
    texts: Sequence[str] = ()
    is_read: bool = True


def python_uses(text: str, code: str, others: Names) -> PythonUses:
    """The uses in a file.  ``code``: it without comments; ``others``: the ``other_names`` of the whole program."""
    tree = parsed(text)
    if tree is not None:
        try:
            reader = _Reader(tree, others)
            reader.visit(tree)
            return PythonUses(reader.found, tuple(_texts(tree, text)))
        except RecursionError:
            pass
    return PythonUses(list(_by_words(code, others)), is_read=False)


def _texts(tree: ast.AST, text: str) -> Iterator[str]:
    lines = [line.encode(errors="surrogateescape") for line in _LINE.findall(text)]
    todo = [tree]
    while todo:
        node = todo.pop()
        found = _text(node) if isinstance(node, ast.expr) else None
        if found is None:
            todo += ast.iter_child_nodes(node)
        elif isinstance(node, ast.expr) and found != _written(node, lines):
            yield found


def _written(node: ast.expr, lines: Sequence[bytes]) -> str | None:
    """What stands between the quotes of a text that is written in one piece."""
    own = lines[node.lineno - 1 : node.end_lineno]
    whole = b"".join(own)
    after = len(own[-1]) - (node.end_col_offset or 0) if own else 0
    piece = _PIECE.fullmatch(whole[node.col_offset : len(whole) - after])
    return piece[2].decode(errors="surrogateescape") if piece else None


def _by_words(code: str, others: Names) -> Iterator[str]:
    known = _grouped(_imported_by_words(code))
    for module, names in _IMPORT.findall(code):
        yield from (f"import {name}" for name in ([module] if module else (one.split()[0] for one in _listed(names))))
    yield from chain.from_iterable(known.values())
    for dot, words, after in _CHAIN.findall(_IMPORT.sub("", code)):
        first, *rest = re.sub(r"\s", "", words).split(".")
        roots = [f"{UNKNOWN}.{first}"] if dot else known.get(first) or _unbound(first, rest, after)
        end = {"(": "", "=": NEW}.get(after, VALUE)
        yield from (one + end for root in roots for one in _spelled(".".join((root, *rest)), others))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, target in pairs:
        found.setdefault(name, []).append(target)
    return found


def _spelled(path: str, others: Names) -> list[str]:
    """A path, and what it is where one of its names is another name of a module."""
    parts = path.split(".")
    ahead = f"{UNKNOWN}." if parts[0] == UNKNOWN else ""
    again = [(target, at) for at, part in enumerate(parts) if at for target in others.get(part, ())]
    return [path, *(ahead + ".".join((target, *parts[at + 1 : at + 4])) for target, at in again)]


@final
class _Reader(ast.NodeVisitor):
    """Walks a file.  An import counts in the whole file, wherever it stands; other names where Python binds them."""

    def __init__(self, tree: ast.Module, others: Names) -> None:
        self.found: list[str] = []
        self._others = others
        self._known = _grouped(_imported(tree))
        self._own = _always_bound(tree) - self._known.keys()
        self._hidden: set[str] = set()
        self._takes_all = any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree))

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [f"import {alias.name}" for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.found.append(f"import {_module(node)}")
        for alias in node.names:
            self.found += _spelled(f"{_module(node)}.{alias.name}", self._others)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        body = node.body if isinstance(node.body, list) else [node.body]
        inside = {id(part) for part in body}
        for part in ast.iter_child_nodes(node):  # decorators, defaults, annotations: outside of the function
            if id(part) not in inside:
                self.visit(part)
        outer = self._hidden
        self._hidden = (outer | _parameters(node.args) | set(_stored(body))) - _from_outside(body)
        for part in body:
            self.visit(part)
        self._hidden = outer

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit_FunctionDef(node)

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, _COMPREHENSIONS):
            super().generic_visit(node)
            return
        outer, first = self._hidden, node.generators[0].iter
        self.visit(first)
        self._hidden = outer | set(_stored([one.target for one in node.generators]))
        for child in ast.iter_child_nodes(node):
            inner = ast.iter_child_nodes(child) if isinstance(child, ast.comprehension) else (child,)
            for part in inner:
                if part is not first:
                    self.visit(part)
        self._hidden = outer

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add(self._meant(node.id), VALUE)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._add(self._paths(node), VALUE if isinstance(node.ctx, ast.Load) else NEW)

    def visit_Call(self, node: ast.Call) -> None:
        if self._looks_up(node):
            self._add(self._paths(node), VALUE)
            return
        if isinstance(node.func, ast.Name | ast.Attribute):
            self._add(self._paths(node.func), "")
        else:
            self.visit(node.func)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        self._add([f"{UNKNOWN}.{name}" for name in node.kwd_attrs], VALUE)
        self.generic_visit(node)

    def _add(self, paths: Iterable[str], end: str) -> None:
        self.found += [one + end for path in paths for one in _spelled(path, self._others)]

    def _paths(self, node: ast.expr) -> Sequence[str]:
        """What a chain of attributes stands for; what is no name in it is visited."""
        rest: list[str] = []
        while isinstance(node, ast.Attribute):
            rest.insert(0, node.attr)
            node = node.value
        roots: Sequence[str] = [UNKNOWN]
        if isinstance(node, ast.Name):
            roots = self._meant(node.id) or ([UNKNOWN] if rest else [])
        elif isinstance(node, ast.Call) and self._looks_up(node):
            roots = self._looked_up(node)
        else:
            self.visit(node)
        return [".".join((root, *rest)) for root in roots]

    def _looks_up(self, node: ast.Call) -> bool:
        """Whether a call finds an attribute by its name."""
        root, rest = (
            (node.func.value, f".{node.func.attr}") if isinstance(node.func, ast.Attribute) else (node.func, "")
        )
        if not isinstance(root, ast.Name):
            return False
        found = {meant + rest for meant in self._meant(root.id)}
        return (bool(found & _GETTERS) and len(node.args) > 1) or bool(found & _MAKERS)

    def _looked_up(self, node: ast.Call) -> list[str]:
        """What ``getattr(a, "b")`` and ``attrgetter("b")`` stand for."""
        is_maker = not isinstance(node.func, ast.Name) or not {*self._meant(node.func.id)} & _GETTERS
        over = [UNKNOWN] if is_maker else self._paths(node.args[0]) or [UNKNOWN]
        names, others = (node.args, ()) if is_maker else (node.args[1:2], node.args[2:])
        for part in (*others, *node.keywords):
            self.visit(part)
        told = [_text(one) for one in names]
        if None in told:
            self.found.append(MADE_NAME)
        return [f"{path}.{name}" for path in over for name in told if name is not None]

    def _meant(self, name: str) -> Sequence[str]:
        if name in self._hidden:
            return []
        if name in self._known:
            return self._known[name]
        if name in self._own:
            return []
        return [f"builtins.{name}", *(self._others.get(name, ()) if self._takes_all else ())]


# ---------------------------------------------------------------------------------------------------- what binds names


def _module(node: ast.ImportFrom) -> str:
    return "." * node.level + (node.module or "")


def _imported(tree: ast.AST) -> _Bindings:
    """The names that imports bind, with what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{_module(node)}.{alias.name}") for alias in node.names)


def _imported_by_words(code: str) -> _Bindings:
    for module, names in _IMPORT.findall(code):
        for whole in _listed(names):
            name, _, other = (part.strip() for part in whole.partition(" as "))
            if module:
                yield other or name, f"{module}.{name}"
            else:
                yield (other, name) if other else (name.split(".")[0], name.split(".")[0])


def _listed(names: str) -> list[str]:
    return [one.strip() for one in re.sub(r"[()\s]+", " ", names).split(",") if one.strip()]


def _unbound(first: str, rest: Sequence[str], after: str) -> list[str]:
    return [f"builtins.{first}"] if after == "(" and not rest else [f"{UNKNOWN}.{first}"] if rest else []


def _always_bound(tree: ast.Module) -> set[str]:
    """Names of the module that each run of it binds and none deletes, so that they never mean those of Python."""
    plain = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    deleted = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
    return set(_stored([node for node in tree.body if isinstance(node, plain)])) - deleted


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that code binds, but by imports; not those of functions, classes and comprehensions inside it."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
            yield from _stored(ast.iter_child_nodes(node))
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif not isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
            yield from _stored(ast.iter_child_nodes(node))


def _parameters(found: ast.arguments) -> set[str]:
    every = (*found.posonlyargs, *found.args, *found.kwonlyargs, found.vararg, found.kwarg)
    return {one.arg for one in every if one is not None}


def _from_outside(body: Iterable[ast.AST]) -> set[str]:
    """Names that a function takes from elsewhere: declared as such, or imported in it."""
    found: set[str] = set()
    for node in chain.from_iterable(map(ast.walk, body)):
        if isinstance(node, ast.Global | ast.Nonlocal):
            found |= {*node.names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {name for name, _ in _imported(node)}
    return found


def _text(node: ast.expr, pieces: int = 50) -> str | None:
    """The text of a constant, or of so many constants that are joined; None if it is known only in a run."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    parts: Sequence[ast.expr] = ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = (node.left, node.right)
    elif isinstance(node, ast.JoinedStr):
        parts = node.values
    elif isinstance(node, ast.FormattedValue) and node.format_spec is None:
        parts = (node.value,)
    found = [_text(part, pieces - 1) for part in parts] if pieces else []
    return "".join(one or "" for one in found) if found and None not in found else None
