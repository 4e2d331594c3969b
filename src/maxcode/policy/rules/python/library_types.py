"""The types of what Python's own functions and methods return, as far as the rules for Python need them."""

from __future__ import annotations

Type = str | tuple[str, "Type"]

NEVER, ANY = "never", "any"
NUMBERS = frozenset({"int", "float", "bool"})
SCALARS = NUMBERS | {"str", "bytes", "none"}
TEXT: dict[str, Type] = {
    **dict.fromkeys(("lower", "upper", "strip", "lstrip", "rstrip", "replace", "join", "title", "capitalize"), "str"),
    **dict.fromkeys(("casefold", "swapcase", "zfill", "format", "center", "ljust", "rjust", "removeprefix"), "str"),
    **dict.fromkeys(("removesuffix", "expandtabs", "translate"), "str"),
    **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), "int"),
    **dict.fromkeys(("startswith", "endswith", "isdigit", "isalpha", "isalnum", "isspace", "isupper"), "bool"),
    **dict.fromkeys(("islower", "isnumeric"), "bool"),
    **dict.fromkeys(("split", "rsplit", "splitlines"), ("list", "str")),
}
CALLS: dict[str, Type] = {
    **dict.fromkeys(("int", "len", "ord"), "int"),
    **dict.fromkeys(("str", "chr", "repr", "input", "bin", "hex"), "str"),
    **dict.fromkeys(("bool", "isinstance", "any", "all"), "bool"),
    "float": "float",
    "range": ("range", "int"),
}
STDIN: dict[str, Type] = {"read": "str", "readline": "str", "readlines": ("list", "str")}
MATH = {**dict.fromkeys(("sqrt", "sin", "cos", "tan", "log", "log2", "log10", "exp", "atan2", "hypot"), "float"),
         **dict.fromkeys(("gcd", "lcm", "isqrt", "comb", "factorial", "floor", "ceil"), "int")}  # fmt: skip
