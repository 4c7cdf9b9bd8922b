# Two commands do all their own set-up: `make run` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: run test test-slow test-spark check format docs bench wheel try-wheel lock clean help

run: $(READY)  ## pick the best model of a small collection, in seconds
	@$(BIN)/modelpicker demo

test: check  ## all checks and all quick tests
	$(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal $(PYTEST)

test-slow: $(READY)  ## what takes longer or needs the network: a wheel in an empty environment
	$(BIN)/python -m pytest -m slow $(PYTEST)

test-spark: $(READY)  ## the tests with Spark: downloads pyspark (450 MB), and needs Java 17 or newer
	$(BIN)/python -m pip install --quiet "pyspark>=4"
	$(BIN)/python -m pytest tests/integrations/test_spark.py $(PYTEST)

check: $(READY)  ## ruff, mypy --strict, import-linter; the page's JavaScript: deno
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deno lint --quiet
	$(BIN)/deno check --quiet src/modelpicker/server/static

format: $(READY)  ## format and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY)  ## build the documentation site into site/; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "To read it, with search: $(BIN)/python -m http.server --directory site"

bench: $(READY)  ## speed, memory and start-up on this machine
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.walks
	$(BIN)/python -m benchmarks.shortcuts
	$(BIN)/python -m benchmarks.compiling
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.files
	$(BIN)/python -m benchmarks.realism
	$(BIN)/python -m benchmarks.experiments
	$(BIN)/python -m benchmarks.campaigns
	$(BIN)/python -m benchmarks.pacing
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.idle_campaigns
	$(BIN)/python -m benchmarks.cold_server
	$(BIN)/python -m benchmarks.first_question
	$(BIN)/python -m benchmarks.best
	$(BIN)/python -m benchmarks.page_weight
	$(BIN)/python -m benchmarks.validity
	$(BIN)/python -m benchmarks.certificates
	$(BIN)/python -m benchmarks.race
	$(BIN)/python -m benchmarks.pools
	$(BIN)/python -m benchmarks.designs
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.judges

wheel: $(READY)  ## build dist/modelpicker-*.whl
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

try-wheel: wheel  ## install the wheel into an empty environment, run its demo, and say how large it is
	$(BIN)/python -m tools.install_size dist/modelpicker-*.whl

lock: $(READY)  ## renew requirements.lock from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --upgrade \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		--extra all --group dev --group docs pyproject.toml --output-file requirements.lock

clean:  ## remove the environment and everything built
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "modelpicker needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "Setting up $(VENV) (once, about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)
