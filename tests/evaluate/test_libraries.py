"""A function's helpers may be called like a library's routines; calls of a library's are refused early."""

from __future__ import annotations

import pytest

from maxcode.core.types import Program
from maxcode.evaluate.function.libraries import forbidden


@pytest.mark.parametrize(
    "text",
    [
        "static void micro_gemm_(int n, const double (*restrict a)[8]) { }",
        "static void micro_gemm_(int n) noexcept { }",
        "static void micro_gemm_(int n) __attribute__((noinline)) { }",
        "#define micro_gemm_(a) (2 * (a))\nint f(void) { return micro_gemm_(3); }",
    ],
)
def test_what_a_program_defines_itself_is_its_own(text: str) -> None:
    assert forbidden(Program({"f.c": text})) is None


@pytest.mark.parametrize(
    "text",
    [
        "void f(void) { dgemm_(1); }",
        "void f(void) { if (dgemm_(a)) { } }",
        "void dgemm_(int);\nvoid f(void) { dgemm_((1)); { } }",
    ],
)
def test_what_it_calls_and_does_not_define_is_not(text: str) -> None:
    assert "dgemm_ is a BLAS" in (forbidden(Program({"f.c": text})) or "")
