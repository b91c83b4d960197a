#!/usr/bin/env bash
# Make .tools/notebook, an environment with the kernel of Jupyter notebooks, for the test of what they show.
# Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh

stamp=.tools/notebook/.stamp
mkdir -p .tools
exec 9>.tools/.notebook.lock
flock 9
if cmp -s requirements/notebook.txt "$stamp" && .tools/notebook/bin/python -c 'import ipykernel' 2>/dev/null; then
    exit 0
fi
echo 'setup: .tools/notebook' >&2
rm -rf .tools/notebook
.venv/bin/python -m venv .tools/notebook
.tools/notebook/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps \
    --only-binary :all: --require-hashes -r requirements/notebook.txt
cp requirements/notebook.txt "$stamp"
