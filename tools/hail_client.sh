#!/usr/bin/env bash
# Make .tools/hail, an environment with Hail's own client, for the tests of its door. Safe to repeat.
# Only what the client itself needs is installed: the package brings a compiler and a cluster besides.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh

stamp=.tools/hail/.stamp
mkdir -p .tools
exec 9>.tools/.hail.lock
flock 9
if cmp -s requirements/hail.txt "$stamp" && .tools/hail/bin/python -c 'import hailtop.batch_client' 2>/dev/null; then
    exit 0
fi
echo 'setup: .tools/hail' >&2
rm -rf .tools/hail
.venv/bin/python -m venv .tools/hail
.tools/hail/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps \
    --only-binary :all: --require-hashes -r requirements/hail.txt
cp requirements/hail.txt "$stamp"
