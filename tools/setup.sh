#!/usr/bin/env bash
# Make .venv from the pinned, hashed requirements. Needs Python >= 3.11 with venv, and nothing else.
# `setup.sh runtime` installs what weft needs alone, unless the tools of development are there already.
# Safe to repeat; does nothing when nothing changed.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-dev}
stamp=.venv/.weft-setup
wanted() { cat requirements/"$1".txt requirements/uv.txt pyproject.toml packages/*/pyproject.toml tools/setup.sh | sha256sum | sed "s#  -#  $PWD#"; }
have=$(cat "$stamp" 2>/dev/null || true)
if [ "$have" = "$(wanted "$kind")" ] || [ "$have" = "$(wanted dev)" ]; then
    if .venv/bin/python -c 'import weft' 2>/dev/null; then exit 0; fi
fi

# Two runs at once would write into each other's environment.
mkdir -p .tools
exec 9>.tools/.lock
flock 9

# A name on the PATH may be a shim of a version manager that fails, so each is tried by running it.
works() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
python=
for candidate in ${PYTHON:+"$PYTHON"} python3.13 python3.12 python3.11 python3 /usr/bin/python3; do
    if works "$candidate"; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
    echo 'weft: no Python 3.11 or newer with the modules venv and ensurepip was found.' >&2
    echo 'Install one (Debian: apt install python3 python3-venv), or name it: make setup PYTHON=/path/to/python3' >&2
    exit 1
fi
# The real program behind a shim: .venv must not depend on what the shim chooses tomorrow.
python=$("$python" -c 'import sys; print(sys.executable)')

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }

uv=.tools/uv/bin/uv
if ! { [ -f .tools/uv/.stamp ] && cmp -s requirements/uv.txt .tools/uv/.stamp && "$uv" --version >/dev/null 2>&1; }; then
    echo 'setup: uv'
    rm -rf .tools/uv
    quietly "$python" -m venv .tools/uv
    quietly .tools/uv/bin/python -m pip install --disable-pip-version-check --no-input --only-binary :all: \
        --require-hashes -r requirements/uv.txt
    cp requirements/uv.txt .tools/uv/.stamp
fi

# uv does not read pip's configuration: the index and the certificates that this machine needs may
# be named there only, or the certificates be known to the system only.
pip_option() {
    .tools/uv/bin/python -m pip config list 2>/dev/null |
        sed -nE "s/^(:env:|install|global)\.$1='(.*)'\$/\2/p" | head -n 1
}
if [ -z "${UV_DEFAULT_INDEX-}${UV_INDEX_URL-}" ]; then
    index=$(pip_option index-url)
    if [ -n "$index" ]; then export UV_DEFAULT_INDEX="$index"; fi
fi
if [ -z "${SSL_CERT_FILE-}" ]; then
    certificates=$(pip_option cert)
    if [ -n "$certificates" ]; then export SSL_CERT_FILE="$certificates"; fi
fi
if [ -s /etc/ssl/certs/ca-certificates.crt ] || [ -s /etc/pki/tls/certs/ca-bundle.crt ]; then
    export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}"
fi

echo "setup: .venv with $("$python" -V)"
rm -f "$stamp"
if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    quietly "$uv" venv --quiet --clear --python "$python" .venv
fi
quietly "$uv" pip sync --quiet --python .venv/bin/python --only-binary :all: --require-hashes requirements/"$kind".txt
# Among the tools of development is what builds weft; else uv fetches it for the build alone.
isolation=(); if [ "$kind" = dev ]; then isolation=(--no-build-isolation); fi
# Of the packages of weft, all for development; else those that `weft[embedded]` brings.
packages=($(sed -nE '/^(server|embedded) = \[/,/^\]/s#^ *"weft-([a-z]+) @.*#\1#p' pyproject.toml))
if [ "$kind" = dev ]; then packages=($(cd packages && ls -d */ | tr -d /)); fi
quietly "$uv" pip install --quiet --python .venv/bin/python --no-deps ${isolation[@]+"${isolation[@]}"} --editable . $(printf -- '--editable packages/%s ' "${packages[@]}")
wanted "$kind" >"$stamp"
