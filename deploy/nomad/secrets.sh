#!/bin/sh
# secrets.sh KEYS: put what `deploy/keys.sh KEYS` has made into Nomad's variables, for each job only what it needs: other jobs
# cannot read them. Environment: NOMAD (nomad), and NOMAD_ADDR, NOMAD_TOKEN and the others of Nomad.
set -eu
[ $# = 1 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
of() { sed -n "s/^$1=//p" "$keys/env"; }
put() { job=$1; shift; "${NOMAD:-nomad}" var put -force -out none "nomad/jobs/weft-$job" "$@" >/dev/null; }
keys=$1
callback=$(sed -n 's/.*"key": "\([^"]*\)".*/\1/p' "$keys/callback.json")
secrets=$(sed -n 's/.*"keys": \["\([^"]*\)"\].*/\1/p' "$keys/secret-keys.json")
# shellcheck disable=SC2046 (a word each)
put prepare $(cat "$keys/env")
put api API_PASSWORD="$(of API_PASSWORD)" CALLBACK_KEY="$callback" SECRETS_KEY="$secrets"
put driver DRIVER_PASSWORD="$(of DRIVER_PASSWORD)" CALLBACK_KEY="$callback" SECRETS_KEY="$secrets"
put worker WORKER_PASSWORD="$(of WORKER_PASSWORD)" SECRETS_KEY="$secrets"
