#!/bin/sh
# An S3 server: moto, in memory, at http://127.0.0.1:PORT. It takes any key and any bucket name.
. "$(dirname "$0")/lib.sh"
MOTO=5.2.5

start() {
  venv=$(need_pip moto "moto[server]==$MOTO")
  spawn s3 "$venv/bin/moto_server" -H 127.0.0.1 -p "$PORT"
  wait_for s3 120 port_open "$PORT"
  echo "http://127.0.0.1:$PORT"
}

init "$@"
case $ACTION in start) start ;; stop) halt ;; esac
