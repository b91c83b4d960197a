#!/bin/sh
# check.sh: base and try as `kubectl kustomize` renders them, with keys of a moment, are right by `check.py`, and that sees
# what is wrong. Environment: KUBECTL (kubectl), RELEASE of Kubernetes (1.31).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kubectl=${KUBECTL:-kubectl} top=$here/../..
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
"$top/tools/environment.sh" kubernetes
check() { "$top/.tools/kubernetes/bin/python" "$here/check.py" "${RELEASE:-1.31}"; }

cp -r "$here/base" "$here/try" "$tree"
"$here/../keys.sh" "$tree/try/keys"
for overlay in base try; do
    "$kubectl" kustomize "$tree/$overlay" >"$tree/$overlay.yaml"
    check <"$tree/$overlay.yaml"
done
for wrong in 's/WEFT_LOST_AFTER_S/WEFT_LOST_AFTER/' 's/WEFT_HEARTBEAT_S: "10"/WEFT_HEARTBEAT_S: "1"/' 's#path: /readyz#path: /ready#' \
    's/containerPort: 8765/containerPort: 8766/' 's/key: API_PASSWORD/key: API_PASS/' 's/health.py/alive.py/' \
    's/weft-driver:/weft-drivers:/' 's/enableServiceLinks: false/enableServiceLinks: true/' 's/minAvailable: 1/minAvailabel: 1/' \
    's/targetPort: http/targetPort: https/' 's/GracePeriodSeconds: 60/GracePeriodSeconds: 5/' 's/runAsNonRoot: true/runAsNonRoot: false/'; do
    ! sed "$wrong" "$tree/try.yaml" | check >/dev/null || { echo "check: nothing was wrong after $wrong" >&2; exit 1; }
done
