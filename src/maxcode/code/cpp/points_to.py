"""Finds the objects of a program that an address may point into, through its names and its calls.

A name with an address of its own (a pointer, a reference, an iterator) may point into all that is ever assigned to it,
whatever the order: the analysis of Andersen.  New memory is an object with the name of the variable that gets it, and
what an unknown function returns counts as new.  Who needs certainty asks for the ``strict`` answer: what the text does
not tell is ``()`` there, an object that may be any.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function, Parameter, Variable, ancestor
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.views import copies, has_operators, is_one_view, shows
from maxcode.code.cpp.words import HARMLESS, words
from maxcode.code.source import text_of, walk

_NEW = words("malloc calloc aligned_alloc make_unique make_shared")
_NOT_READ = ("sizeof_expression", "type_descriptor", "template_argument_list")
_NAMES = ("identifier", "qualified_identifier")
_NO_VALUES = ("function_declarator", "call_expression", "qualified_identifier", "template_function")
_PASSING = words(
    "static_cast reinterpret_cast const_cast dynamic_cast bit_cast assume_aligned __builtin_assume_aligned addressof "
    "ref cref move forward begin cbegin end data next prev pair make_pair tuple make_tuple tie min max as_const launder"
)  # they return what they are given
_BINDS = ("for_range_loop", "init_declarator")
_COUNTS = words("size length empty count capacity compare contains")
_REBIND = words("exchange advance tie ref")  # they may change the pointer that they are given

Starts = Collection[int]
Object = tuple[str, ...]  # a variable and the members on the way to a part of it; () for ``*this``, and for any
_CALLED = "the result of"  # in front of the name of a function: it may return other objects; of "" for a method


def sources(unit: Unit, node: Node, skipped: Starts = (), strict: bool = False) -> set[Object]:
    """The objects of an address, with those that its names were made to point into; ``skipped``: the starts of values
    that do not count."""
    paths, makers = _told(unit, node)
    return {()} if strict and makers else reached(unit, paths, node.start_byte, skipped, strict)


def _told(unit: Unit, node: Node) -> tuple[set[Object], set[str]]:
    """The objects of an address, and the functions that may return others."""
    found = _objects(unit, node)
    called = {path for path in found if path[:1] == (_CALLED,)}
    return found - called, {path[1] for path in called} - _passing(unit)


def reached(
    unit: Unit, paths: Collection[Object], offset: int, skipped: Starts = (), strict: bool = False
) -> set[Object]:
    """The objects of paths written at a byte, with those that their names were made to point into; a parameter of the
    function around it stands for itself."""
    return _followed(unit, [(path, offset, True) for path in paths], skipped, strict)


def given(unit: Unit, function: Function, at: int) -> set[Object]:
    """The objects that a parameter may be given in any call: the strict answer."""
    return _followed(unit, [((function.parameters[at].name,), function.body.start_byte, False)], (), strict=True)


def _followed(unit: Unit, waiting: list[tuple[Object, int, bool]], skipped: Starts, strict: bool) -> set[Object]:
    """``waiting``: paths, where they are written, and whether in the call that is asked about."""
    found = set[tuple[Object, bool]]()
    while waiting:
        path, at, here = waiting.pop()
        named = ((_root(unit, path[0], at), *path[1:]) if path else path, here)
        if named in found:
            continue
        found.add(named)
        values = list(_values(unit, path, at, here)) if path else []
        known = not path or not strict or _is_known(unit, path[0], at, here, bool(values))
        for value, stays in values:
            more, makers = _told(unit, value) if value.start_byte not in skipped else (set[Object](), set[str]())
            known = known and not (strict and makers)
            waiting += [(one, value.start_byte, stays) for one in more if not makers - {""}]
        found |= set() if known else {((), True)}
    return {path for path, _ in found}


def _root(unit: Unit, name: str, offset: int) -> str:
    """The name at a byte; with the place where it is known if it is that of a parameter or a local variable."""
    home, known = unit.home(offset), unit.variable(name, offset)
    if home is not None and unit.parameter(name, offset) is not None:
        return f"{name}@{home.body.start_byte}"
    return name if known is None or known.home is None else f"{name}@{known.scope[0]}"


def declared(unit: Unit, path: Object) -> Variable | Parameter | None:
    """The variable or the parameter that an object is or is a part of; None for what is declared elsewhere."""
    name, _, place = path[0].partition("@")
    if not place:
        return next((one for one in unit.variables if one.name == name and one.home is None), None)
    return unit.parameter(name, int(place)) or unit.variable(name, int(place))


def _values(unit: Unit, path: Object, offset: int, here: bool) -> Iterator[tuple[Node, bool]]:
    """What a name is made to point into, and whether this is in the call that is asked about."""
    one, home = unit.parameter(path[0], offset), unit.home(offset)
    known = unit.variable(path[0], offset) if one is None else None
    stays, whole = here and not (known is not None and known.lasts), known is not None and known.home is None
    if one is not None and home is not None and not here:
        place = home.parameters.index(one)
        yield from ((listed[place], False) for _, listed in calls(unit).get(home.name, ()) if place < len(listed))
    if known is not None and known.value is not None and _may_point(unit, known):
        yield known.value, stays
    if (known is not None and not _may_point(unit, known)) or _copies(unit, known or one):
        return
    for where, left, right in assignments(unit).get(path[0], ()):
        if meet(where, path) and (whole or unit.home(left.start_byte) == home):
            yield right, stays


def _copies(unit: Unit, known: Variable | Parameter | None) -> bool:
    """Whether to assign to a name copies into its object: to a reference, but not to one of a pointer."""
    form = known.form if isinstance(known, Variable) else known.kind if known is not None else ""
    return known is not None and form == "reference" and "*" not in text_of(known.node) and not shows(unit, known.type)


@lru_cache(maxsize=8)
def assignments(unit: Unit) -> dict[str, list[tuple[Object, Node, Node]]]:
    """What names, their members and the pointers in them are given: the path, its node and the value."""
    found: dict[str, list[tuple[Object, Node, Node]]] = defaultdict(list)
    for one in unit.nodes("assignment_expression"):
        left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
        if left is not None and right is not None and _takes_address(unit, left) and not copies(unit, left, right):
            for path in _objects(unit, left) - {()}:
                found[path[0]].append((path, left, right))
    for left, right in (*_bound(unit), *_filled(unit)):
        for name in (one for one in walk(left) if one.type == "identifier"):
            found[text_of(name)].append(((text_of(name),), left, right))
    return found


def _takes_address(unit: Unit, left: Node) -> bool:
    """Whether the left side of an assignment may be an address: a name, a member, or an element of a row of them."""
    depth, node = 0, left
    while node.type in ("subscript_expression", "pointer_expression"):
        depth, node = depth + 1, node.child_by_field_name("argument") or node.named_children[0]
    known = unit.parameter(text_of(node), node.start_byte) or unit.variable(text_of(node), node.start_byte)
    if not depth or known is None:
        return not depth and node.type in (*_NAMES, "field_expression")
    marks = text_of(known.node if isinstance(known, Parameter) else known.declarator).partition("=")[0]
    return depth < len(re.findall(r"[*[]", marks)) + len(re.findall("[*<]", unit.resolve(known.type)))


def _bound(unit: Unit) -> Iterator[tuple[Node, Node]]:
    """The names of ``for (auto &row : rows)`` and ``auto [x, y] = both``, with what they are parts of."""
    binding = [ancestor(one, *_BINDS) for one in unit.nodes("structured_binding_declarator")]
    for one in (*unit.nodes("for_range_loop"), *binding):
        left = one.child_by_field_name("declarator") if one is not None else None
        if one is not None and left is not None:
            yield left, one.child_by_field_name("right") or one.child_by_field_name("value") or left


def is_bound(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name is that of a reference in the loop or the binding around a byte, to a part of an object."""
    lefts = [left for _, left, _ in assignments(unit).get(name, ()) if left.start_byte < offset]
    bound = [left for left in lefts if left.parent is not None and left.parent.type in _BINDS]
    scopes = [ancestor(left, "for_range_loop", "compound_statement") for left in bound if left.type != "identifier"]
    return any(scope is not None and offset < scope.end_byte for scope in scopes)


