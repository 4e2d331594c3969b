"""Numbers about the text of a program that need no compiler: words, nesting, techniques, the innermost loop."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple, final

from maxcode.code import techniques
from maxcode.code.languages import language as language_row
from maxcode.code.source import tokens

_WORDS = {
    "for": ("for",),
    "while": ("while", "do"),
    "if": ("if", "else", "switch", "elif"),
    "double": ("double", "float"),
    "long": ("long", "int64_t", "uint64_t", "size_t"),
    "int": ("int", "int32_t", "uint32_t", "unsigned", "short", "char"),
    "const": ("const", "constexpr"),
    "static": ("static", "inline", "register", "thread_local"),
    "aligned": ("aligned", "alignas", "aligned_alloc", "posix_memalign"),
    "allocation": ("malloc", "calloc", "realloc", "new", "free", "delete"),
    "array": ("vector", "array", "list", "deque"),
    "tree map": ("map", "set", "multimap", "multiset"),
    "hash map": ("unordered_map", "unordered_set", "dict"),
    "string": ("string", "str", "stringstream", "substr", "join"),
    "stream": ("cin", "cout", "endl", "getline", "ostringstream"),
    "stdio": ("printf", "scanf", "getchar", "putchar", "fread", "fwrite", "puts", "fgets", "print", "input"),
    "sort": ("sort", "stable_sort", "qsort", "sorted"),
    "grow": ("push_back", "emplace_back", "append", "insert", "erase", "push", "pop"),
    "reserve": ("reserve", "resize", "assign", "memset", "memcpy"),
    "sync": ("sync_with_stdio", "tie", "setvbuf"),
    "math": ("sqrt", "pow", "exp", "log", "sin", "cos", "fabs", "abs", "fma"),
    "auto": ("auto", "decltype", "move", "forward"),
    "break": ("break", "continue", "goto", "return"),
}
_SIGNS = {"subscripts": "[", "products": "*", "quotients": "/", "remainders": "%", "sums": "+", "calls": "(",
          "shifts": "<<", "references": "&"}  # fmt: skip
_GROUP = {word: name for name, words in _WORDS.items() for word in words}
_LOOSE = re.compile(r"\w+|<<|>>|[^\w\s]")
_SIZED = ("tile", "unroll", "vector")
_C_FAMILY = ("c", "cpp")

COUNTS = (
    "tokens",
    "lines",
    "depth",
    "directives",
    "numbers",
    "largest",
    *_WORDS,
    *_SIGNS,
    *techniques.TECHNIQUES,
    *_SIZED,
    *(f"inner: {name}" for name in techniques.Inner._fields),
)


@final
class Code(NamedTuple):
    """A text as numbers: ``counts`` in the order of ``COUNTS`` (logarithms of 1 + n, flags for techniques), and the bag
    of its tokens."""

    counts: tuple[float, ...]
    bag: Counter[str]


@lru_cache(maxsize=1 << 12)
def code(language: str, text: str) -> Code:
    """A text as numbers; cached, because a search needs the same programs many times."""
    is_c = language_row(language).grammar in _C_FAMILY
    found = tokens(text) if is_c else []
    words = [token.text for token in found] if is_c else _LOOSE.findall(text)
    bag = Counter(words)
    directives = sum(token.text == "#" and token.directive for token in found)
    numbers = [int(word) for word in words if word.isdecimal() and len(word) < 10]
    counted = [len(words), text.count("\n") + 1, _depth(words), directives, len(numbers), max(numbers, default=0)]
    groups: Counter[str] = Counter()
    for word, times in bag.items():
        if word in _GROUP:
            groups[_GROUP[word]] += times
    counted += [groups[name] for name in _WORDS]
    counted += [bag[sign] for sign in _SIGNS.values()]
    return Code((*(math.log1p(count) for count in counted), *_techniques(language, text)), bag)


def likeness(one: Counter[str], other: Counter[str]) -> float:
    """The share (0 to 1) of tokens that two texts have in common."""
    union = (one | other).total()
    return (one & other).total() / union if union else 1.0


def _depth(words: list[str]) -> int:
    depth = deepest = 0
    for word in words:
        depth += (word == "{") - (word == "}")
        deepest = max(deepest, depth)
    return deepest


def _techniques(language: str, text: str) -> list[float]:
    cell = techniques.cell(language, text)
    sizes = {name: int(size) for name, _, size in (word.partition("~") for word in cell) if size}
    flags = [float(name in cell) for name in techniques.TECHNIQUES]
    counted = [*(sizes.get(name, 0) for name in _SIZED), *techniques.innermost(language, text)]
    return flags + [math.log1p(count) for count in counted]
