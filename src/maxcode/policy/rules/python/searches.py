"""Rules about searches in lists whose types the text does not prove: they ask when the program runs.

A search in a list compares with ``==``, which may be anybody's code.  Among numbers, texts and bytes a set finds the
same.  So the new code searches a set while list and item hold nothing else, and the list as before otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading, assigned, is_empty_list, method_call
from maxcode.policy.rules.python.library_types import ANY, SCALARS, Type
from maxcode.policy.rules.python.lists import is_looked_at, may_be_searched
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script, Variable

_PLAIN = "frozenset((int, str, float, bytes, bool, type(None)))"


def set_beside(unit: Unit) -> Iterable[Edit]:
    """Search a set beside a list that is only appended to, as long as both hold numbers, texts and bytes alone.

    For elements whose types the text does not prove; the new code asks for them, and searches the list for others.
    """
    read = reading(unit)
    for variable in read.script.bindings if read else ():
        assert read is not None
        searched = [use for use in read.loads(variable) if may_be_searched(read, use)]
        if searched and isinstance(variable[0], ast.FunctionDef) and read.is_bound_by_names(variable):
            patches = _beside(read, variable)
            if patches:
                what = f"searches a set beside the list {variable[1]} while it holds numbers and texts alone"
                site = f"{variable[1]} in {read.place(searched[0])}"
                yield read.edit("set_beside", site, what, patches, *searched)


def _beside(read: Reading, variable: Variable) -> list[Patch]:
    """The changes for a list; none if it is more than appended to and searched, or if its types are known."""
    script, (scope, name) = read.script, variable
    beside, odd, plain = (script.fresh(one) for one in (f"{name}_set", f"{name}_odd", "plain_types"))
    patches: list[Patch] = []
    types: list[Type] = []
    if any(isinstance(use.ctx, ast.Del) for use in script.uses.get(variable, [])):
        return []
    for use in read.stores(variable):
        made = script.parents[use]
        named = assigned(made)
        if named is None or named[0] is not use or not is_empty_list(read, named[1]):
            return []
        if not isinstance(made, ast.stmt) or script.indent(made) is None:
            return []
        patches.append(script.after(made, f"{beside}, {odd} = set(), False"))
    for use in read.loads(variable):
        call, compare = method_call(use, script), script.parents[use]
        if script.scope_of(use) is not scope:
            return []
        if call is not None and call[0] == "append" and len(call[1].args) == 1:
            added = _added(script, call[1], (beside, odd, plain))
            patches += added
            types.append(read.types.of(call[1].args[0]))
            if not added:
                return []
        elif may_be_searched(read, use):
            is_kept = isinstance(script.parents[compare], ast.IfExp)  # by an earlier edit
            if is_kept or not isinstance(compare, ast.Compare) or not isinstance(compare.left, ast.Name):
                return []
            types.append(read.types.of(compare.left))
            patches.append(script.replaced(compare, _asked(script, compare, (beside, odd, plain))))
        elif not is_looked_at(read, use):
            return []
    if all(one in SCALARS for one in types) or not all(one == ANY or one in SCALARS for one in types):
        return []
    return [script.at_start(f"\n{plain} = {_PLAIN}\n\n\n"), *patches]


def _added(script: Script, call: ast.Call, names: tuple[str, str, str]) -> list[Patch]:
    """The same element added to the set after it was appended; none if it is no name in a line of its own."""
    (beside, odd, plain), value, statement = names, call.args[0], script.parents[call]
    indent = script.indent(statement) if isinstance(statement, ast.Expr) else None
    if indent is None or not isinstance(value, ast.Name) or not isinstance(statement, ast.Expr):
        return []
    lines = f"if type({value.id}) in {plain}:\n    {beside}.add({value.id})\nelse:\n    {odd} = True"
    return [script.after(statement, lines.replace("\n", f"\n{indent}"))]


def _asked(script: Script, compare: ast.Compare, names: tuple[str, str, str]) -> str:
    (beside, odd, plain), item = names, script.source(compare.left)
    word = "in" if isinstance(compare.ops[0], ast.In) else "not in"
    searched = script.source(compare.comparators[0])
    return f"({item} {word} {beside} if not {odd} and type({item}) in {plain} else {item} {word} {searched})"
