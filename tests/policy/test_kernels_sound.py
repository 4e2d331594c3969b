"""Steps that would change what a kernel computes, in ways that its output may not show: none of them is offered."""

from __future__ import annotations

from tests.policy.test_kernels_declines import offered, taken

SEIDEL = """void f(int m, int n, double *A) {
    for (int t = 0; t < m; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) A[i * n + j] = (A[(i - 1) * n + j + 1] + A[i * n + j]) / 2.0;
}
"""


def test_time_is_tiled_along_an_axis_only_if_nothing_in_one_step_goes_back_along_it() -> None:
    for text, counts in ((SEIDEL, {"axes=1"}), (SEIDEL.replace("j + 1", "j - 1"), {"axes=1", "axes=2"})):
        assert {label[18:24] for label in offered(text, "time_tile") if "(t in f" in label} == counts


KEPT = """void f(int n, int m, double *A, double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) { double t = A[i * n + j] * 2; B[i * n + j] = t; C[i * n + j] = t + 1; }
}
"""


def test_a_scalar_of_a_loop_that_threads_share_stays() -> None:
    assert "expand(j in f)" in offered(KEPT, "expand")
    assert offered(taken(KEPT, "parallel(i in f"), "expand") == []


def test_a_scalar_gets_no_array_whose_size_changes_in_the_nest() -> None:
    grows = KEPT.replace("        for (int j", "      { for (int j").replace(
        "C[i * n + j] = t + 1; }", "C[i * n + j] = t; } n = n + 1; }"
    )
    assert offered(grows, "expand") == []
    assert "expand(j in f)" in offered(grows.replace("n = n + 1", "A[0] = n"), "expand")
