# symgen: make help lists the targets
# The Python of the environment: PYTHON=python3.12 makes .venv anew if another one has made it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
SAMPLES := pendulum ur5 panda
# What `make test` installs besides symgen: EXTRAS=dev has every library that tests compare with.
EXTRAS ?= test,pinocchio
# The tests of `make test` and `make fresh`, all by default: TESTS="tests/cli -k help"
TESTS  ?=

.PHONY: help demo test test-all fresh quick sweep docs lint format types fuzz freeze freeze-check oracle oracle-mjcf mutants bench bench-batch bench-one-call bench-python bench-languages cuda bench-cuda generate \
        clean firmware firmware-docs gauntlet example-firmware adaptive-mpc standstill arm host release

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 20

# Stamps in the environment have the version of its Python in their names. Without PYTHON=... the
# environment that is there is used.
VERSION_OF = $(shell $(1) -c 'import platform; print(platform.python_version())' 2> /dev/null)
ifeq ($(origin PYTHON),file)
VERSION := $(or $(if $(wildcard $(BIN)/python),$(call VERSION_OF,$(BIN)/python)),$(call VERSION_OF,$(PYTHON)))
else
VERSION := $(call VERSION_OF,$(PYTHON))
endif
READY := $(VENV)/ready-$(VERSION)

