# Every target but clean makes the checkout ready first; all can be run again at will.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench soak verify-suites doctor clean

BIN := .venv/bin
# e.g. -k gimp. Not run in parallel: the suite's own linter plays two desktops at once, which fills two cores.
PYTEST_ARGS ?=
DEMO_TASKS := calc_replace,writer_emphasis,impress_title,gimp_scale_export,vlc_recordings,chromium_bookmark_page
DEMO_TASKS := $(DEMO_TASKS),files_rename,editor_replace_all,terminal_count,viewers_pdf_value,across_note_to_sheet,infeasible_calculator_plot

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | column -t -s '|'

setup:  ## install system packages and .venv, warm application profiles, make the sites
	@scripts/setup

demo: setup  ## real applications driven, graded and shown: the oracle on a handful of tasks
	$(BIN)/guiforge rollout --env osworld-like --policy oracle --tasks $(DEMO_TASKS) --concurrency 2

test: setup  ## all tests
	$(BIN)/pytest $(PYTEST_ARGS)

lint: setup  ## ruff, mypy, import arrows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup  ## side by side with pyautogui, xdotool, BrowserGym, Playwright and the raw floor (makes their environments)
	@scripts/bench

soak: setup  ## 100 episodes at concurrency 4: what they leave behind, and whether memory grows
	$(BIN)/python benchmarks/soak.py --episodes 100 --concurrency 4

verify-suites: setup  ## the task linter over every family, three seeds each
	$(BIN)/guiforge lint miniwob --seeds 0..2
	$(BIN)/guiforge lint webvoyager-like --seeds 0..2
	$(BIN)/guiforge lint osworld-like --seeds 0..2

doctor: setup  ## what of this machine is missing, and the command that mends it
	$(BIN)/guiforge doctor

clean:  ## remove caches and build outputs; keeps .venv and runs/
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .grimp_cache *.egg-info
	find guiforge envs vlm verifiers tests benchmarks examples -name __pycache__ -type d -exec rm -rf {} +
