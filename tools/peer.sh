#!/usr/bin/env bash
# Make .tools/peers/NAME, an environment with what is pinned in requirements/peers-NAME.txt, and install what Debian has of a
# peer, for `make bench NAME=peers`. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:?a peer: requirements/peers-NAME.txt or parallel}
case $name in
    dramatiq | rq) tools/debian_program.sh redis-server >/dev/null ;;
    parallel) exec tools/debian_program.sh parallel >/dev/null ;;
esac
own=.tools/peers/$name
cmp -s "requirements/peers-$name.txt" "$own/.stamp" && exit 0
rm -rf "$own"
.venv/bin/python -m venv "$own"
"$own/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --only-binary :all: --require-hashes \
    -r "requirements/peers-$name.txt"
cp "requirements/peers-$name.txt" "$own/.stamp"