def _filled(unit: Unit) -> Iterator[tuple[Node, Node]]:
    """The pointers whose addresses calls are given, ``set(&to, from)``, with what else they are given; and those that
    change places, ``swap(a, b)``."""
    for one in unit.nodes("argument_list"):
        targets = [part for part in one.named_children if re.fullmatch(r"(?:\([\w *]+\) ?)?& ?\w+", text_of(part))]
        for left in targets:
            for right in one.named_children:
                is_copied = right in targets or right.start_byte in _copied(unit)
                if not is_copied and _objects(unit, right) - _known(unit, "number"):
                    yield left, right
    for _, _, both in unit.calls("swap"):
        if [one.type for one in both] == ["identifier", "identifier"]:
            yield both[0], both[1]
            yield both[1], both[0]


@lru_cache(maxsize=8)
def calls(unit: Unit) -> dict[str, list[tuple[Node, list[Node]]]]:
    """The calls by name, with their arguments: also ``n::f(x)``, ``f<double>(x)``, ``thread t(f, x)``, and those of
    names that no function has, as calls of each function that is used as a value."""
    found: dict[str, list[tuple[Node, list[Node]]]] = defaultdict(list)
    named = (one for one in unit.nodes("identifier") if text_of(one) in unit.by_name and one.parent is not None)
    values = {text_of(one) for one in named if one.parent is not None and one.parent.type not in _NO_VALUES}
    for node in unit.nodes("argument_list"):
        given = [one for one in node.named_children if one.type != "comment"]
        called = node.parent.child_by_field_name("function") if node.parent is not None else None
        if called is not None:
            name = called_name(called)
            for other in {name, *(values if name not in unit.by_name else ())}:
                found[other].append((node, given))
        for at, one in enumerate(given):
            if (name := text_of(one).lstrip("&")) in values:
                found[name].append((node, given[at + 1 :]))
    return found


