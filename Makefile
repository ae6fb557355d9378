# Every verb has a help line; CI runs the same ones.
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
READY = $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup proto fmt lint types arch test test-quick test-long bench docs

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## make the virtual environment with everything that development needs

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --editable . --group dev
	touch $@

proto: $(READY) ## generate the stubs in proto/gen from the contracts
	$(BIN)/python scripts/generate_stubs.py

fmt: $(READY) ## format the code and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/buf format proto --write

lint: $(READY) ## check style, the contracts' lint, and that generated files are fresh
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/buf lint proto
	$(BIN)/buf format proto --diff --exit-code
	$(BIN)/buf breaking proto --against proto/baseline.binpb
	$(BIN)/python scripts/generate_stubs.py --check
	$(BIN)/python scripts/generate_docs.py --check

types: $(READY) ## check types (mypy strict, pyright)
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

arch: $(READY) ## check who imports whom
	$(BIN)/lint-imports

test: $(READY) ## run every test but the long suites
	$(BIN)/pytest -n 2 -m 'not long'

test-quick: $(READY) ## run the fast tests
	$(BIN)/pytest -n 2 -m 'not slow and not long'

test-long: $(READY) ## run the kill loops and soaks (minutes to hours)
	$(BIN)/pytest -m long --timeout 7200

bench: $(READY) ## measure the claims of docs/benchmarks.md (minutes)
	$(BIN)/python -m bench

docs: $(READY) ## write the generated pages in docs/
	$(BIN)/python scripts/generate_docs.py
