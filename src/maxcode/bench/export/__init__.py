"""Exports runs in the formats of other projects: KernelBench's result files, and its score."""

from __future__ import annotations

from maxcode.bench.export.kernelbench_answers import Exported, export_kernelbench
from maxcode.bench.export.score import Score, fast_p, geometric_mean

__all__ = ["Exported", "Score", "export_kernelbench", "fast_p", "geometric_mean"]