def called_name(called: Node) -> str:
    """The name of a function without the names around it and without its types."""
    return "".join(text_of(called).split()).partition("<")[0].rpartition("::")[2]


@lru_cache(maxsize=8)
def _uses(unit: Unit) -> Counter[str]:
    """How often each word stands elsewhere than in a declaration of a function with this name."""
    named = (one.child_by_field_name("declarator") for one in unit.nodes("function_declarator"))
    found = Counter(token.text for token in unit.tokens)
    found.subtract(text_of(one) for one in named if one is not None)
    return found


def is_only_called(unit: Unit, name: str) -> bool:
    """Whether a function is only declared and called, so that nothing relies on its type."""
    return _uses(unit)[name] == len(unit.calls(name))


@lru_cache(maxsize=1 << 10)
def all_are_seen(unit: Unit, function: Function) -> bool:
    """Whether the text shows all that the parameters of a function are given."""
    name, known = function.name, calls(unit).get(function.name, ())
    one = len(unit.by_name[name]) == 1 and not function.method and name not in unit.shared and bool(known)
    return one and all(len(given) == len(function.parameters) for _, given in known) and is_only_called(unit, name)


@lru_cache(maxsize=8)
def _passing(unit: Unit) -> frozenset[str]:
    """The functions of the program that return a part of what they are given."""
    found = set[str]()
    for node in unit.nodes("return_statement"):
        home = unit.home(node.start_byte)
        if home is not None and {path[:1] for path in _objects(unit, node)} & {(one.name,) for one in home.parameters}:
            found.add(home.name)
    return frozenset(found)


