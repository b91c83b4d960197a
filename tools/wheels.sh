#!/usr/bin/env bash
# wheels.sh DIRECTORY: build the wheels of weft and of its packages, and weft's sdist, for an index or for
#   pip install --find-links DIRECTORY "DIRECTORY/weft-0.1.0-py3-none-any.whl[embedded]"
# A checkout names its packages by their folders; what is built here names their releases.
set -euo pipefail
target=$(realpath -m "$1")
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
version=$(sed -nE 's/^version = "(.*)"/\1/p' pyproject.toml | head -n 1)
mkdir -p "$target"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'cp -P --parents "$@" "$0" 2>/dev/null || true' "$copy"
sed -i -E "s#\"(weft[a-z-]*(\[[a-z0-9,]+\])?) @ \{root:[^}]*\}[^\"]*\"#\"\1==$version\"#" "$copy"/pyproject.toml "$copy"/packages/*/pyproject.toml
(cd "$copy" && "$python" -m hatchling build -d "$target" >/dev/null 2>&1)
for package in "$copy"/packages/*/; do
    (cd "$package" && "$python" -m hatchling build -d "$target" -t wheel >/dev/null 2>&1)
done
ls "$target"
