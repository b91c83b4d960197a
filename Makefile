# All commands of a developer. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .venv/bin
JOBS ?= 3
WALKS_OF_CALLS := tests/migrations tests/client/test_typed.py tests/plans/test_list_plans.py tests/e2e/test_secrets.py \
	$(addprefix tests/api/test_,answers.py any_field.py deletion.py identity.py rights.py visibility.py visits.py walls.py)
BENCHES := processes statemachine submit latency functions

.PHONY: help setup runtime demo demo-snow test test-quick test-calls coverage test-full test-faults faults test-engines test-worlds fmt lint types arch tidy size audit bench pictures site wheels verify errors reference snapshot check clean

help: ## list these commands
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

setup: ## make .venv from the pinned requirements (done by the others when needed)
	@tools/setup.sh

runtime:
	@tools/setup.sh runtime

demo: runtime ## run the example pipeline on a throw-away server and compare its result
	@$(BIN)/python examples/stdlib/demo.py

demo-snow: setup ## run a production line from a catalogue of scenes to announced maps of snow
	@$(BIN)/python examples/snow/snow_demo.py

test: setup ## run the tests, except those marked heavy or fault
	@tools/test_twice.sh -n $(JOBS) --dist worksteal --ignore=tests/tidy -m 'not heavy and not fault and not engine and not world' $(ARGS)

test-quick: setup ## run the fast tests of what the change touches, and one of each role, in a minute; BASE=main~3: since then
	@$(BIN)/python tools/quick_tests.py $(if $(BASE),--base $(BASE)) $(ARGS)

test-calls: setup ## walk all routes with one of everything, also what takes minutes: after a new call of the API, table or list
	@$(BIN)/pytest -n $(JOBS) -m 'not fault and not engine and not world' $(WALKS_OF_CALLS) $(ARGS)

coverage: setup ## run the same tests and list the lines that none of them reached; a quarter slower
	@$(BIN)/pytest -n $(JOBS) -m 'not heavy and not fault and not engine and not world' --cov --cov-report=term:skip-covered $(ARGS)

test-faults: setup ## kill real processes and audit the remaining state
	@tools/test_twice.sh -n $(JOBS) --dist loadscope --timeout 300 -m fault \
		tests/faults $(shell grep -l mark.fault tests/*/test_*.py) $(ARGS)

faults: setup ## run the tests that docs/faults.md names and write there what they saw; ARGS='-m fault': some of them
	@$(BIN)/python tools/generate_faults.py --run -- -n $(JOBS) $(ARGS)

test-engines: setup ## run jobs on real clusters and brokers, installed and started for it (root); ENGINE=kafka: on one
	@tools/test_twice.sh -n 0 --no-empty-stage -m '$(if $(ENGINE),engine(name="$(ENGINE)"),engine)' \
		$(shell grep -l mark.engine tests/*/test_*.py) $(ARGS)

test-worlds: setup ## run tools of others on weft, installed for it; NAME=joblib: one
	@tools/test_twice.sh -n 0 --no-empty-stage -m '$(if $(NAME),world(name="$(NAME)"),world)' $(shell grep -l mark.world tests/*/test_*.py integrations/*/tests/test_*.py) $(ARGS)

test-full: test ## run every test, including the slow ones, also on Debian's PostgreSQL
	@WEFT_TEST_RANDOM=1 JOBS=$(JOBS) tools/test_full.sh $(ARGS)

fmt: setup ## format the code
	@$(BIN)/ruff format src packages tests benches examples tools integrations
	@$(BIN)/ruff check --fix-only --quiet src packages tests benches examples tools integrations
	@$(BIN)/python tools/format_sql.py

lint: setup ## look for mistakes and bad habits
	@$(BIN)/ruff format --check --quiet src packages tests benches examples tools integrations || { echo 'Run `make fmt`.' >&2; exit 1; }
	@$(BIN)/ruff check src packages tests benches examples tools integrations
	@$(BIN)/python tools/format_sql.py --check || { echo 'Run `make fmt`.' >&2; exit 1; }

types: setup ## check the types, strictly
	@$(BIN)/mypy

arch: setup ## check the rules for imports, and that no SQL function calls up
	@$(BIN)/python tools/check_floors.py
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

audit: setup ## ask for known holes in the pinned requirements of weft
	@tools/audit_requirements.sh $(ARGS)

bench: setup ## run the benchmarks, each beside its reference; NAME=storm ARGS=--json: one that proves what weft promises
	@if [[ " $(BENCHES) " == *" $(NAME) "* ]]; then $(BIN)/weft bench $(NAME) $(ARGS); \
	elif [ -n "$(NAME)" ]; then PYTHONPATH=.:tests $(BIN)/python -m benches $(NAME) $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS); \
	else for name in $(BENCHES); do $(BIN)/weft bench $$name; done; fi

pictures: setup ## make the pictures of the guides again, with a real Chromium
	@PICTURES=1 $(BIN)/pytest -q -n 0 tests/browser/test_pictures.py

site: setup ## make pages of docs/ in build/site, in dark and light, with search, and look for broken links
	@tools/environment.sh site
	@.tools/site/bin/python -m sphinx --jobs 2 --quiet --fail-on-warning -c docs -d build/site-cache . build/site
	@echo 'build/site/index.html'

wheels: setup ## build the wheels of weft and of its packages in dist/
	@tools/wheels.sh dist

verify: setup ## check that generated files are fresh
	@$(BIN)/python tools/generate_errors.py --check
	@$(BIN)/python tools/generate_reference.py --check
	@$(BIN)/python tools/generate_client.py --check
	@$(BIN)/python tools/generate_command_words.py --check
	@$(BIN)/python tools/generate_faults.py --check
	@$(BIN)/python tools/check_requirements.py
	@$(BIN)/python tools/schema_snapshot.py --check

snapshot: setup ## write tests/migrations/schema.snapshot.sql from the schema
	@$(BIN)/python tools/schema_snapshot.py

errors: setup ## write docs/errors.md from the classes of errors
	@$(BIN)/python tools/generate_errors.py

reference: setup ## write docs/reference/ from the documents and the settings, the client from the calls, and the words of Tab from the commands
	@$(BIN)/python tools/generate_client.py
	@$(BIN)/python tools/generate_reference.py
	@$(BIN)/python tools/generate_command_words.py

tidy: setup ## hold sources, texts and commits to the rules of size, habit and words
	@tools/test_twice.sh -q -n 0 -m 'not heavy' tests/tidy

size: setup ## tell tokens by folder, what calls of the database pull in, and how much there is to know
	@$(BIN)/python tools/size.py

check: lint types arch verify tidy ## run all checks except the tests

clean: ## remove generated files
	@rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* dist build
	@find src packages tests benches examples tools integrations -name __pycache__ -prune -exec rm -rf {} +
