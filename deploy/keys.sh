#!/bin/sh
# keys.sh DIR: passwords, the administrator's token and the keys of a new weft, for `compose.yaml` and `kubernetes/`:
# `env`, `callback.json` and `secret-keys.json`. What is there already is kept. Whoever reads them owns weft.
set -eu
[ $# = 1 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
umask 077
mkdir -p "$1"
random() { head -c 24 /dev/urandom | base64 -w0 | tr '+/' '-_'; }
[ -e "$1/env" ] || cat >"$1/env" <<END_OF_ENV
OWNER_PASSWORD=$(random)
API_PASSWORD=$(random)
DRIVER_PASSWORD=$(random)
WORKER_PASSWORD=$(random)
ADMIN_TOKEN=weft_$(random)
END_OF_ENV
[ -e "$1/callback.json" ] || printf '{"key": "%s"}\n' "$(head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n')" >"$1/callback.json"
[ -e "$1/secret-keys.json" ] || printf '{"keys": ["%s"]}\n' "$(head -c 32 /dev/urandom | base64 -w0)" >"$1/secret-keys.json"
[ "$(id -u)" != 0 ] || chown 1000:1000 "$1"/*.json # the account of the images
