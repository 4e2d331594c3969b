"""Problems: a source file with a folder of tests, a folder with ``problem.toml``, or a name in a suite (``suites.py``;
``suite.py`` defines what a suite is).

Nothing is run here: files are read, checked and turned into a ``Problem``.  Admission checks whether the program builds
and passes its tests.
"""

from __future__ import annotations

from maxcode.problems.given_paths import PATHS, is_given
from maxcode.problems.identity import digest
from maxcode.problems.loading import Loaded, from_given, load
from maxcode.problems.started_with import named_files
from maxcode.problems.suite import LeftOut, Listing, Origin, Source
from maxcode.problems.suites import expanded, is_named
from maxcode.problems.survey import Surveyed, survey

__all__ = [
    "PATHS",
    "LeftOut",
    "Listing",
    "Loaded",
    "Origin",
    "Source",
    "Surveyed",
    "digest",
    "expanded",
    "from_given",
    "is_given",
    "is_named",
    "load",
    "named_files",
    "survey",
]
