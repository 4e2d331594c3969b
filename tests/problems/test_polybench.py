"""A kernel of PolyBench/C becomes a function: taken out of its file, fresh inputs, its sizes, its work."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from maxcode.core.files import read_toml
from maxcode.core.types import Action, Argument, FunctionSpec, Outcome
from maxcode.errors import InputError
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import digest, expanded, load, polybench
from maxcode.problems.polybench import OURS, VARIABLE
from tests.support.polybench_help import GEMM, header, library, write_kernel

GEMM_ALONE = """#include "gemm.h"

void kernel_gemm(int ni, int nj, int nk, const double *alpha_in, const double *beta_in, double *C, const double *A, \
const double *B, double *row) {
    double alpha = alpha_in[0];
    double beta = beta_in[0];
  int last;

  for (int i = 0; i < ni; i++) {
    for (int j = 0; j < nj; j++) {
      row[j] = 0.0;
      for (int k = 0; k <= nk - 1; k++)
        row[j] += A[i * nk + k] * B[((k)) * nj + j]; /* slowly */
    }
    last = i;
    for (int j = nj-1; j >= 0; j--)
      C[last * nj + j] = C[i * nj + j] * beta - (-1.0) * alpha * row[j];
  }
}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return library(tmp_path)


def function(name: str) -> FunctionSpec:
    spec = load(Path(name)).problem.spec.function
    assert spec is not None
    return spec


@pytest.mark.usefixtures("place")
def test_a_kernel_is_taken_out_of_its_file_with_its_macros_resolved() -> None:
    loaded = load(Path("polybench:gemm/MINI"))
    problem = loaded.problem
    assert problem.program.files == {"gemm.c": GEMM_ALONE}
    assert (problem.id, problem.kind, problem.language) == ("polybench-gemm-mini", "function", "c")
    assert problem.spec.flags == ("-std=gnu17", "-O3", "-march=native")
    assert loaded.origin is not None
    assert loaded.origin.facts == {"size": "MINI"}
    spec = function("polybench:gemm/MINI")
    assert spec.header == GEMM_ALONE.splitlines()[2].removesuffix(" {") + ";\n"
    assert spec.arguments == (
        Argument("ni", "int"),
        Argument("nj", "int"),
        Argument("nk", "int"),
        Argument("alpha_in", "double", "1", "in"),
        Argument("beta_in", "double", "1", "in"),
        Argument("C", "double", "ni*nj", "inout"),
        Argument("A", "double", "ni*nk", "in"),
        Argument("B", "double", "nk*nj", "in"),
        Argument("row", "double", "nj", "scratch"),
    )


@pytest.mark.usefixtures("place")
def test_small_types_are_widened_for_the_harness_and_narrowed_for_the_kernel() -> None:
    spec = function("polybench:nussinov")
    assert spec.arguments[1:] == (Argument("seq_in", "int", "n", "in"), Argument("table", "int", "n*n", "inout"))
    text = load(Path("polybench:nussinov")).problem.program.text
    assert "char seq[n];\n    for (int i = 0; i < n; i++) seq[i] = (char)seq_in[i];" in text
    assert "#define same(a, b)" in text
    assert "unused" not in text
    assert "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)" in text
    assert "seq_in[i] &= 3" in spec.inputs


@pytest.mark.usefixtures("place")
def test_cubes_are_flattened_and_the_functions_of_a_type_are_those_of_c() -> None:
    text = load(Path("polybench:heat-3d")).problem.program.text
    assert "A[((i-1) * n + j) * n + k] = 0.5 * (B[(i * n + j-1) * n + k] + sqrt(B[(i * n + j) * n + k-1]" in text
    assert "t < tsteps" in text
    assert "#include <math.h>" in text


def test_a_pass_over_large_arrays_has_few_calls() -> None:
    a_matrix, steps = 2_000_000 * 8, 4_000_000
    calls, slots = polybench._calls(steps, a_matrix)
    assert 2 < calls * slots <= polybench._MOVED / a_matrix < polybench._PASS / steps
    assert polybench._calls(1_000_000, 8) == (7, 8)  # of 60, in whole rounds
    assert polybench._calls(steps, 1 << 27) == (2, 1)


@pytest.mark.usefixtures("place")
def test_sizes_are_those_of_the_set_and_small_odd_ones_are_verified_too() -> None:
    medium, mini = function("polybench:gemm"), function("polybench:gemm/mini")
    assert (medium.timed, mini.timed) == (((60, 70, 80),), ((20, 25, 30),))
    assert medium.checked == mini.checked
    assert len(set(mini.checked)) == 4
    assert any(size % 2 for sizes in mini.checked for size in sizes)
    assert mini.calls * mini.slots > medium.calls * medium.slots
    assert medium.flop == "2*ni*nj*nk + ni*nj"
    assert digest(load(Path("polybench:gemm")).problem) != digest(load(Path("polybench:gemm/MINI")).problem)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("name", ["polybench:", "polybench:all"])
def test_all_stands_for_every_kernel_in_the_order_of_names(name: str) -> None:
    found = [str(one.path) for one in expanded([Path(name)]).sources]
    assert found == ["polybench:gemm/MEDIUM", "polybench:heat-3d/MEDIUM", "polybench:nussinov/MEDIUM"]
    assert str(expanded([Path("polybench:gemm")]).sources[0].path) == "polybench:gemm/MEDIUM"


