# EchoVessel: `make run` and `make test` do everything from nothing, and are quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
# A worker that is done takes tests from one that is not; a test that hangs fails by its name, with where it stands.
WORKERS ?= -n auto --maxprocesses 4 --dist worksteal
LIMIT := --timeout 600
HOUR := --timeout 3600

.PHONY: run small test check types rules backend fast campaign messages screenshots clean

run: $(VENV)/ready
	$(BIN)/python manage.py up --host $(HOST) --port $(PORT)

# Types and rules take a core each, the tests all of them. Browser tests run by themselves: Playwright keeps an event loop
# in its process, where Django's ORM then refuses to work.
test: check
	$(BIN)/python -m tests.chromium
	$(MAKE) --no-print-directory backend
	$(BIN)/pytest $(WORKERS) $(LIMIT) -m "not campaign" tests/browser

backend:
	$(BIN)/pytest $(WORKERS) $(LIMIT) -p no:playwright --ignore tests/browser -m "not campaign"

# Types take as long as all the rest: both at once. `makemigrations` begins with the system checks.
check: $(VENV)/ready
	$(MAKE) --no-print-directory -j2 types rules

types:
	$(BIN)/mypy

# To collect the tests once compiles them, which each worker would do by itself.
rules: $(VENV)/ready
	$(BIN)/pytest --collect-only -qq -p no:playwright --ignore tests/browser > /dev/null
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

# Everything but the browser and whole installations.
fast: $(VENV)/ready
	$(BIN)/pytest $(WORKERS) $(LIMIT) -p no:playwright --ignore tests/browser -m "not installation and not campaign"

# What is too long for every run: kills, floods, large files, all rows of long tables, 200 examples of each law. Each has
# a bounded twin in `make test`. It takes about 45 minutes of two cores.
campaign: $(VENV)/ready
	@echo "The campaign takes about 45 minutes of two cores."
	$(BIN)/python -m tests.chromium
	$(BIN)/pytest $(WORKERS) $(HOUR) -p no:playwright --ignore tests/browser -m "campaign or hypothesis" --hypothesis-profile many
	$(BIN)/pytest $(WORKERS) $(HOUR) -m campaign tests/browser

# Collect and compile translations; needs gettext.
messages: $(VENV)/ready
	$(BIN)/python manage.py makemessages -l zh_Hans -e html,py --no-obsolete --no-location --no-wrap \
		--ignore=.venv --ignore=tests --ignore=build --ignore=data
	$(BIN)/python manage.py compilemessages --ignore .venv

# The picture in the README, from a seeded installation.
screenshots: $(VENV)/ready
	$(BIN)/python -m tests.chromium
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python -m tests.browser.screenshots $(PAGES)

# torch first and pinned: an unpinned one pulls gigabytes of GPU packages on Linux.
$(VENV)/ready: requirements.txt requirements-small.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "EchoVessel needs Python 3.11 or newer; set PYTHON=/path/to/it."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet "$$(grep '^torch==' requirements.txt)"
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -r requirements.txt
	touch $@

# For a machine with little disk: without torch and the test tools, 0.5 GB in place of 2. `make run` then starts it;
# `make clean` goes back to everything.
small:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps -r requirements-small.txt
	touch $(VENV)/ready

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
