"""Memory that steps add: it is freed, it is not shared, and names mean the arrays that a step takes them for."""

from __future__ import annotations

import pytest

from tests.policy.test_kernels_declines import offered
from tests.policy.test_kernels_steps import function
from tests.policy.test_kernels_waits import FILTER

PIVOT = """for (int k = 0; k < n; k++)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = A[i * n + j] / 2.0 + A[i * n + k] * A[k * n + j];"""
SCAN = "for (int j = 1; j < n; j++) A[j] = B[j] + 0.5 * A[j - 1];"


@pytest.mark.parametrize(
    ("leave", "macro"),
    [
        ("if (t > 3) return;", ""),
        ("if (t > 3) LEAVE;", "#define LEAVE return"),
        ("if (t > 3) LEAVE;", "#define LEAVE AWAY\n#define AWAY goto out"),
        ("if (t > 3) GO_ON;", "#define GO_ON continue"),
    ],
)
def test_nothing_leaves_a_nest_before_its_memory_is_freed(leave: str, macro: str) -> None:
    inside = FILTER.replace("double s;", "").replace("s = 0.0", "double s = 0.0")
    for step, nest in (("pivots", PIVOT), ("rowwise", inside)):
        text = function(f"for (int t = 0; t < m; t++) {{ {leave} {nest} }}")
        assert bool(offered(f"{macro}\n{text}", step)) == ("continue" in macro), step


@pytest.mark.parametrize(
    ("pragma", "is_taken"),
    [
        ("#pragma omp simd", False),
        ("#pragma omp taskloop", False),
        ("#pragma omp target teams distribute parallel for", False),
        ("#pragma acc parallel loop", False),
        ("#pragma GCC ivdep", False),
        ("#pragma GCC unroll 2", True),
    ],
)
def test_iterations_that_run_together_share_no_memory(pragma: str, is_taken: bool) -> None:
    for step, nest in (("pivots", PIVOT), ("scan", SCAN)):
        text = function(f"{pragma}\nfor (int t = 0; t < m; t++) {{ {nest} }}")
        assert bool(offered(text, step)) == is_taken, step


@pytest.mark.parametrize("step", ["scan", "carry", "pivots", "divide_once"])
def test_an_array_that_hides_a_parameter_is_not_taken_for_it(step: str) -> None:
    nests = f"{PIVOT} {SCAN} for (int i = 0; i < n; i++) {{ C[i] = 2 / A[i]; B[i] = 3 / A[i]; }}"
    loop = "for (int t = 0; t < m; t++) {{ {} {} }}"
    assert offered(function(loop.format("", nests)), step)
    assert offered(function(loop.format("int A[99];", nests)), step) == []
