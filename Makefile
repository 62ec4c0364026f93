# Everything a contributor types. Needs Python >= 3.11, git and make; offline once installed.
# The recipes use the shell's own words and Python, nothing else, so that a bare machine can run them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types format bench bench-search bench-append bench-import bench-probe bench-delete bench-reconcile bench-redact bench-freshness clean

help:
	@echo "make demo    import the sample transcripts and search them (throw-away store)"
	@echo "make test    every check: lint, types, house rules, all tests"
	@echo "make check   the fast ones: lint, types, house rules"
	@echo "make format  let ruff write the layout and the fixes it is sure of"
	@echo "make bench   measure: bench-search, bench-append, bench-import, bench-probe, bench-delete, bench-reconcile, bench-redact, bench-freshness"
	@echo "make clean   remove $(VENV) and the caches"

# Two stamps: what the program needs, and what working on it needs. Each is made again when pyproject.toml changes.
$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "wesaid needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; say make PYTHON=python3.12, for example")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(PY) -m pip install --quiet --disable-pip-version-check --editable .
	@: > $@

# pip reads the dependency group `dev` of pyproject.toml since 25.1.
$(VENV)/developing: $(VENV)/installed
	$(PY) -m pip install --quiet --disable-pip-version-check --group dev
	@: > $@

demo: $(VENV)/installed
	$(PY) demo/run.py

test: lint types
	$(PY) -m pytest -n $(JOBS)

check: lint types
	$(PY) -m pytest -q tests/test_house.py tests/test_repository.py

lint: $(VENV)/developing
	$(PY) -m ruff check
	$(PY) -m ruff format --check

types: $(VENV)/developing
	$(PY) -m mypy

format: $(VENV)/developing
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

bench: bench-search bench-append bench-import bench-probe bench-delete bench-reconcile bench-redact bench-freshness

bench-search: $(VENV)/developing
	$(PY) -m bench.search

bench-append: $(VENV)/developing
	$(PY) -m bench.append

bench-import: $(VENV)/developing
	$(PY) -m bench.importing

bench-probe: $(VENV)/developing
	$(PY) -m bench.probe

bench-delete: $(VENV)/developing
	$(PY) -m bench.erase

bench-reconcile: $(VENV)/developing
	$(PY) -m bench.reconcile

bench-redact: $(VENV)/developing
	$(PY) -m bench.redact

bench-freshness: $(VENV)/developing
	$(PY) -m bench.freshness

clean:
	@$(PYTHON) -c 'import shutil; [shutil.rmtree(p, ignore_errors=True) for p in "$(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist".split()]'
