"""One C or C++ program for the rules: nodes, tokens, macros, functions, variables.

Each property is computed once, at first use.  There are two views of the text, because neither is enough: the syntax
tree has the structure but may be wrong around loop macros; the token list has no structure but includes macro bodies.
Text inserted by earlier rewrites (the runtime) is in neither: no rule edits it.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import final

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function, Macro, Parameter, Span, Variable, ancestor, first_child, parameter
from maxcode.code.cpp.declarations import variable as declared
from maxcode.code.source import Patch, Token, parse, text_of, tokens, walk

RUNTIME_BEGIN = "// ---- maxcode runtime: "
RUNTIME_END = "// ---- end of maxcode runtime ----"
_RUNTIME = re.compile(rf"(?P<begin>{RUNTIME_BEGIN})|{RUNTIME_END}\n?".encode())
_PRELUDE = re.compile(
    rb"[ \t]*(?:#[ \t]*include[ \t]*<[^\n]*|#[ \t]*pragma[ \t]+(?:GCC|once)\b[^\n]*"
    rb"|#[ \t]*define[ \t]+_[A-Z]\w*[^\n\\]*|//(?! ----)[^\n]*)?\n"
    rb"|[ \t]*/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n"
)
_NUMBER = re.compile(
    r"(?:(?:const|unsigned|signed|int|long|short|char|bool|_Bool|double|float|size_t|ptrdiff_t|u?int\d+_t) ?)+"
)
_SCOPES = frozenset({"compound_statement", "for_statement", "translation_unit", "lambda_expression", "if_statement"})


@final
class Unit:
    """The program of one file.

    ``others``: the texts of the other files that are built with it, headers included.  They are not edited; what they
    mention may be used there.  ``flags``: those of the compiler.
    """

    def __init__(
        self,
        language: str,
        text: str,
        others: Sequence[str] = (),
        flags: Sequence[str] = (),
    ) -> None:
        self.language = language
        self.text = text
        self.others = tuple(others)
        self.flags = tuple(flags)
        self.source = parse(language, text)
        self.data = self.source.data

    # ---------------------------------------------------------------------------------------------------- the text

    @cached_property
    def runtime(self) -> tuple[Span, ...]:
        """The byte ranges of the runtime that earlier rewrites inserted; a beginning without an end begins nothing."""
        found: list[Span] = []
        start: int | None = None
        for mark in _RUNTIME.finditer(self.data):
            if mark["begin"] is not None:
                start = mark.start()
            elif start is not None:
                found.append((start, mark.end()))
                start = None
        return tuple(found)

    @cached_property
    def prelude(self) -> int:
        """The offset after the leading comments, includes of the system and pragmas of GCC; before it, neither the
        program nor a header of its own defines a macro."""
        position = last = 0
        while match := _PRELUDE.match(self.data, position):
            position = match.end()
            if match.group().lstrip().startswith(b"#"):
                last = position
        return last

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens outside the runtime, those of directives included."""
        found: list[Token] = []
        start = 0
        for stop, following in (*self.runtime, (len(self.data), 0)):
            piece = tokens(self.between(start, stop))
            found += [token._replace(start=token.start + start, end=token.end + start) for token in piece]
            start = following
        return tuple(found)

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def tokens_in(self, start: int, end: int) -> tuple[Token, ...]:
        """The tokens that start in a range of bytes, without those of directives."""
        first, last = bisect.bisect_left(self._starts, start), bisect.bisect_left(self._starts, end)
        return tuple(token for token in self.tokens[first:last] if not token.directive)

    @cached_property
    def words(self) -> frozenset[str]:
        """All identifiers and keywords outside the runtime, macro bodies and the other files included."""
        return frozenset(token.text for token in self.tokens if token.is_word) | self.shared

    @cached_property
    def shared(self) -> frozenset[str]:
        """All identifiers and keywords of the other files: another file may use what they name."""
        return frozenset(token.text for text in self.others for token in tokens(text) if token.is_word)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0] + [match.end() for match in re.finditer(rb"\n", self.data)]

    def line(self, offset: int) -> int:
        """The line (1-based) of a byte."""
        return bisect.bisect_right(self._line_starts, offset)

    def indent(self, offset: int) -> str:
        """The indentation of the line of a byte."""
        start = self._line_starts[self.line(offset) - 1]
        match = re.compile(rb"[ \t]*").match(self.data, start)
        return match.group().decode() if match else ""

    @cached_property
    def step(self) -> str:
        """The indentation of one level: that of the first statement of a function; four blanks if there is none."""
        for function in self.functions:
            for child in function.body.named_children:
                if child.start_point.row > function.body.start_point.row and (found := self.indent(child.start_byte)):
                    return found.removeprefix(self.indent(function.body.start_byte)) or found
        return "    "

    def in_runtime(self, offset: int) -> bool:
        """Whether a byte belongs to the runtime."""
        return any(start <= offset < end for start, end in self.runtime)

    def between(self, start: int, end: int) -> str:
        """The text of a range of bytes."""
        return self.data[start:end].decode("utf-8", "surrogateescape")

    # ---------------------------------------------------------------------------------------------------- the tree

    @cached_property
    def _by_type(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = defaultdict(list)
        for child in self.source.root.children:
            if not self.in_runtime(child.start_byte):
                for node in walk(child):
                    if not self.runtime or not self.in_runtime(node.start_byte):
                        found[node.type].append(node)
        return found

    def nodes(self, *types: str) -> list[Node]:
        """The nodes of these types outside the runtime, in the order of the text."""
        if len(types) == 1:
            return self._by_type.get(types[0], [])
        return sorted((node for kind in types for node in self._by_type.get(kind, [])), key=lambda n: n.start_byte)

    def balanced(self, node: Node) -> bool:
        """Whether the braces of the *tokens* agree that ``node`` is one block; the parser may recover wrongly."""
        depth = 0
        inside = self.tokens_in(node.start_byte, node.end_byte)
        for position, token in enumerate(inside):
            depth += (token.text == "{") - (token.text == "}")
            if depth == 0 and position + 1 < len(inside):
                return False
        return depth == 0 and bool(inside)

    # ------------------------------------------------------------------------------------------------------- names

    @cached_property
    def macros(self) -> dict[str, Macro]:
        """The macros by name."""
        found: dict[str, Macro] = {}
        for name, params, body in self._definitions():
            known = found.get(name)
            clear = known is None or [t.text for t in known.body] == [t.text for t in body]
            found[name] = Macro(name, params, body, clear)
        return found

    def _definitions(self) -> Iterator[tuple[str, tuple[str, ...] | None, tuple[Token, ...]]]:
        for line in self._directives():
            if len(line) < 3 or line[1].text != "define":
                continue
            name, rest = line[2], line[3:]
            if rest and rest[0].text == "(" and rest[0].start == name.end:
                close = next((k for k, token in enumerate(rest) if token.text == ")"), None)
                if close is not None:
                    params = tuple(token.text for token in rest[1:close] if token.text != ",")
                    yield name.text, params, tuple(rest[close + 1 :])
            else:
                yield name.text, None, tuple(rest)

    def _directives(self) -> Iterator[list[Token]]:
        line: list[Token] = []
        for token in self.tokens:
            if token.directive:
                if token.text == "#" and line and b"\n" in self._unjoined(line[-1].end, token.start):
                    yield line
                    line = []
                line.append(token)
            elif line:
                yield line
                line = []
        if line:
            yield line

    def _unjoined(self, start: int, end: int) -> bytes:
        return re.sub(rb"\\\r?\n", b"", self.data[start:end])

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Name of a type -> the type that it stands for: typedef, using and macros without parameters."""
        found = {name: " ".join(t.text for t in m.body) for name, m in self.macros.items() if m.params is None}
        for node in self.nodes("type_definition", "alias_declaration"):
            name = node.child_by_field_name("declarator") or node.child_by_field_name("name")
            kind = node.child_by_field_name("type")
            if name is not None and kind is not None and name.type == "type_identifier":
                found[text_of(name)] = text_of(kind)
            elif name is not None and kind is not None and re.fullmatch(r"\*\s*\w+", text_of(name)):
                found[text_of(name).strip("* \n\t")] = f"{text_of(kind)} *"
        return found

    def resolve(self, type_text: str) -> str:
        """The type with aliases replaced, without ``std::``, with blanks only between words."""
        words = [token.text for token in tokens(type_text)]
        for _ in range(4):
            words = [t.text for word in words for t in tokens(self.aliases.get(word, word))]
        joined = re.sub(r"\bstd ::", "", " ".join(words))
        return re.sub(r"\s*([^\w\s])\s*", r"\1", joined).strip()

    def is_number(self, type_text: str) -> bool:
        """Whether a type is one of numbers."""
        return _NUMBER.fullmatch(self.resolve(type_text)) is not None

    # ----------------------------------------------------------------------------------------------------- functions

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The functions with a well-formed body, in the order of the text."""
        return tuple(f for node in self.nodes("function_definition") if (f := self._function(node)) is not None)

    def _function(self, node: Node) -> Function | None:
        kind, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
            declarator = declarator.child_by_field_name("declarator") or first_child(declarator)
        if kind is None or body is None or declarator is None or declarator.type != "function_declarator":
            return None
        name, listed = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("parameters")
        if name is None or listed is None or body.type != "compound_statement" or not self.balanced(body):
            return None
        method = name.type != "identifier" or ancestor(node, "field_declaration_list") is not None
        found = tuple(parameter(child) for child in listed.named_children if child.type.endswith("declaration"))
        special = name.child_by_field_name("name") if name.type == "template_function" else None
        return Function(text_of(special or name).split("::")[-1], text_of(kind), found, node, declarator, body, method)

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        """The functions and methods by name; overloads share a name."""
        found: dict[str, list[Function]] = defaultdict(list)
        for function in self.functions:
            found[function.name].append(function)
        return found

    @cached_property
    def main(self) -> Function | None:
        """The function ``main`` of a program that has exactly one."""
        found = [f for f in self.by_name.get("main", []) if not f.method]
        return found[0] if len(found) == 1 else None

    def home(self, offset: int) -> Function | None:
        """The innermost function around a byte."""
        starts, ends, found = self._homes
        at = bisect.bisect_right(starts, offset) - 1
        while at >= 0 and ends[at] > offset:
            if found[at].node.end_byte > offset:
                return found[at]
            at -= 1
        return None

    @cached_property
    def _homes(self) -> tuple[list[int], list[int], list[Function]]:
        """The functions by their starts, and behind each of them where the last one so far ends."""
        found = sorted(self.functions, key=lambda one: one.node.start_byte)
        ends = list(accumulate((one.node.end_byte for one in found), max))
        return [one.node.start_byte for one in found], ends, found

    def calls(self, *names: str) -> list[tuple[str, Node, list[Node]]]:
        """The calls of free functions with these names (with or without ``std::``): name, call, arguments."""
        if len(names) == 1:
            return self._calls.get(names[0], [])
        found = (one for name in set(names) for one in self._calls.get(name, []))
        return sorted(found, key=lambda one: one[1].start_byte)

    @cached_property
    def _calls(self) -> dict[str, list[tuple[str, Node, list[Node]]]]:
        found: dict[str, list[tuple[str, Node, list[Node]]]] = defaultdict(list)
        for node in self.nodes("call_expression"):
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is not None and arguments is not None:
                name = text_of(function).replace(" ", "").removeprefix("std::").removeprefix("::")
                found[name].append((name, node, [a for a in arguments.named_children if a.type != "comment"]))
        return found

    def calls_in(self, node: Node, name: str) -> list[Node]:
        """The calls of a function inside a node."""
        return [call for _, call, _ in self.calls(name) if node.start_byte <= call.start_byte < node.end_byte]

    # ----------------------------------------------------------------------------------------------------- variables

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of plain declarations, without parameters, in the order of the text."""
        found: list[Variable] = []
        for node in self.nodes("declaration"):
            kind = node.child_by_field_name("type")
            scope = self._scope(node)
            if kind is not None and scope is not None:
                home = self.home(node.start_byte)
                for child in node.children_by_field_name("declarator"):
                    if (made := declared(child, text_of(kind), node, scope, home)) is not None:
                        found.append(made)
        return tuple(found)

    @cached_property
    def _named(self) -> dict[str, list[Variable]]:
        found: dict[str, list[Variable]] = defaultdict(list)
        for one in self.variables:
            found[one.name].append(one)
        return found

    def _scope(self, node: Node) -> Span | None:
        """The scope of a declaration; None if the tree around it has an error."""
        around = node.parent
        while around is not None and around.type not in _SCOPES:
            if around.type == "ERROR":
                return None
            around = around.parent
        return (node.start_byte, around.end_byte) if around is not None else None

    def variable(self, name: str, offset: int) -> Variable | None:
        """The variable of this name at a byte: the innermost declaration in scope; None if there is none."""
        seen = (v for v in self._named.get(name, ()) if v.scope[0] <= offset < v.scope[1])
        return max(seen, key=lambda v: v.scope[0], default=None)

    def made(self, variable: Variable) -> str:
        """The type of a variable, resolved; with ``auto``, that of what its value makes or copies, if that is plain."""
        kind = self.resolve(variable.type)
        value = variable.value
        if variable.form != "plain" or kind not in ("auto", "const auto") or value is None:
            return kind
        if value.type == "identifier":
            given = self.parameter(text_of(value), value.start_byte)
            source = self.variable(text_of(value), value.start_byte) if given is None else None
            if given is not None and given.kind != "pointer":
                return self.resolve(given.type)
            plain = source is not None and source.form in ("plain", "reference") and source is not variable
            return self.made(source) if source is not None and plain else kind
        made = self.resolve(text_of(value))
        if (found := re.match(r"make_unique<(\w+)\[\]>\(", made)) is not None:
            return f"unique_ptr<{found[1]}[]>"
        found = re.match(r"((?:vector|array|valarray|basic_string)<[\w<>, ]+>|string)[({]", made)
        return found[1] if found is not None else kind

    def parameter(self, name: str, offset: int) -> Parameter | None:
        """The parameter of this name at a byte; None if the name is a variable or unknown."""
        home, variable = self.home(offset), self.variable(name, offset)
        if home is None or (variable is not None and variable.home is not None):
            return None
        return next((p for p in home.parameters if p.name == name), None)

    def type_of(self, name: str, offset: int) -> str | None:
        """The resolved type of the variable or parameter of this name at a byte; None if unknown."""
        found = self.parameter(name, offset) or self.variable(name, offset)
        return self.resolve(found.type) if found is not None else None

    # ------------------------------------------------------------------------------------------------------- patches

    def replace(self, node: Node, text: str) -> Patch:
        """The patch that replaces a node by a text."""
        return Patch(node.start_byte, node.end_byte, text)

    def place(self, what: str, node: Node) -> str:
        """The name of a site: ``what`` and the function around the node."""
        home = self.home(node.start_byte)
        return f"{what} in {home.name}" if home is not None else what

    def lines_of(self, *nodes: Node) -> tuple[tuple[int, int], ...]:
        """The first and last line of each node."""
        return tuple((node.start_point.row + 1, node.end_point.row + 1) for node in nodes)
