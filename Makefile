# Everything a clean clone needs: `make demo`, `make test`. Only python3 (3.11 or newer, with venv) and make are required.

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
CONSTRAINTS := constraints.txt
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
WORKERS ?= 2
N ?= 1000
SEED ?= 1

# Tests start many processes. Where compiled modules may not be kept, each of them compiles all of them again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
AXE := 4.11.0

.PHONY: help demo test test-all test-lowest test-long test-browser notebooks campaign check docs install clean clean-env

help: ## say what can be made
	@echo "painleve: mechanisms with unilateral contact and dry friction as hybrid automata"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile
	@echo "  PYTHON=python3.12 chooses the interpreter, WORKERS=4 the number of test processes"

demo: $(READY) ## write out/rod_on_incline.html for a paradoxical state and print the verdict
	@mkdir -p out
	@echo "==> a rod pushed over a rough plane, mu = 3/2: verdict, map of the paradox, automaton"
	@$(BIN)/painleve report rod_on_incline --param mu=3/2 \
	    --pin phi=pi/3 --pin phi_dot=1/2 --pin slip.tip=-1 -o out/rod_on_incline.html

test: $(READY) ## run the test suite (the quick one)
	@echo "==> running the test suite on $(WORKERS) processes"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -q

test-all: ## run the test suite on every Python from 3.11 to 3.14 that this machine has
	@for python in $(PYTHONS); do \
	    if $$python -c 'import venv, ensurepip' 2>/dev/null; then \
	        echo "==> $$($$python --version)"; $(MAKE) --no-print-directory test PYTHON=$$python VENV=.venv-$${python##*/} || exit 1; \
	    else echo "==> $$python was not found: left out"; fi; done

test-lowest: ## run the test suite with the oldest versions of the libraries that pyproject.toml allows
	@$(MAKE) --no-print-directory test VENV=.venv-lowest CONSTRAINTS=constraints-lowest.txt

test-long: $(READY) ## run the tests that take minutes
	@echo "==> running the long tests on $(WORKERS) processes"
	@$(BIN)/python -m pytest -n $(WORKERS) -q -m long

test-browser: $(READY) ## drive the explorer in a headless Chromium (chromium, ffmpeg and npm are needed)
	@for tool in chromium ffmpeg npm; do command -v $$tool >/dev/null || { \
	    echo "error: '$$tool' was not found; install it (Debian and Ubuntu: apt install chromium ffmpeg npm)" >&2; exit 1; }; done
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[browser]'
	@npm install --prefix out/browser --silent --no-audit --no-fund axe-core@$(AXE)
	@echo "==> driving the explorer in a browser"
	@$(BIN)/python -m pytest -q -m browser tests/browser

notebooks: $(READY) ## execute the notebooks of examples/ and keep what they show
	@$(BIN)/python -m tests.notebooks

campaign: $(READY) ## compare answers with independent computations: N=1000 SEED=1 ONLY="verdicts motions"
	@$(BIN)/python -m tests.campaigns $(ONLY) -n $(N) --seed $(SEED)

check: $(READY) ## ruff, mypy --strict, the order of imports, spelling and the glossary's words
	@echo "==> ruff: style and likely bugs"
	@$(BIN)/ruff check .
	@echo "==> mypy --strict"
	@$(BIN)/mypy
	@echo "==> import-linter: imports go only downwards"
	@$(BIN)/lint-imports
	@echo "==> codespell: words that are misspelt"
	@$(BIN)/codespell
	@echo "==> the words of the glossary"
	@$(BIN)/python -m pytest -q --no-header tests/test_style.py

docs: $(READY) ## build the site in docs/_build/html, and run every example of the documentation
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[docs]'
	@echo "==> running the examples in the docstrings and in the documentation"
	@$(BIN)/python -m pytest -q --no-header -n $(WORKERS) lcp hybrid mechanisms README.md docs
	@rm -rf docs/_build docs/generated
	@echo "==> building the site in docs/_build/html"
	@$(BIN)/python -m sphinx -W --keep-going -j $(WORKERS) -b html -d docs/_build/doctrees docs docs/_build/html

install: $(READY) ## make the environment in .venv, nothing else

# Renewed when what is to be installed changes, so that every target works from a clean clone.
$(READY): pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'pass' 2>/dev/null || { \
	    echo "error: '$(PYTHON)' was not found; install Python 3.11 or newer, or name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "error: '$(PYTHON)' is $$($(PYTHON) --version 2>&1), but 3.11 or newer is needed; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	    echo "error: '$(PYTHON)' has no venv module; install it (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	    echo "==> making the environment $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv --clear $(VENV); }
	@echo "==> installing painleve and its libraries into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c $(CONSTRAINTS) hatchling hatch-fancy-pypi-readme editables
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c $(CONSTRAINTS) --no-build-isolation -e '.[dev]'
	@touch $(READY)
	@echo "==> installed: $(BIN)/painleve --help"

clean: ## remove what was produced, keep the environment
	rm -rf out build dist docs/_build docs/generated .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find hybrid lcp mechanisms tests -name __pycache__ -type d -prune -exec rm -rf {} +

clean-env: clean ## remove the environment too
	rm -rf $(VENV) .venv-*
