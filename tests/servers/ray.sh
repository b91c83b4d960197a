#!/bin/sh
# Ray as a head node and a worker node of its own resource `side`, each a tree of processes.
# PORT is the dashboard with the API of jobs; PORT+1 is where nodes register; the nodes' agents
# have PORT+2 to PORT+7. Not between 10002 and 19999, which are for the processes of jobs.
. "$(dirname "$0")/lib.sh"
VERSION=2.60.0
CPUS=${RAY_CPUS:-8} # of each node: more than the host has, as jobs of tests mostly sleep
STORE=100000000 # bytes of memory for objects; jobs of tests keep none

start() {
  RAY=$(need_pip "ray-$VERSION" "ray[default]==$VERSION")/bin/ray
  mkdir -p "$DIR/t" # short: the paths of sockets have a limit
  alive head || rm -f "$DIR/t/ray_current_cluster" # Ray takes a head that was killed for alive
  # A host of tests is full and slow at times: neither means that a node is lost.
  export RAY_memory_monitor_refresh_ms=0 RAY_USAGE_STATS_ENABLED=0 RAY_DISABLE_IMPORT_WARNING=1
  export RAY_local_fs_capacity_threshold=1 RAY_GRAFANA_HOST= RAY_PROMETHEUS_HOST=
  common="--block --disable-usage-stats --num-cpus=$CPUS --object-store-memory=$STORE"
  # shellcheck disable=SC2086 (words)
  spawn head "$RAY" start --head $common --node-ip-address=127.0.0.1 --port=$((PORT + 1)) \
    --dashboard-host=127.0.0.1 --dashboard-port="$PORT" --temp-dir="$DIR/t" \
    --dashboard-agent-listen-port=$((PORT + 2)) --dashboard-agent-grpc-port=$((PORT + 3)) \
    --runtime-env-agent-port=$((PORT + 4)) --ray-client-server-port=$((PORT + 8))
  wait_for head 120 answers
  # shellcheck disable=SC2086 (words)
  spawn side "$RAY" start $common --address=127.0.0.1:$((PORT + 1)) --node-ip-address=127.0.0.1 \
    --resources='{"side": 4}' --temp-dir="$DIR/t" \
    --dashboard-agent-listen-port=$((PORT + 5)) --dashboard-agent-grpc-port=$((PORT + 6)) \
    --runtime-env-agent-port=$((PORT + 7))
  wait_for side 120 has_both
  echo "http://127.0.0.1:$PORT"
}

ask() { # PATH: what the dashboard answers
  python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' \
    "http://127.0.0.1:$PORT/$1"
}

answers() { ask api/version; }
has_both() { [ "$(ask 'api/v0/nodes?filter_keys=state&filter_predicates==&filter_values=ALIVE' | grep -o '"node_id"' | wc -l)" -ge 2 ]; }

init "$@"
case $ACTION in start) start ;; stop) halt TERM ;; esac