def _may_point(unit: Unit, known: Variable) -> bool:
    """Whether a variable may be a name for a part of another: not so a copy of a vector."""
    return known.form in ("pointer", "reference") or shows(unit, unit.made(known))


def _is_known(unit: Unit, name: str, offset: int, here: bool, has_values: bool) -> bool:
    """Whether the values of a name are all that it may point into, and nothing is reached from there."""
    home, known = unit.home(offset), unit.variable(name, offset)
    if home is not None and unit.parameter(name, offset) is not None:
        return here or all_are_seen(unit, home)
    if known is None:
        return is_bound(unit, name, offset)
    if not _may_point(unit, known):
        return not has_operators(unit, unit.made(known))
    if not has_values or name in _rebound(unit) or (known.home is None and name in unit.shared):
        return False
    if known.form != "plain":
        return known.form == "reference" or not shows(unit, known.type)
    return known.value is not None and "{" not in text_of(known.value) and is_one_view(unit, unit.made(known))


@lru_cache(maxsize=8)
def _rebound(unit: Unit) -> frozenset[str]:
    """The variables that may change under another name: through their address, or as a reference to them."""
    found = [one for one in unit.nodes("pointer_expression") if text_of(one).startswith("&")]
    found += [one.value for one in unit.variables if one.form == "reference" and one.value is not None]
    for name, listed in calls(unit).items():
        for function in unit.by_name.get(name, ()):
            taken = [at for at, one in enumerate(function.parameters) if one.kind == "reference" and not one.const]
            found += [given[at] for _, given in listed for at in taken if at < len(given)]
        found += [one for _, given in listed if name in _REBIND for one in given]
    return frozenset(re.sub(r"^[&{ ]+|[} ]+$", "", text_of(one)) for one in found)


@lru_cache(maxsize=8)
def _kept(unit: Unit) -> frozenset[str]:
    """The variables with an address that is stored, returned or passed on."""
    rows = {(one.name,) for one in unit.variables if len(one.dims) > 1}
    values = [
        right
        for listed in assignments(unit).values()
        for path, _, right in listed
        if path not in _known(unit, "number")
    ]
    values += [one.value for one in unit.variables if one.value is not None and _may_point(unit, one)]
    quiet = {one.start_byte for name in HARMLESS for one, _ in calls(unit).get(name, ())}
    lists = unit.nodes("return_statement", "initializer_list", "argument_list")
    copied = _copied(unit)
    values += [one for node in lists if node.start_byte not in quiet for one in node.named_children]
    values = [one for one in values if one.start_byte not in copied]
    named = {text_of(one) for one in unit.nodes("type_identifier")}  # such is v of ``Shows s(v)`` for the grammar
    found = (
        _objects(unit, one) & rows if one.type == "subscript_expression" else _objects(unit, one) for one in values
    )
    return frozenset(named | {path[0] for paths in found for path in paths if path})


@lru_cache(maxsize=8)
def _copied(unit: Unit) -> frozenset[int]:
    """The starts of the arguments of which functions of the program get copies that hold no address."""
    found = set[int]()
    for name, functions in unit.by_name.items():
        for node, listed in calls(unit).get(name, ()):
            called = node.parent.child_by_field_name("function") if node.parent is not None else None
            for at, one in enumerate(listed if called is not None and called_name(called) == name else ()):
                taken = [function.parameters[at] for function in functions if at < len(function.parameters)]
                known = len(taken) == len(functions) and one.type == "identifier"
                if known and all(each.kind == "value" and not shows(unit, each.type) for each in taken):
                    found.add(one.start_byte)
    return frozenset(found)


