"""Steps that would change what a kernel computes, in ways that its output may not show: none of them is offered."""

from __future__ import annotations

from tests.policy.test_kernels_declines import offered

SEIDEL = """void f(int m, int n, double *A) {
    for (int t = 0; t < m; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) A[i * n + j] = (A[(i - 1) * n + j + 1] + A[i * n + j]) / 2.0;
}
"""


def test_time_is_tiled_along_an_axis_only_if_nothing_in_one_step_goes_back_along_it() -> None:
    for text, counts in ((SEIDEL, {"axes=1"}), (SEIDEL.replace("j + 1", "j - 1"), {"axes=1", "axes=2"})):
        assert {label[18:24] for label in offered(text, "time_tile") if "(t in f" in label} == counts
