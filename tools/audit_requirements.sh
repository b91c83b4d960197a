#!/usr/bin/env bash
# Ask pip-audit for known holes in the pinned requirements, by default those of a running weft.
# Exit codes: 0 nothing is known, 1 something is, 2 nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."

PIP_AUDIT=pip-audit==2.10.1
requirements=${1:-requirements/runtime.txt}
found=$(mktemp) log=$(mktemp)
trap 'rm -f "$found" "$log"' EXIT

.tools/uv/bin/uv tool run --from "$PIP_AUDIT" pip-audit --disable-pip --require-hashes --progress-spinner off \
    --format json --output "$found" --requirement "$requirements" 2>"$log" || true
if [ ! -s "$found" ]; then
    tail -n 3 "$log" >&2
    echo "weft: nothing was checked: $PIP_AUDIT or its source of advisories cannot be reached." >&2
    exit 2
fi
python3 - "$found" "$requirements" <<'PYTHON'
import json, sys
packages = json.load(open(sys.argv[1]))["dependencies"]
unchecked = [one["name"] for one in packages if "skip_reason" in one]
holes = [(one["name"], one["version"], hole) for one in packages for hole in one.get("vulns", ())]
for name, version, hole in holes:
    print(f"{name} {version}: {hole['id']}, fixed in {', '.join(hole['fix_versions']) or 'no version'}")
for name in unchecked:
    print(f"{name} was not checked", file=sys.stderr)
print(f"{len(packages) - len(unchecked)} packages of {sys.argv[2]}, {len(holes)} known holes")
sys.exit(1 if holes else 2 if unchecked else 0)
PYTHON
