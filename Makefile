# Each target sets up what it needs. `make` alone lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := dev,eval,serve,onnx,ray,docs,ja
# On a machine with a GPU: `make CONSTRAINTS= test` takes the CUDA build of torch.
CONSTRAINTS ?= constraints-cpu.txt
PIP    := $(BIN)/python -m pip install --quiet $(if $(CONSTRAINTS),-c $(CONSTRAINTS))

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench docs clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready-dev ## make the virtual environment (re-used while it is up to date)

$(VENV)/.ready: pyproject.toml constraints-cpu.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(PIP) -e '.[$(EXTRAS)]'
	@touch $@

demo: $(VENV)/.ready ## show what levt does, on this machine, now
	@$(BIN)/levt demo

lint: setup ## format check, lint, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint ## everything a change must pass
	$(BIN)/pytest -n 2

bench: setup ## speed of the oracle, beside its rivals, on this machine
	$(BIN)/python benchmarks/oracle.py

docs: setup ## build the documentation into site/, without network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