def test_a_kernel_that_cannot_be_used_is_left_out_of_all_with_the_reason(place: Path) -> None:
    sizes = header("mvt", N=(40, 400, 4000))
    write_kernel(place, "mvt", GEMM.replace("gemm", "mvt").replace("DATA_TYPE alpha", "struct scale alpha"), sizes)
    write_kernel(place, "bicg", "int main(void) { return 0; }", sizes)
    write_kernel(place, "atax", GEMM.replace("gemm", "atax").replace("C[i][j]);", "1);"), sizes)
    write_kernel(place, "trmm", GEMM.replace("gemm", "trmm"), "#define N 5\n")
    write_kernel(place, "ours", GEMM.replace("gemm", "ours"), sizes)
    listing = expanded([Path("polybench:all")])
    assert len(listing.sources) == 3
    told = {one.name: one.why for one in listing.left_out}
    for name, words in (
        ("mvt", "the parameter `struct scale alpha` is not one that the harness can pass"),
        ("bicg", "defines no function kernel_bicg"),
        ("atax", "print_array prints no array that kernel_atax writes"),
        ("trmm", "trmm.h has no sizes"),
        ("ours", "not a kernel of PolyBench/C 4.2.1"),
    ):
        assert words in told[f"polybench:{name}/MEDIUM"], name
    huge = {one.name: one.why for one in expanded([Path("polybench:all/EXTRALARGE")]).left_out}
    assert "its arrays hold 1854 MB, the limit is 256 MB" in huge["polybench:gemm/EXTRALARGE"]
    with pytest.raises(InputError, match="defines no function kernel_bicg"):
        load(Path("polybench:bicg"))


@pytest.mark.parametrize(
    ("damage", "cure"),
    [
        ((GEMM, "A[i][k]", "A[i]"), "A is used with less than 2 subscripts"),
        ((GEMM, "SCALAR_VAL(0.0)", "SCALAR_VAL(x)"), r"SCALAR_VAL\(x\) is no number"),
        ((GEMM, "#pragma endscop", "#ifdef A\n#endif"), "a directive that cannot be resolved"),
    ],
)
def test_what_is_not_understood_of_a_text_is_refused(place: Path, damage: tuple[str, str, str], cure: str) -> None:
    text, before, after = damage
    (place / "linear-algebra" / "blas" / "gemm" / "gemm.c").write_text(text.replace(before, after))
    with pytest.raises(InputError, match=cure):
        load(Path("polybench:gemm"))


def unset(_: Path, patched: pytest.MonkeyPatch) -> None:
    patched.delenv(VARIABLE)


def gone(place: Path, patched: pytest.MonkeyPatch) -> None:
    patched.setenv(VARIABLE, str(place / "gone"))


def without_kernels(place: Path, _: pytest.MonkeyPatch) -> None:
    (place / "linear-algebra").rename(place / "elsewhere")
    for path in place.glob("elsewhere/blas/*/*.h"):
        path.unlink()


@pytest.mark.parametrize("damage", [unset, gone, without_kernels])
@pytest.mark.parametrize("use", [lambda path: load(path), lambda path: expanded([path])], ids=["load", "expanded"])
def test_where_there_is_no_polybench_the_error_says_where_to_get_it(
    place: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[..., None], use: Callable[[Path], object]
) -> None:
    damage(place, monkeypatch)
    with pytest.raises(InputError, match=r"sourceforge.*MAXCODE_POLYBENCH.*blas/gemm/gemm\.c and gemm\.h"):
        use(Path("polybench:gemm"))


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("polybench:gem", "did you mean 'gemm'"),
        ("polybench:gemm/LARG", "Known: EXTRALARGE, MEDIUM, MINI"),
        ("polybench:all/MINI", "name one of them, e.g. polybench:gemm/MINI"),
    ],
)
def test_a_name_that_is_not_one_kernel_gets_a_sentence_with_a_cure(name: str, cure: str) -> None:
    with pytest.raises(InputError, match=cure):
        load(Path(name))


def test_every_kernel_of_the_suite_is_known_with_its_work() -> None:
    known = read_toml(OURS)
    assert len(known) == 30
    assert all(("flop" in one) != ("ops" in one) for one in known.values())


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("right", [True, False])
def test_a_kernel_is_verified_and_timed_with_scratch_that_may_hold_anything(
    place: Path, right: bool, sandbox_evaluator: ProgramEvaluator
) -> None:
    faster = re.sub(r"row\[j\] = 0.0;", "double sum = 0.0;", GEMM_ALONE)
    faster = faster.replace("row[j] += A", "sum += A").replace(
        "    }\n    last", "      C[i * nj + j] = C[i * nj + j] * beta + alpha * sum;\n    }\n    last"
    )
    faster = re.sub(r"    last = i;\n.*?row\[j\];\n", "", faster, flags=re.DOTALL)
    assert "row[" not in faster
    problem = load(Path("polybench:gemm/MINI")).problem
    text = faster if right else faster.replace("alpha * sum", "sum")
    found = anyio.run(sandbox_evaluator.evaluate, problem, Action(problem.program.with_text(text)))
    assert found.outcome is (Outcome.CORRECT if right else Outcome.WRONG), found.feedback
    if right:
        assert found.timing is not None and found.timing.gflops is not None and found.timing.gflops.value > 0
    else:
        assert "relative error" in found.feedback.reasons[0]
