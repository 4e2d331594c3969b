"""The C that is compiled around a function: the driver of its calls, and the glue that knows its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maxcode.code.languages import language
from maxcode.core.types import Argument, FunctionSpec, Problem

_CODES = {"double": "d", "float": "f", "int": "i", "long": "l"}
_HERE = Path(__file__).parent


def support(problem: Problem) -> dict[str, str]:
    """The files compiled together with a candidate; nothing for a whole program."""
    if problem.spec.function is None:
        return {}
    spec = problem.spec.function
    driver = "maxcode_driver" + language(problem.language).suffixes[0]
    before = _LOADED if problem.language == "cpp" else ""
    return {spec.header_name: spec.header, driver: _glue(spec) + before + (_HERE / "driver.c").read_text()}


# Some linkers leave a library out that nothing refers to: then only some sides would pay for loading it.
_LOADED = "#include <new>\nvoid *(*volatile maxcode_loaded)(decltype(sizeof 0)) = ::operator new;\n"


def empty_driver(spec: FunctionSpec, language_name: str = "c") -> str:
    """A whole program that answers calls of the function as a candidate does, and does nothing in them."""
    nothing = "static void maxcode_call(const long *scalars, void *const *arrays) { (void)scalars, (void)arrays; }\n"
    before = _LOADED if language_name == "cpp" else ""
    return f"#define _GNU_SOURCE\n{_counts(spec)}{before}{nothing}" + (_HERE / "driver.c").read_text()


def _glue(spec: FunctionSpec) -> str:
    """What knows the function's arguments, in front of the driver."""
    return (
        f'#define _GNU_SOURCE\n#include "{spec.header_name}"\n{_counts(spec)}'
        "static void maxcode_call(const long *scalars, void *const *arrays) {\n"
        f"    (void)scalars;\n    {spec.name}({_passed(spec, spec.arguments)});\n}}\n\n"
    )


def generator_glue(spec: FunctionSpec) -> str:
    """What knows the function's arguments, beside the generator of inputs."""
    codes = "".join(_CODES[one.ctype] for one in spec.arrays)
    declared = ", ".join(
        f"{one.ctype} {'*' if one.extent else ''}{one.name}" for one in spec.arguments if one.access != "out"
    )
    passed = _passed(spec, [one for one in spec.arguments if one.access != "out"])
    call = f"inputs(seed, {passed});" if spec.inputs else "(void)seed, (void)scalars, (void)arrays;"
    before = f"void inputs(unsigned long seed, {declared});\n" if spec.inputs else ""
    return (
        f'{before}{_counts(spec)}extern const char maxcode_types[] = "{codes}";\n'
        f"void maxcode_fill(unsigned long seed, const long *scalars, void *const *arrays) {{\n    {call}\n}}\n"
    )


def _counts(spec: FunctionSpec) -> str:
    return f"const int maxcode_scalars = {len(spec.scalars)}, maxcode_arrays = {len(spec.arrays)};\n"


def _passed(spec: FunctionSpec, arguments: Sequence[Argument]) -> str:
    scalars, arrays = list(spec.scalars), list(spec.arrays)
    return ", ".join(
        f"({one.ctype} *)arrays[{arrays.index(one)}]" if one.extent else f"({one.ctype})scalars[{scalars.index(one)}]"
        for one in arguments
    )
