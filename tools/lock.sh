#!/usr/bin/env bash
# Pin every requirement with its hashes. Run it after a change of the dependencies in pyproject.toml.
# The files hold names, versions and hashes only, so they are valid with any package index.
set -euo pipefail
cd "$(dirname "$0")/.."
uv="${UV:-.venv/bin/uv}"
compile() { "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate "$@"; }
compile pyproject.toml --output-file requirements/runtime.txt
compile pyproject.toml --group dev --output-file requirements/dev.txt
compile pyproject.toml --extra plots --constraint requirements/dev.txt --output-file requirements/plots.txt
echo uv | compile - --constraint requirements/dev.txt --output-file requirements/uv.txt
