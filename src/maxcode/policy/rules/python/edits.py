"""What the rules for Python share: a site's name, an edit from its patches, and what keeps a rule from applying."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.inferred import Types
from maxcode.policy.rules.python.script import Script, Variable

_COMPILERS = re.compile("jit|guvectorize|cfunc|torch.compile")
_READERS = ("any", "all", "next", "sum", "min", "max", "list", "tuple", "set", "frozenset", "dict", "sorted")


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """A script with its types.

    ``misses``: by function and rule, the first line where the rule has a place and does not apply, and why; the same
    whenever a rule reads the script.
    """

    script: Script
    types: Types
    misses: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def miss(self, rule: str, node: ast.expr | ast.stmt, why: str) -> None:
        """Keeps why a rule does not apply at a place."""
        key, found = (self.place(node), rule), (node.lineno, why)
        self.misses[key] = min(found, self.misses.get(key, found))

    def place(self, node: ast.AST) -> str:
        """The function that a node stands in, for the name of a site."""
        scope = self.script.scope_of(node)
        return getattr(scope, "name", "the program")

    def stores(self, variable: Variable) -> list[ast.Name]:
        return [use for use in self.script.uses.get(variable, []) if isinstance(use.ctx, ast.Store)]

    def loads(self, variable: Variable) -> list[ast.Name]:
        return [use for use in self.script.uses.get(variable, []) if isinstance(use.ctx, ast.Load)]

    def is_bound_by_names(self, variable: Variable) -> bool:
        """Whether a variable of a function or of the module is bound by assignments, loops and the like alone, no other
        file uses it, and Python itself runs its function."""
        is_own = isinstance(variable[0], ast.FunctionDef) or variable[1] not in self.types.outside
        is_own = is_own and not (isinstance(variable[0], ast.FunctionDef) and is_compiled(self.script, variable[0]))
        is_place = isinstance(variable[0], ast.Module | ast.FunctionDef) and is_own
        return is_place and all(isinstance(one, ast.Name) for one in self.script.bindings.get(variable, []))

    def edit(self, rule: str, site: str, what: str, patches: Sequence[Patch], *nodes: ast.expr | ast.stmt) -> Edit:
        """An edit; ``nodes`` say which lines it concerns."""
        lines = tuple((node.lineno, node.end_lineno or node.lineno) for node in nodes)
        return Edit(rule, site, (), what, lines, Change(tuple(patches)))


def is_compiled(script: Script, function: ast.FunctionDef) -> bool:
    """Whether something else than Python may run a function: numba or another compiler, as a decorator or by a call."""
    uses = script.uses.get((script.scope_of(function), function.name), [])
    calls = ((use, script.parents[use]) for use in uses)
    given = [call.func for use, call in calls if isinstance(call, ast.Call) and use in call.args]
    makers = [*function.decorator_list, *given]
    return any(_COMPILERS.search(script.source(one)) for one in makers)


def method_call(name: ast.Name, script: Script) -> tuple[str, ast.Call] | None:
    """The method and the call if a use of a name is ``name.method(...)`` with plain arguments."""
    attribute = script.parents[name]
    call = script.parents.get(attribute)
    if not isinstance(attribute, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not attribute:
        return None
    if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    return attribute.attr, call


def assigned(statement: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The target and the value of ``a = value`` and of ``a: type = value``; None for any other statement."""
    match statement:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            return target, value
    return None


def is_empty_list(read: Reading, value: ast.expr) -> bool:
    """Whether an expression makes an empty list."""
    if isinstance(value, ast.Call):
        return read.script.is_builtin(value.func, "list") and not value.args and not value.keywords
    return isinstance(value, ast.List) and not value.elts


def is_later(script: Script, use: ast.Name) -> bool:
    """Whether a use may run at another time than its place in the function of its variable: in a function in it, or in
    a generator that is not read at once."""
    variable = script.variable(use)
    if variable is None or script.scope_of(use) is not variable[0]:
        return True
    return any(isinstance(up, ast.GeneratorExp) and not is_read_at_once(script, up) for up in script.ancestors(use))


def is_read_at_once(script: Script, generator: ast.GeneratorExp) -> bool:
    """Whether a generator is the argument of what reads it before anything else happens, and then drops it."""
    call = script.parents[generator]
    if not isinstance(call, ast.Call) or generator not in call.args:
        return False
    is_join = isinstance(call.func, ast.Attribute) and call.func.attr == "join" and "join" not in script.made
    return is_join or script.is_builtin(call.func, *_READERS)
