"""The readers of benchmark tools, on small texts in each tool's own form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maxcode.bench.versions.benchmark_rows import READERS, check_format, refuse_old_results, rows_of
from maxcode.errors import InputError
from maxcode.sandbox.session_layout import is_below, is_covered

PYTEST = {"benchmarks": [{"name": "t", "fullname": "a.py::t", "stats": {"min": 0.5, "mean": 0.7}}]}
GOOGLE = {
    "benchmarks": [
        {"name": "BM/8", "run_name": "BM/8", "run_type": "iteration", "real_time": 9, "cpu_time": 7, "time_unit": "us"},
        {"name": "BM/8", "run_name": "BM/8", "run_type": "iteration", "real_time": 8, "cpu_time": 6, "time_unit": "us"},
        {"name": "BM/8_mean", "run_name": "BM/8", "run_type": "aggregate", "real_time": 1, "cpu_time": 1},
    ]
}
GO = "goos: linux\nBenchmarkA-8   \t 100\t 12.5 ns/op\t 8 B/op\nBenchmarkA-8 100 11 ns/op\n"
GO += "BenchmarkB-8 1 2e3 ns/op\nPASS\n"


def test_each_tool_gives_one_value_a_benchmark() -> None:
    assert rows_of("pytest:b.json", b"", {"b.json": json.dumps(PYTEST).encode()}, "cpu") == {"a.py::t": 0.5}
    google = json.dumps(GOOGLE).encode()
    assert rows_of("google", google, {}, "cpu") == {"BM/8": pytest.approx(6e-6)}
    assert rows_of("google", google, {}, "wall") == {"BM/8": pytest.approx(8e-6)}
    assert rows_of("go", GO.encode(), {}, "cpu") == pytest.approx({"BenchmarkA-8": 1.1e-8, "BenchmarkB-8": 2e-6})
    assert rows_of("metric", b"METRIC a=3\nMETRIC a=2.5\nother\nMETRIC b=1e1\n", {}, "cpu") == {"a": 2.5, "b": 10.0}


def test_benchmarks_of_one_name_in_several_packages_are_kept_apart() -> None:
    text = "pkg: ex.org/a\nBenchmarkX-8 9 5 ns/op\nok ex.org/a 1s\npkg: ex.org/b\nBenchmarkX-8 9 7 ns/op\n"
    found = rows_of("go", text.encode(), {}, "cpu")
    assert found == pytest.approx({"ex.org/a.BenchmarkX-8": 5e-9, "ex.org/b.BenchmarkX-8": 7e-9})


@pytest.mark.parametrize("read", ["criterion:target/criterion", "pytest:b.json", "go:/tmp/../rows", "metric:/var/rows"])
def test_results_that_a_run_in_the_sandbox_cannot_write_are_refused_with_the_option_that_moves_them(read: str) -> None:
    with pytest.raises(InputError, match=f"write below /tmp .*--read {read.partition(':')[0]}:/tmp/PATH"):
        refuse_old_results(read)
    refuse_old_results(read.partition(":")[0])
    refuse_old_results("criterion:/tmp/criterion")


def test_criterion_is_a_folder_with_the_new_estimates_of_each_benchmark() -> None:
    def estimates(point: float) -> bytes:
        return json.dumps({"median": {"point_estimate": point}, "slope": None}).encode()

    files = {
        "criterion/group/one/new/estimates.json": estimates(2e9),
        "criterion/group/one/base/estimates.json": estimates(9e9),
        "criterion/report/index.html": b"<html>",
    }
    assert rows_of("criterion:target/criterion", b"", files, "cpu") == {"group/one": pytest.approx(2.0)}


@pytest.mark.parametrize("name", READERS)
def test_what_is_not_of_a_format_is_refused_with_the_cure(name: str) -> None:
    read = "criterion:target/criterion" if name == "criterion" else name
    with pytest.raises(InputError, match="--read"):
        rows_of(read, b"no results\n", {}, "cpu")


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
def test_a_time_that_is_no_positive_number_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="positive"):
        rows_of("metric", f"METRIC a={value}\n".encode(), {}, "cpu")


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(InputError, match="pytest"):
        check_format("pytst")
    with pytest.raises(InputError, match="CRITERION_HOME=/tmp/criterion COMMAND"):
        check_format("criterion")


@pytest.mark.parametrize("form", ["pytest", "google"])
def test_results_that_are_nested_too_deeply_are_refused_in_words(form: str) -> None:
    with pytest.raises(InputError, match="the results are not those of"):
        rows_of(form, b'{"benchmarks": ' + b"[" * 200_000, {}, "cpu")


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1e999", "NaN", "[[", "-1", "null", "9" * 5000])
def test_no_number_of_a_benchmark_ends_a_race_without_words(value: str) -> None:
    text = f'{{"benchmarks": [{{"name": "t", "stats": {{"min": {value}}}}}]}}'.encode()
    with pytest.raises(InputError, match=r"are not those of pytest|a time is a positive number"):
        rows_of("pytest", text, {}, "cpu")


def test_what_a_side_calls_its_benchmarks_can_be_printed_and_written() -> None:
    text = json.dumps({"benchmarks": [{"name": "a\x1b[2J\ud800", "stats": {"min": 2.0}}]}).encode()
    assert rows_of("pytest", text, {}, "cpu") == {"a\\x1b[2J\\ud800": 2.0}


@pytest.mark.parametrize(
    ("path", "is_in"),
    [
        ("/tmp/b", True), ("/tmp/./b/", True), ("/tmp", False), ("/tmp/", False), ("/tmp/../etc/x", False), ("", False),
        ("//tmp/b", False), ("tmp/b", False), ("/tmpx/b", False), ("/tmp/a/../b", False), ("./tmp/b", False),
    ],
)  # fmt: skip
def test_what_lies_below_tmp_is_told_in_one_way(path: str, is_in: bool) -> None:
    assert is_below(path, "/tmp") is is_in


def test_what_a_session_has_of_its_own_covers_what_is_above_and_below_it() -> None:
    assert all(is_covered(Path(one)) for one in ("/", "/tmp", "/usr/local/x", "/src", "/proc/1"))
    assert not any(is_covered(Path(one)) for one in ("/opt/tmp", "/home", "/source", "/side"))
    assert is_covered(Path("/side/a"), ("/side",))
