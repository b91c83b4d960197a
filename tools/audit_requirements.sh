#!/usr/bin/env bash
# Ask pip-audit for known holes in the pinned requirements, by default those of a running weft.
# Its source of advisories is the JSON that PyPI itself serves of each release; mirrors need not have it.
# Exit codes: 0 nothing is known, 1 something is, 2 not all was checked, which is told in one line.
# WEFT_AUDIT_S bounds the time.
set -euo pipefail
cd "$(dirname "$0")/.."

PIP_AUDIT=pip-audit==2.10.1
requirements=${1:-requirements/runtime.txt}
found=$(mktemp) log=$(mktemp)
trap 'rm -f "$found" "$log"' EXIT

timeout -k 5 "${WEFT_AUDIT_S:-300}" .tools/uv/bin/uv tool run --from "$PIP_AUDIT" pip-audit --disable-pip --require-hashes \
    --progress-spinner off --timeout 10 --format json --output "$found" --requirement "$requirements" 2>"$log" || true
if [ ! -s "$found" ]; then
    why=$(tail -n 1 "$log" | cut -c 1-200)
    echo "weft: no audit: $PIP_AUDIT or its source of advisories is out of reach: ${why:-no answer in time}" >&2
    exit 2
fi
python3 - "$found" "$requirements" <<'PYTHON'
import json, sys
packages = json.load(open(sys.argv[1]))["dependencies"]
unchecked = [one["name"] for one in packages if "skip_reason" in one]
holes = [(one["name"], one["version"], hole) for one in packages for hole in one.get("vulns", ())]
for name, version, hole in holes:
    print(f"{name} {version}: {hole['id']}, fixed in {', '.join(hole['fix_versions']) or 'no version'}")
if len(unchecked) == len(packages):
    print("weft: no audit: the source of advisories that is reached has none of these packages", file=sys.stderr)
elif unchecked:
    print(f"weft: not audited: {', '.join(unchecked)}", file=sys.stderr)
if len(unchecked) < len(packages):
    print(f"{len(packages) - len(unchecked)} packages of {sys.argv[2]}, {len(holes)} known holes")
sys.exit(1 if holes else 2 if unchecked else 0)
PYTHON
