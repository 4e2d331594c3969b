"""What the scripts of base start stays as in base, and what they only name may be changed."""

from __future__ import annotations

import pytest

from maxcode.core.types import RepoSpec
from maxcode.evaluate.repo.allowed import is_script_of_base
from maxcode.evaluate.repo.started import ends_started, started_lines

SCRIPTS = {
    "package.json": '{"scripts": {"bench": "npm run load && node --expose-gc perf", "load": "node ci/load.js 9", '
    '"prebench": "./ready.sh", "start": "node index.js", "build": "esbuild src/index.js"}}',
    "Makefile": "x = python y.py\ncheck: app\n\t@$(PYTHON) tools/judge.py app\n"
    "\t$(CC) src/a.js -o app\n\tbash tools/all.sh\n",
    "go.sh": "cd ci &&\\\n  python3 -m timeit src/b.py\npython3 ci/timing.py\n",
}


def test_what_scripts_of_base_start_stays() -> None:
    spec = RepoSpec("/repo", "0" * 40, ("**",), "npm run bench", build="npm run build", tests="make check && ./go.sh")
    assert all(is_script_of_base(path, spec) for path in SCRIPTS)
    ends = ends_started(started_lines(SCRIPTS, ["npm", "run", "bench", "build", "make", "check"]))
    for path in (
        "perf.js",
        "perf/index.js",
        "ci/load.js",
        "ready.sh",
        "tools/judge.py",
        "tools/all.sh",
        "ci/timing.py",
    ):
        assert f"/{path}".endswith(ends), path
    assert "/ci/hooks.js".endswith(ends_started([], ["--require ./ci/hooks.js"]))
    for path in ("index.js", "src/index.js", "src/a.js", "y.py", "src/perfect.js", "lib/words.py"):
        assert not f"/{path}".endswith(ends), path


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("python3 -m tools.perf", "tools/perf.py"),
        ("python3 -m cProfile -s time tools/perf.py", "tools/perf.py"),
        ("python3 -u -W ignore tools/perf.py", "tools/perf.py"),
        ("./tools/perf.py", "tools/perf.py"),
        ("@time -p ./tools/perf.py", "tools/perf.py"),
        ("@env N=1 nice -n 5 ./tools/perf", "tools/perf"),
        ("${RUN} tools/perf.py", "tools/perf.py"),
        ("/usr/bin/time -f '%e s' -o t.txt ./tools/perf.py", "tools/perf.py"),
        ("perf stat ./tools/perf", "tools/perf"),
        ("( ' ' ); ./tools/perf", "tools/perf"),
        ("hyperfine -N './tools/perf.py 9'", "tools/perf.py"),
        ("$(Q)$(ROOT)/tools/perf.py", "tools/perf.py"),
        ("$(PYTHON) $(FLAGS) tools/perf.py", "tools/perf.py"),
        ("perl -w tools/perf.pl", "tools/perf.pl"),
        ("ruby tools/perf.rb", "tools/perf.rb"),
        ("bash tools/perf", "tools/perf"),
        ("bun perf.ts", "perf.ts"),
        ("go run ./cmd/perf", "cmd/perf/main.go"),
        ("coverage run tools/perf.py", "tools/perf.py"),
        ("node -r ./setup -e 'require(`./perf`)'", "perf.js"),
    ],
)
def test_what_a_line_of_a_makefile_starts_stays(line: str, path: str) -> None:
    assert f"/{path}".endswith(ends_started(started_lines({"Makefile": f"run:\n\t{line}\n"}, [])))


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("python3 -m cython -3 src/pkg/_fast.pyx", "src/pkg/_fast.pyx"),
        ("python -m black src/pkg/core.py", "src/pkg/core.py"),
        ("$(PYTHON) -m mypy --strict src/pkg/core.py", "src/pkg/core.py"),
        ("$(MYPY) src/pkg/core.py", "src/pkg/core.py"),
        ("$(FORMAT) src/pkg/core.py", "src/pkg/core.py"),
        ("python3 -c 'import core, sys'", "core.py"),
        ("python3 -u tools/gen.py src/pkg/core.py > src/pkg/tables.py", "src/pkg/core.py"),
        ("python3 -O tools/gen.py > src/pkg/tables.py", "src/pkg/tables.py"),
        ("bundle exec core.js", "core.js"),
        ("rm -rf node_modules src/core.js", "src/core.js"),
        ("esbuild --platform=node src/index.js", "src/index.js"),
        ("$(CC) -march=native src/a.c -lm src/core.py", "src/core.py"),
        ("gcc -mavx2 src/a.c -o app", "src/avx2.py"),
        ("perl -pi -e 's/a/b/' src/core.pl", "src/core.pl"),
    ],
)
def test_what_a_line_of_a_makefile_only_names_may_be_changed(line: str, path: str) -> None:
    assert not f"/{path}".endswith(ends_started(started_lines({"Makefile": f"run:\n\t{line}\n"}, [])))
