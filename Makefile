# make demo      the main job: real programs made faster, with intervals
# make demo-rl   a policy from random weights, trained on measured GFLOPS: corpus, pre-training, GRPO, report
# make test      lint, types, tests (under 20 minutes on two cores)
# make test-all  the same with the long checks
# make redteam   every cheat of the gallery against this machine, and the table (TIER=2: in that tier of the sandbox)
# make docs      the docs site with the Python API, in site/
# All of them build the environment first: .venv, and where it may the system packages that are missing.

PYTHON ?= python3
# For the tests of PyTorch modules; maxcode itself takes any.
TORCH := 2.13.0
VENV := .venv
BIN := $(VENV)/bin
# Two at once: most tests wait for a compiler; what is timed takes turns in any case.
PYTEST := $(BIN)/pytest -n 2 --dist worksteal --durations 25
STAMP := $(VENV)/.installed

.PHONY: env system browser slurm demo demo-rl test test-all lint redteam docs clean

env: system $(STAMP)

system:
	@sh scripts/system-packages.sh

browser:
	@sh scripts/system-packages.sh browser

slurm:
	@sh scripts/system-packages.sh slurm

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "maxcode needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=..."; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(STAMP)

demo: env
	$(BIN)/maxcode doctor
	$(BIN)/python benchmarks/examples.py --budget 24 --out runs/demo readings orbits gemm tight

demo-rl: env
	$(BIN)/maxcode train demo --out runs/demo-rl

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: browser lint
	$(PYTEST) -m 'not slow'

test-all: browser slurm lint
	$(PYTEST)

redteam: env
	$(BIN)/python benchmarks/redteam.py --again $(if $(TIER),--sandbox $(TIER))

# The site needs neither a compiler nor PyTorch: mkdocstrings reads the sources and imports nothing.
docs:
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) runs build dist site .pytest_cache .mypy_cache .ruff_cache