$(READY): pyproject.toml constraints.txt
	@test -n "$(VERSION)" || { echo "cannot run '$(PYTHON)'; give PYTHON=python3.12 or the like"; exit 1; }
	@test "$$($(BIN)/python -c 'import platform; print(platform.python_version())' 2> /dev/null)" = "$(VERSION)" || \
	    { echo "making $(VENV) with Python $(VERSION)"; $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing symgen into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/with-%-$(VERSION): $(READY)
	@echo "installing symgen[$*] into $(VENV)"
	@$(PIP) --editable '.[$*]'
	@touch $@

# The stamp of an extra: $(call with,docs)
with = $(VENV)/with-$(1)-$(VERSION)

demo: $(READY) ## set up; UR5 URDF to C and Python, compiled and verified
	$(BIN)/symgen generate robots/ur5.urdf -o build/ur5
	$(BIN)/symgen verify build/ur5

test: $(call with,$(EXTRAS)) ## the tests (270 MB of packages; TESTS="tests/cli -k help" for some)
	$(BIN)/python -m pytest $(TESTS)

test-all: ## the tests with every library that they compare with (760 MB of packages)
	$(MAKE) --no-print-directory test EXTRAS=dev

fresh: ## make demo and make test in a clone, without an environment and without optional tools
	.ci/fresh $(TESTS)

release: ## what a release needs, without publishing: build, check, install and try the packages
	.ci/release

QUICK := house/test_architecture house/test_tests compiler/test_program compiler/test_tape_names reading/test_urdf \
         reading/test_assemble mechanics/test_tip_frames algorithms/test_kane languages/test_packed languages/test_samples \
         cli/test_jobfile algorithms/test_rates algorithms/test_counts

quick: $(call with,$(EXTRAS)) ## half a minute of the tests: reading, tape, algorithms against the textbook, counts, samples
	$(BIN)/python -m pytest $(QUICK:%=tests/%.py)

sweep: $(call with,dev) ## the tests on three times as many random robots (some minutes)
	SYMGEN_SEEDS=3 $(BIN)/python -m pytest -m 'slow or not slow'

docs: $(call with,docs) ## the site, in build/site; what a page shows is run by the tests
	$(BIN)/sphinx-build -q -W --keep-going -b html -d build/site-pages docs build/site
	@echo "open build/site/index.html"

lint: $(call with,lint) $(call with,test) ## ruff, and the style of pages and help texts (docs/style.toml)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -q -n 0 tests/house/test_style.py

figures: $(call with,dev) ## recount operations, and write every figure of the pages from the stored results (half a minute)
	$(BIN)/python -m benchmarks.figures

format: $(call with,lint) ## ruff format, and imports in order
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

types: $(call with,lint) ## mypy --strict
	$(BIN)/mypy

FUZZ ?= --inputs 20000 --minutes 30
fuzz: $(call with,test) ## 20,000 odd inputs in half an hour (FUZZ="--minutes 120 --inputs 1000000 --seed 1")
	$(BIN)/python -m fuzz $(FUZZ)

oracle: $(call with,dev) ## every robot of example-robot-data and icub-models against Pinocchio (minutes)
	$(BIN)/python -m benchmarks.oracle

oracle-mjcf: $(call with,dev) ## every robot of mujoco-menagerie against MuJoCo (MODELS="FOLDER..." for others; minutes)
	$(BIN)/python -m benchmarks.oracle_mjcf $(MODELS)

FREEZE ?= --workers 2
freeze: $(call with,test) ## record digests of generated files, counts, exit statuses and texts in build/freeze.json (FREEZE=--quick)
	$(BIN)/python -m benchmarks.freeze $(FREEZE)

freeze-check: $(call with,test) ## list what differs from that record
	$(BIN)/python -m benchmarks.freeze --check $(FREEZE)

mutants: $(call with,test) ## what self-tests see: every literal of ten modules changed, 3,008 right modules (half an hour)
	$(BIN)/python -m benchmarks.mutants

arm: # compilers and emulators for Cortex-M and RV32
	@firmware/install.sh arm-none-eabi-gcc=gcc-arm-none-eabi,libnewlib-arm-none-eabi qemu-system-arm=qemu-system-arm \
	    riscv64-unknown-elf-gcc=gcc-riscv64-unknown-elf qemu-system-riscv32=qemu-system-misc

host: # compilers and analysers of the gauntlet
	@firmware/install.sh gcc=gcc g++=g++ clang=clang clang-tidy=clang-tidy tcc=tcc cppcheck=cppcheck valgrind=valgrind gappa=gappa

firmware: $(READY) arm ## every quantity of three robots on emulated Cortex-M: self-tests, stack, code, instructions
	$(BIN)/python -m firmware.target
	$(BIN)/python -m firmware.fixed_point

firmware-docs: $(READY) arm ## write docs/firmware-figures.md anew
	@mkdir -p build
	$(BIN)/python -m firmware.figures > build/figures.md && mv build/figures.md docs/firmware-figures.md
	$(BIN)/python -m firmware.controllers > build/figures.md && mv build/figures.md docs/controllers/firmware.md

gauntlet: $(READY) host ## every host check on every sample, and faults that they must catch
	$(BIN)/python -m firmware.gauntlet
	$(BIN)/python -m firmware.gappa

example-firmware: $(READY) arm ## a UR5 controller at 1 kHz on an emulated Cortex-M7
	@if command -v arm-none-eabi-gcc > /dev/null && command -v qemu-system-arm > /dev/null; \
	then $(MAKE) --no-print-directory -C examples/firmware run SYMGEN="'$(CURDIR)/$(BIN)/python' -m symgen"; \
	else echo "skipped: arm-none-eabi-gcc or qemu-system-arm is not installed"; fi

bench: $(call with,bench) ## beside Pinocchio and CasADi: docs/benchmarks/ anew (BENCH=--quick: a minute)
	$(BIN)/python -m benchmarks.bench $(BENCH)

bench-batch: $(call with,bench) ## batches beside single states and Pinocchio: docs/benchmarks/batch.md anew
	$(BIN)/python -m benchmarks.batch

bench-one-call: $(call with,bench) ## one call of inverse dynamics by flags: docs/benchmarks/one-call.md anew
	$(BIN)/python -m benchmarks.one_call

bench-languages: $(READY) ## one call and a batch in every language beside C: the figures of docs/languages/index.md
	$(BIN)/python -m benchmarks.languages

cuda: $(READY) ## registers and spilled bytes of CUDA kernels, as nvcc states them; needs no GPU
	$(BIN)/python -m benchmarks.cuda_registers

bench-cuda: $(READY) ## states/s of CUDA kernels beside what the GPU's memory allows, where there is a GPU
	$(BIN)/python -m benchmarks.cuda

standstill: $(READY) ## logs in which the arm stands still: are parameters within their errors? (ten minutes)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.standstill

bench-python: $(call with,bench) ## calls from Python beside Pinocchio, MuJoCo, Drake, frax: docs/benchmarks/python.md anew
	$(BIN)/python -m benchmarks.python_calls

adaptive-mpc: $(call with,mpc) ## a Panda with an unknown payload, estimated while it is controlled: docs/adaptive-mpc/ anew
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m examples.adaptive_mpc.run docs/adaptive-mpc
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.identifiability docs/adaptive-mpc

generate: $(READY) ## write the samples in generated/ and docs/quantities.md anew
	@for robot in $(SAMPLES); do $(BIN)/symgen generate robots/$$robot.urdf -o generated/$$robot || exit; done
	$(BIN)/symgen generate robots/quadruped.toml
	$(BIN)/symgen generate robots/ur5_q31.toml
	$(BIN)/python -m benchmarks.quantities > docs/quantities.md

three: ## bundle three.js for the viewer again (needs npm): templates/html/three.min.js
	cd templates/html/three && npm install --no-package-lock && npm run build
	@rm -rf templates/html/three/node_modules

clean: ## remove what was built (not the virtual environment)
	rm -rf build examples/firmware/build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
