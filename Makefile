# make run    set up what is needed and serve the app on the embedded engine
# make test   everything CI runs, Chromium included
# make bench  first sound and page overhead, measured in Chromium

PYTHON ?= python3
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/omni-live
ARGS ?=

OMNI_FILES := requirements-omni-cpu.txt $(wildcard plugins/omni_cpu/pyproject.toml plugins/omni_cpu/omni_cpu/*.py)
fingerprint = $(shell cat $(1) pyproject.toml | sha256sum | cut -c1-12)-$(shell $(PYTHON) -c 'import sys; print("py%d%d" % sys.version_info[:2])')
RUN_ENV := $(CACHE)/run-$(call fingerprint,requirements-embedded.txt)
DEV_ENV := $(CACHE)/dev-$(call fingerprint,requirements-embedded.txt requirements-dev.txt)
OMNI_ENV := $(CACHE)/omni-$(call fingerprint,$(OMNI_FILES) requirements-dev.txt)

.PHONY: run test lint unit embedded browser omni bench assets clean

run: $(RUN_ENV)/ready
	$(RUN_ENV)/bin/python app.py $(ARGS)

# Two parts at a time, the longest first: each waits much, for sounds to be played or stages to
# start. What each says comes whole, when it has ended.
test:
	@PYTHON="$(PYTHON)" deploy/debian-packages.sh venv chromium
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint browser unit embedded omni

lint: $(DEV_ENV)/ready
	$(DEV_ENV)/bin/ruff check .
	$(DEV_ENV)/bin/ruff format --check .
	$(DEV_ENV)/bin/mypy

unit: $(DEV_ENV)/ready
	$(DEV_ENV)/bin/python -m pytest -m "not embedded and not browser and not omni and not gpu" $(ARGS)

embedded: $(DEV_ENV)/ready
	$(DEV_ENV)/bin/python -m pytest -m "embedded and not browser" $(ARGS)

browser: $(DEV_ENV)/ready
	@deploy/debian-packages.sh chromium
	$(DEV_ENV)/bin/python -m pytest -m browser $(ARGS)

omni: $(OMNI_ENV)/ready
	@deploy/debian-packages.sh chromium
	$(OMNI_ENV)/bin/python -m pytest tests/omni tests/deploy/test_profiles_in_vllm_omni.py plugins $(ARGS)

bench: $(DEV_ENV)/ready
	@deploy/debian-packages.sh chromium
	$(DEV_ENV)/bin/python -m bench.first_sound $(ARGS)
	$(DEV_ENV)/bin/python -m bench.live $(ARGS)
	$(DEV_ENV)/bin/python -m bench.page_overhead $(ARGS)

assets: $(DEV_ENV)/ready
	$(DEV_ENV)/bin/python -m assets.make

# An environment is built beside its final place and moved there whole, so that one that was
# interrupted half-way is never taken for a finished one.
$(CACHE)/run-%/ready: FILES = requirements-embedded.txt
$(CACHE)/dev-%/ready: FILES = requirements-embedded.txt requirements-dev.txt
# vLLM starts five processes; where Python keeps no compiled code, each would compile it again.
$(CACHE)/omni-%/ready: export UV_COMPILE_BYTECODE = 1
$(CACHE)/omni-%/ready: export UV_COMPILE_BYTECODE_TIMEOUT = 600
$(CACHE)/omni-%/ready: FILES = requirements-omni-cpu.txt requirements-dev.txt
$(CACHE)/%/ready:
	@PYTHON="$(PYTHON)" deploy/debian-packages.sh venv
	deploy/make-env.sh "$(PYTHON)" "$(@D)" $(FILES)

clean:
	rm -rf $(CACHE)/run-* $(CACHE)/dev-* $(CACHE)/omni-*
