"""Where problems come from: a bare source file with a folder of tests, a folder with ``problem.toml``, or a name in a
suite (``suites.py``).

The first station of the flow.  Nothing is run here: files are read, checked and turned into a ``Problem``; whether the
program builds and passes its tests is found out at admission.
"""

from __future__ import annotations

from maxcode.problems.identity import digest
from maxcode.problems.loading import Loaded, load
from maxcode.problems.suites import Origin, expanded, is_named

__all__ = ["Loaded", "Origin", "digest", "expanded", "is_named", "load"]
