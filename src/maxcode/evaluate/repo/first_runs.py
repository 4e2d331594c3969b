"""What base's build, tests and first runs gave.  A run that goes on finds them again (``ladder/kept_admissions.py``),
because the admission of a repository may take an hour; a new run, ``evaluate`` and a certificate admit base anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from maxcode.core.types import HotFunction
from maxcode.evaluate.ladder.kept_admissions import SYSTEM, stamps
from maxcode.evaluate.repo.commands import Place
from maxcode.sandbox import session_layout
from maxcode.sandbox.jobs import Blob

FOLDER = "bases"  # of the cache
# What every session for a build shows of this machine, or where links from there lead.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


@final
@dataclass(frozen=True, slots=True)
class FirstRuns:
    """What base's build, tests and first runs gave.

    ``built``: an archive of all files after the build; empty without one.  ``second``: in which it was packed.
    ``counts``: the summary of the tests.  ``outputs``, ``seconds``: of each run of the benchmark, on the clock of the
    goal.  ``canary``: the test file that takes the test that must fail.
    ``build_s``, ``test_s``, ``benchmark_s``, ``all_s``: wall seconds; of the slowest run of the benchmark, and of the
    whole admission.
    ``hot``, ``outside``, ``tools``: as in ``Facts``.
    """

    built: bytes
    build_s: float
    test_s: float
    benchmark_s: float
    counts: Mapping[str, int]
    outputs: tuple[bytes, ...]
    seconds: tuple[float, ...]
    hot: tuple[HotFunction, ...]
    second: int
    canary: str = ""
    all_s: float = 0.0
    outside: float | None = None
    tools: tuple[str, ...] = ()


def parts(place: Place, tree: Blob) -> dict[str, Iterable[str]]:
    """What they rest on besides what each admission does.  ``tree``: the files of base after its set-up."""
    return {
        f"a file of base{' after its set-up' * bool(place.problem.spec.repo_spec.setup)}": (tree.sha256,),
        SYSTEM: stamps((*_SYSTEM, *session_layout.SETTINGS)),
        "a file in a folder of `show`": stamps(str(folder) for folder, _ in place.binds),
    }
