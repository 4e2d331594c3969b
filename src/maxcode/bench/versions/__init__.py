"""``maxcode race``: two versions of a program, or two commands, raced and judged on both sides."""

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.result import VersionsRaced
from maxcode.bench.versions.version_race import race_versions

__all__ = ["RaceAsked", "VersionsRaced", "race_versions"]
