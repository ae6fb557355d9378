# Every verb has a help line; CI runs the same ones.
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
READY = $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup proto fmt lint types arch test test-quick test-e2e test-browser test-containers test-long bench docs lock site picture dist sbom licences audit release-sample release-check up down

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

test: $(READY) ## run every test but those of containers and the long suites
	$(BIN)/pytest -n 2 -m 'not long'

test-quick: $(READY) ## run the fast tests
	$(BIN)/pytest -n 2 -m 'not slow and not long'

test-e2e: $(READY) ## run the tests of whole processes
	$(BIN)/pytest -n 2 -m 'not long' tests/e2e tests/faults

test-browser: $(READY) ## test the web page in headless Chromium
	$(BIN)/pytest -m 'browser and not long' tests/browser

test-containers: $(READY) ## build the images and test them on a Docker engine
	$(BIN)/pytest -m 'containers and not long' tests/contract tests/containers

test-long: $(READY) ## run the kill loops and soaks (minutes to hours)
	$(BIN)/pytest -m long --timeout 7200

dist: $(READY) ## build wheel and sdist into dist/; the same tree gives the same bytes
	rm -rf dist
	$(BIN)/python scripts/release.py build

sbom: $(READY) ## write the bill of materials of what users install to dist/ (CycloneDX)
	$(BIN)/python scripts/release.py sbom

licences: $(READY) ## write the licences of what users install to dist/; fails on one that is refused
	$(BIN)/python scripts/release.py licences

audit: $(READY) ## look what users install up among published advisories (asks the package index)
	$(BIN)/python scripts/release.py audit

release-sample: $(READY) ## install the wheel on the oldest and newest Python and search with it; licences, bill of materials
	$(BIN)/pytest -m 'release and not long' tests/release

release-check: $(READY) ## the same, and every Python, and the unit tests with the oldest packages (minutes)
	$(BIN)/pytest -m release tests/release

bench: $(READY) ## measure the main claims of docs/benchmarks.md (some ten minutes)
	$(BIN)/python -m bench

site: $(READY) ## build the pages as a site in build/site; any broken link fails
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -b html . build/site

picture: $(READY) ## draw the terminal of README.md anew
	$(BIN)/python scripts/terminal_picture.py

docs: $(READY) ## write the generated pages in docs/
	$(BIN)/python scripts/generate_docs.py

lock: $(READY) ## choose anew the versions of packages that images install (deploy/constraints.txt)
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --custom-compile-command 'make lock' -o deploy/constraints.txt \
	  $(foreach image,embedder indexer searcher gateway,--group pyproject.toml:$(image))

COMPOSE = docker compose -f deploy/docker-compose.yml

up: ## start a team's everfind in containers (deploy/.env says what it indexes)
	$(COMPOSE) up --build --detach --wait
	@echo "clients need a token: $(COMPOSE) run --rm everfind token create NAME"

down: ## stop it; the index stays (add -v by hand to drop it)
	$(COMPOSE) down
