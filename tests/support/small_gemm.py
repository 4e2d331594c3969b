"""The matrix product of the examples in a size for tests, and a better loop order for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from maxcode.core.types import Problem
from maxcode.evaluate.function.function import spec_of
from maxcode.problems import load

GEMM = Path(__file__).parents[2] / "examples" / "gemm"
IKJ = """#include <string.h>
#include "gemm.h"
void gemm(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}
"""


def small(folder: Path) -> Problem:
    problem = load(folder).problem
    function = replace(
        spec_of(problem), calls=40, timed=((120, 120, 120),), checked=((1, 1, 1), (7, 17, 5), (33, 8, 64))
    )
    return replace(problem, spec=replace(problem.spec, function=function))