def is_shown(unit: Unit, path: Object) -> bool:
    """Whether an object may have a second name: an address of its variable is kept, or passed to what may keep it."""
    known = declared(unit, path)
    if known is None or (isinstance(known, Parameter) and known.kind != "value") or known.name in unit.shared:
        return True
    number = unit.is_number(known.type) and (isinstance(known, Parameter) or known.form == "plain")
    return known.name in _rebound(unit) or (not number and known.name in _kept(unit))


def meet(one: Object, other: Object) -> bool:
    """Whether objects are the same, or one is a part of the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _objects(unit: Unit, node: Node) -> set[Object]:
    """The objects that an address may point into; none for new memory and for numbers."""
    if node.type in _NOT_READ:
        return set()
    vexing = node.type == "type_identifier" and node.parent is not None and node.parent.type == "parameter_declaration"
    if vexing or (node.type in _NAMES and text_of(node) not in unit.macros):
        return {(text_of(node).rpartition("::")[2],)}
    if node.type in _NAMES:
        return _in_macro(unit, node)
    if node.type in ("this", "lambda_expression"):
        return {()} if node.type == "this" else {(_CALLED, "[]")}
    parts = {name: _objects(unit, one) for name in _PARTS.get(node.type, ()) if (one := node.child_by_field_name(name))}
    match node.type:
        case "call_expression":
            return _called(unit, node)
        case "field_expression" if (field := node.child_by_field_name("field")) and "union" not in unit.words:
            return {path if path[:1] == (_CALLED,) else (*path, text_of(field)) for path in parts["argument"]}
        case "binary_expression":
            base = parts["left"] - _known(unit, "number")
            return base | (parts["right"] & _known(unit, "pointer")) if base else parts["right"]
    inner = parts.values() if node.type in _PARTS else (_objects(unit, one) for one in node.named_children)
    return set().union(*inner)


_PARTS = {
    "field_expression": ("argument",), "subscript_expression": ("argument",), "new_expression": ("placement",),
    "binary_expression": ("left", "right"), "conditional_expression": ("consequence", "alternative"),
}  # fmt: skip


def _called(unit: Unit, node: Node) -> set[Object]:
    """The objects of a call: that of a method, those that a function is given, or the function's own."""
    called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name = called_name(called) if called is not None else ""
    if called is None or arguments is None or (name in _NEW and name not in unit.by_name):
        return set()
    if name in unit.macros:
        return _in_macro(unit, node)
    given = (one for one in arguments.named_children if one.start_byte not in _copied(unit))
    passed = set[Object]().union(*(_objects(unit, one) for one in given))
    owner, method = called.child_by_field_name("argument"), called.child_by_field_name("field")
    if owner is not None and method is not None:
        if text_of(method) in unit.by_name:
            passed.add((_CALLED, ""))
        elif text_of(method) in _COUNTS:
            return set()
        return _objects(unit, owner) | {
            path for path in passed if path[:1] == (_CALLED,) or path in _known(unit, "pointer")
        }
    made = {(_CALLED, name)} if name not in _PASSING else set[Object]()
    return (passed - _known(unit, "number") or {(name,)}) | made


def _in_macro(unit: Unit, node: Node) -> set[Object]:
    named: set[Object] = {(one.text,) for one in expanded(unit, node.start_byte, node.end_byte) if one.is_word}
    return named - _known(unit, "number")


@lru_cache(maxsize=16)
def _known(unit: Unit, kind: str) -> frozenset[Object]:
    """The variables that are pointers or arrays by a declaration, or numbers by all of them."""
    found: dict[str, set[Object]] = defaultdict(set)
    listed = [(one.name, one.type, one.kind) for function in unit.functions for one in function.parameters]
    for name, of, form in (*listed, *((one.name, one.type, one.form) for one in unit.variables)):
        number = form in ("value", "plain") and unit.is_number(of)
        found["pointer" if form in ("pointer", "array") else "number" if number else ""].add((name,))
    return frozenset(found["pointer"] if kind == "pointer" else found["number"] - found["pointer"] - found[""])
