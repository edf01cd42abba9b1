# Every check and every set-up step of the project, one command each.
# Needs: a Rust toolchain with rustfmt and clippy, python3 (3.10 or newer), make, cc.

PYTHON ?= python3
CARGO ?= cargo
FUZZ_SECONDS ?= 60

VENV := .venv
MODELS := .cache/models
VENV_STAMP := $(VENV)/.requirements-stamp
MODELS_STAMP := .cache/models.stamp
SCRIPT_TESTS := $(wildcard scripts/test_*.py scripts/tests/test_*.py)

# The lock file is part of the source: a build that would change it stops.
LOCKED := --locked
ALL := --workspace --all-features $(LOCKED)

.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The steps of a target run in the order written, also under `make -j`.
.NOTPARALLEL:

say = @printf '\n==> %s\n' "$(1)"

.PHONY: help
help: ## Print this list
	@printf 'Usage: make TARGET\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile
	@printf '\nVariables: PYTHON (%s), FUZZ_SECONDS (%s)\n' '$(PYTHON)' '$(FUZZ_SECONDS)'

.PHONY: build
build: ## Build everything in release mode
	$(CARGO) build --release $(ALL)

.PHONY: test
test: lint test-scripts test-rust docs test-models ## The whole gate: lint, tests, docs, real models

.PHONY: demo
demo: setup-models ## Show, deduplicate and compare real models
	PYTHON=$(VENV)/bin/python CARGO=$(CARGO) scripts/demo.sh

.PHONY: bench
bench: ## Run every benchmark
	$(CARGO) bench --workspace $(LOCKED)

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZ_SECONDS each
	$(CARGO) run --release $(LOCKED) -p isoform-fuzz -- --seconds $(FUZZ_SECONDS)

.PHONY: docs
docs: ## Build the API documentation; a warning is an error
	$(call say,API documentation)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps $(ALL)

.PHONY: lint
lint: lint-rust lint-python lint-deps ## Formatting, clippy, ruff, licences

.PHONY: fmt
fmt: $(VENV_STAMP) ## Format the Rust and Python sources
	$(CARGO) fmt --all
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix-only .

.PHONY: clean
clean: ## Delete everything that was built or fetched
	$(CARGO) clean
	rm -rf $(VENV) .cache .ruff_cache .pytest_cache

# ---- the parts of `make test` ------------------------------------------------

.PHONY: lint-rust
lint-rust:
	$(call say,rustfmt)
	$(CARGO) fmt --all -- --check
	$(call say,clippy)
	$(CARGO) clippy --all-targets $(ALL) -- -D warnings

.PHONY: lint-python
lint-python: $(VENV_STAMP)
	$(call say,ruff)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

# The tidy tests hold the dependencies to deny.toml in any case.
.PHONY: lint-deps
lint-deps:
	@if command -v cargo-deny >/dev/null 2>&1; then \
		printf '\n==> cargo deny\n'; \
		$(CARGO) deny $(LOCKED) check licenses bans sources; \
	fi

.PHONY: test-scripts
test-scripts: $(VENV_STAMP)
	$(call say,tests of the Python scripts)
	$(if $(SCRIPT_TESTS),$(VENV)/bin/python -m pytest,@echo 'no scripts/test_*.py')

.PHONY: test-rust
test-rust:
	$(call say,tests of the workspace)
	$(CARGO) test $(ALL)

# The tests of crates/isoform-cli/tests/models.rs: real models, and edited copies
# of them. The paths are absolute because cargo runs tests in the crate's folder.
.PHONY: test-models
test-models: export ISOFORM_MODELS := $(CURDIR)/$(MODELS)
test-models: export ISOFORM_PYTHON := $(CURDIR)/$(VENV)/bin/python
test-models: setup-models
	$(call say,tests on real models)
	$(CARGO) test $(ALL) --test models

# ---- set-up ------------------------------------------------------------------

.PHONY: setup-models
setup-models: $(MODELS_STAMP)

$(VENV_STAMP): scripts/requirements.txt
	$(call say,Python environment in $(VENV))
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo 'error: no $(PYTHON) here; install Python 3.10 or newer, or name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "error: $$($(PYTHON) --version 2>&1) is too old; Python 3.10 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo 'error: $(PYTHON) has no venv module; install the venv package of your Python' >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r scripts/requirements.txt
	@# The pins must satisfy each other; only magika, taken for its model, goes without.
	@! $(VENV)/bin/python -m pip check --disable-pip-version-check \
		| grep -v -e '^magika ' -e '^No broken requirements'
	@touch $@

$(MODELS_STAMP): scripts/fetch_models.py $(VENV_STAMP)
	$(call say,real models in $(MODELS))
	mkdir -p $(MODELS)
	$(VENV)/bin/python scripts/fetch_models.py $(MODELS)
	@touch $@
