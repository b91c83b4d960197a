#!/usr/bin/env bash
# Run pytest; what failed is run once more, alone, and says so. A test that passes only then has met a busy machine or
# is flaky: its name stands in the output of the first run, and it is a bug to mend. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
.venv/bin/pytest -o "cache_dir=$cache" "$@" && exit 0
code=$?
# 1: tests failed. Everything else (interrupted, wrong usage, nothing collected) is not cured by a second try.
[ "$code" = 1 ] && [ -s "$cache/v/cache/lastfailed" ] || exit "$code"
printf '\n== once more, one after the other: what failed just now\n'
.venv/bin/pytest -o "cache_dir=$cache" "$@" -n 0 --no-cov --last-failed --last-failed-no-failures none
