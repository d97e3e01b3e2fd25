# symgen: make help lists the targets
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
SAMPLES := pendulum ur5 panda

.PHONY: help demo test sweep lint types oracle bench generate clean

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/ready: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing symgen into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	@echo "installing the tools for tests into $(VENV)"
	@$(PIP) --editable '.[dev]'
	@touch $@

$(VENV)/ready-bench: $(VENV)/ready-dev
	@echo "installing the competitors into $(VENV)"
	@$(PIP) --editable '.[bench]'
	@touch $@

demo: $(VENV)/ready ## set up; UR5 URDF to C and Python, compiled and verified
	$(BIN)/symgen generate robots/ur5.urdf -o build/ur5
	$(BIN)/symgen verify build/ur5

test: $(VENV)/ready-dev ## the tests
	$(BIN)/python -m pytest

sweep: $(VENV)/ready-dev ## the tests on three times as many random robots (some minutes)
	SYMGEN_SEEDS=3 $(BIN)/python -m pytest

lint: $(VENV)/ready-dev ## ruff
	$(BIN)/ruff check .

types: $(VENV)/ready-dev ## mypy --strict
	$(BIN)/mypy

oracle: $(VENV)/ready-dev ## every robot of example-robot-data against Pinocchio
	$(BIN)/python -m benchmarks.oracle

bench: $(VENV)/ready-bench ## beside Pinocchio and CasADi: docs/benchmarks/ anew (BENCH=--quick: a minute)
	$(BIN)/python -m benchmarks.bench $(BENCH)

generate: $(VENV)/ready ## write the samples in generated/ and docs/quantities.md anew
	@for robot in $(SAMPLES); do $(BIN)/symgen generate robots/$$robot.urdf -o generated/$$robot || exit; done
	$(BIN)/python -m benchmarks.quantities > docs/quantities.md

clean: ## remove what was built (not the virtual environment)
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
