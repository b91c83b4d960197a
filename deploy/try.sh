#!/bin/sh
# try.sh [JOBS]: what `compose.yaml` says, by podman alone and on the host's network: PostgreSQL, two apis behind a proxy, two
# drivers, a worker. A batch runs (300 jobs); meanwhile one of each is killed and started again. Each job must have
# succeeded, its output be there in the order of the input, and the audit find nothing. Environment: PODMAN;
# PORT (24600), the first of four ports. All is removed at the end; images: `images/build.sh api driver worker postgres proxy`.
set -eu
jobs=${1:-300} podman=${PODMAN:-podman} port=${PORT:-24600}
here=$(cd "$(dirname "$0")" && pwd)
keys=$(mktemp -d)
volumes="weft-try-database weft-try-output weft-try-worker"

say() { printf '%4d s  %s\n' $(($(date +%s) - begun)) "$*"; }
# Without systemd podman cannot look after the health by itself, and says so on each start.
quiet() { "$podman" "$@" >/dev/null 2>"$keys/error" || { cat "$keys/error" >&2; exit 1; }; }
remove() {
    for part in client proxy worker driver-1 driver-2 api-1 api-2 postgres; do
        "$podman" rm -f -t 0 "weft-try-$part" >/dev/null 2>&1 || true
    done
    "$podman" volume rm -f $volumes >/dev/null 2>&1 || true
}
finish() { remove; rm -rf "$keys"; }
part() { # NAME IMAGE OPTION… [-- COMMAND…]
    name=weft-try-$1 image=localhost/weft-$2
    shift 2
    options=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do options="$options $1"; shift; done
    [ $# = 0 ] || shift
    # Options are words without blanks.
    quiet run -d --name "$name" --network host --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges \
        $options "$image" "$@"
}
role() { # NAME IMAGE OPTION…: with the keys of this weft
    name=$1 image=$2
    shift 2
    part "$name" "$image" -v "$keys/callback.json:/var/lib/weft/callback.json:ro" \
        -v "$keys/secret-keys.json:/var/lib/weft/secret-keys.json:ro" -v weft-try-output:/var/lib/weft/logs "$@"
}
until_healthy() {
    n=0
    until "$podman" healthcheck run "weft-try-$1" >/dev/null 2>&1; do
        n=$((n + 1))
        [ $n -lt 120 ] || { say "$1 is not healthy"; "$podman" logs --tail 20 "weft-try-$1" >&2; exit 1; }
        sleep 0.5
    done
}
dsn() { echo "postgresql://$1:$2@127.0.0.1:$port/weft"; }
client() { "$podman" exec -e "WEFT_URL=http://127.0.0.1:$((port + 1))" -e "WEFT_TOKEN=$ADMIN_TOKEN" weft-try-client "$@"; }

"$here/keys.sh" "$keys"
. "$keys/env"
remove
trap finish EXIT
begun=$(date +%s)
for volume in $volumes; do quiet volume create "$volume"; done

part postgres postgres -e "PGPORT=$port" -e LISTEN=127.0.0.1 -e "OWNER_PASSWORD=$OWNER_PASSWORD" \
    -v weft-try-database:/var/lib/postgresql
"$podman" run --rm --network host --read-only --tmpfs /tmp --env-file "$keys/env" -e "WEFT_DATABASE=$(dsn weft_owner "$OWNER_PASSWORD")" \
    --no-healthcheck --entrypoint /opt/weft/bin/python localhost/weft-driver /opt/weft/share/prepare.py
for n in 1 2; do
    role "api-$n" api -e "WEFT_DATABASE=$(dsn weft_api "$API_PASSWORD")" -e WEFT_HOST=127.0.0.1 -e "WEFT_PORT=$((port + 1 + n))" \
        -e WEFT_TRUSTED_PROXIES=127.0.0.1
    role "driver-$n" driver -e "WEFT_DATABASE=$(dsn weft_driver "$DRIVER_PASSWORD")"
done
role worker worker -e "WEFT_DATABASE=$(dsn weft_worker "$WORKER_PASSWORD")" -e WEFT_WORKER_NAME=worker-1 -e WEFT_SLOTS=4 \
    -v weft-try-worker:/var/lib/weft
part proxy proxy -e "BIND=127.0.0.1:$((port + 1))" -e "API_1=127.0.0.1:$((port + 2))" -e "API_2=127.0.0.1:$((port + 3))"
part client driver --no-healthcheck --entrypoint sleep -- infinity
for name in api-1 api-2 driver-1 driver-2 worker; do until_healthy "$name"; done
say "all are healthy"

client weft whoami | sed 's/^/        /'
client sh -c "seq $jobs | weft each --name try -- sh -c 'sleep 0.3; echo \$(( {} * {} ))'" >"$keys/output" 2>"$keys/messages" &
each=$!
n=0
until client weft ls 2>/dev/null | grep -q try; do
    n=$((n + 1))
    [ $n -lt 150 ] || { say "nothing was submitted"; cat "$keys/messages" >&2; exit 1; }
    sleep 0.2
done
for name in api-1 driver-1 worker proxy postgres api-2 driver-2; do
    sleep 2
    quiet kill --signal KILL "weft-try-$name"
    "$podman" wait "weft-try-$name" >/dev/null 2>&1
    say "killed $name: $("$podman" ps -a --filter "name=weft-try-$name" --format '{{.Status}}')"
    quiet start "weft-try-$name"
done
code=0
wait "$each" || code=$?
tail -n 1 "$keys/messages"
say "the client ended with $code"
client weft wait b1 || true
seq "$jobs" | awk '{print $1 * $1}' >"$keys/expected"
if [ $code != 0 ]; then # the batch goes on without its client
    client sh -c "seq $jobs | weft each --resume try -- sh -c 'sleep 0.3; echo \$(( {} * {} ))'" >"$keys/output"
fi
cmp "$keys/output" "$keys/expected"
say "$jobs outputs, as expected"
client weft status b1 | sed -n '1,8s/^/        /p'
client env -u WEFT_URL -u WEFT_TOKEN "WEFT_DATABASE=$(dsn weft_owner "$OWNER_PASSWORD")" weft audit >"$keys/audit" 2>&1 || { cat "$keys/audit"; exit 1; }
tail -n 1 "$keys/audit"
