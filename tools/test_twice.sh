#!/usr/bin/env bash
# Run pytest, and run failed tests once more, alone. A test that passes only then is told and counted (`flaky: NAME`), and
# fails if it was already in the last seven days (tests/flaky.txt): it is a bug to fix. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
# With it pytest would rewrite each file for each of its processes, and each process that a test starts compile its modules:
# a third of all work.
unset PYTHONDONTWRITEBYTECODE
# All processes of pytest, and the second run, draw faults from one seed.
export FAULT_SEED="${FAULT_SEED:-$RANDOM}"
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
.venv/bin/pytest -o "cache_dir=$cache" "$@" && exit 0
code=$?
# 1: tests failed. Everything else (interrupted, wrong usage, nothing collected) is not repeated.
[ "$code" = 1 ] && [ -s "$cache/v/cache/lastfailed" ] || exit "$code"
cp "$cache/v/cache/lastfailed" "$cache/first"
printf '\n== once more, one after the other: what failed just now\n'
.venv/bin/pytest -o "cache_dir=$cache" "$@" -n 0 --last-failed --last-failed-no-failures none
.venv/bin/python tools/flaky_tests.py "$cache/first"
