"""The suites, and the one place where names become problems: ``expanded``.

    kernelbench:1/19   pie:test   polybench:gemm   algotune:convex_hull   folder:examples   suite.toml

A new suite is a file with an object that has the two methods of ``suite.Suite``, and a row in ``SUITES``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from maxcode.errors import InputError
from maxcode.problems.algotune import AlgoTune
from maxcode.problems.folders import Folder
from maxcode.problems.kernelbench import KernelBench
from maxcode.problems.mixture import is_mixture, mixture
from maxcode.problems.pie import Pie
from maxcode.problems.polybench import Polybench
from maxcode.problems.suite import Given, Listing, Source, Suite

SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        "kernelbench": KernelBench(),
        "pie": Pie(),
        "polybench": Polybench(),
        "algotune": AlgoTune(),
        "folder": Folder(),
    }
)


def is_named(source: Path) -> bool:
    """Whether ``source`` is the name of a suite's problem rather than a path."""
    return str(source).partition(":")[0] in SUITES and ":" in str(source)


def given(source: Path) -> Given:
    """The problem of that name; InputError, with a remedy, if it cannot be found."""
    suite, words = _parts(source)
    return suite.given(words)


def expanded(sources: Iterable[Path]) -> Listing:
    """The problems behind paths, names and files ``suite.toml``, each problem once, in order.

    InputError if the data of a suite is missing, a name is unknown, or one problem is requested with different options.
    """
    found: dict[Path, Source] = {}
    parts = [mixture(source, _plain) if is_mixture(source) else _plain(source) for source in sources]
    for one in (one for part in parts for one in part.sources):
        if found.setdefault(one.path, one) != one:
            raise InputError(f"{one.path} is named twice, with different options; leave one of them out")
    left_out = dict.fromkeys(one for part in parts for one in part.left_out)
    return Listing(tuple(found.values()), tuple(left_out))


def _plain(source: Path) -> Listing:
    if not is_named(source):
        return Listing((Source(source),))
    suite, words = _parts(source)
    return suite.listing(words)


def _parts(source: Path) -> tuple[Suite, str]:
    name, _, words = str(source).partition(":")
    return SUITES[name], words
