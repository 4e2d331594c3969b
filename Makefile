# Every command and what it does: `make help`. A command installs what it needs first: into .venv, and as root the
# missing system packages.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
# PyTorch is for tests and training only; `train` and `torch` accept any version from 2.4 on.
TORCH := $(shell sed -n 's/^torch==//p' constraints.txt)
CORE := $(VENV)/.core
DEV := $(VENV)/.dev

# Two processes: most tests wait for a compiler, and what is timed takes turns anyway.
PYTEST := $(BIN)/pytest -n 2 --dist worksteal
# Tests start hundreds of short processes; without kept byte code each of them compiles maxcode again.
unexport PYTHONDONTWRITEBYTECODE
# What a first `make test` leaves out: the machine may lack a browser, Slurm and compilers, and nothing else needs
# benchmarks/.
EXTRA := slow or browser or slurm or benchmarks or toolchains
# `make check` also leaves out tests that need the sandbox, and those that take seconds of CPU each.

.PHONY: help env dev demo doctor demo-llm demo-rl redteam check lint ruff types quick fmt test test-all constraints docs clean
.DEFAULT_GOAL := help

help:
	@echo 'Use maxcode (needs Python 3.11, gcc, g++ and bubblewrap; no PyTorch, no model, no key):'
	@echo '  make demo         work on three examples and print a table: about two minutes from a fresh clone'
	@echo '  make env          install maxcode into .venv and no more: then .venv/bin/maxcode'
	@echo '  make doctor       show whether this machine has what maxcode needs'
	@echo '  make redteam      try every cheat of the gallery on this machine (TIER=2: in that tier of the sandbox)'
	@echo '  make demo-llm     replay recorded answers of a language model and measure them here: no key, no network'
	@echo '  make demo-rl      train a small policy from random weights on measured GFLOPS (installs PyTorch)'
	@echo
	@echo 'Work on maxcode (installs PyTorch and the development tools, about 2 GB):'
	@echo '  make check        lint, types, and the quick tests, which need no sandbox: about a minute, for every change'
	@echo '  make test         lint, types, and the tests but slow, browser, Slurm, compiler and benchmark tests'
	@echo '  make test-all     lint, types, and all tests; also installs Chromium, Slurm, and compilers of Rust, Go and Java'
	@echo '  make lint         lint and types alone'
	@echo '  make fmt          format, and fix what ruff can fix'
	@echo '  make docs         build the docs site with the Python API, in site/'
	@echo '  make constraints  choose the newest version of every dependency and write constraints.txt'
	@echo '  make clean        delete the environment, caches and runs'

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "maxcode needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=..."; exit 1; }
	@sh scripts/system-packages.sh
	@echo "creating the environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml constraints.txt | $(BIN)/pip
	@sh scripts/system-packages.sh
	@echo 'installing maxcode'
	@$(PIP) -e .
	@touch $@

$(DEV): $(CORE)
	@sh scripts/system-packages.sh test
	@echo 'installing PyTorch and the development tools: some minutes'
	@$(PIP) torch==$(TORCH)
	@$(PIP) -e '.[dev]'
	@touch $@

env: $(CORE)

dev: $(DEV)

# The cap bounds the demo on a busy machine; the last of the three cannot be made faster.
demo: $(CORE)
	$(BIN)/python benchmarks/examples.py --out runs/demo --budget 8 --max-seconds 20 readings gemm tight

doctor: $(CORE)
	$(BIN)/maxcode doctor

redteam: $(CORE)
	$(BIN)/python benchmarks/redteam.py --again $(if $(TIER),--sandbox $(TIER))

# One of the recorded problems is a PyTorch module, which only the development tools bring.
demo-llm: $(CORE)
	$(BIN)/python benchmarks/recorded.py

demo-rl: $(DEV)
	$(BIN)/maxcode train demo --out runs/demo-rl

fmt: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: ruff types

ruff: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEV)
	$(BIN)/mypy

quick: $(DEV)
	$(PYTEST) -q -m 'not sandbox and not heavy and not ($(EXTRA))'

check: $(DEV)
	@$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=target ruff types quick

test: lint
	$(PYTEST) --durations 25 -m 'not ($(EXTRA))'

test-all: lint
	@sh scripts/system-packages.sh test browser slurm toolchains
	$(PYTEST) --durations 25

constraints:
	sh scripts/constraints.sh

# The site needs neither a compiler nor PyTorch: mkdocstrings reads the sources and imports nothing.
docs: $(CORE)
	@$(PIP) -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) runs build dist site .pytest_cache .mypy_cache .ruff_cache
