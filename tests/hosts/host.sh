#!/bin/sh
# host.sh NAME EVIDENCE: a host in namespaces, until this script is killed. Its network, processes,
# mounts, name and clock since boot are its own; /tmp, /run and /srv are its disk, which goes with
# it. EVIDENCE is a directory that only the tests and their jobs know, at /mnt. Needs root.
set -eu
export HOST_NAME=$1 EVIDENCE=$2
exec unshare --net --mount --uts --ipc --pid --time --boottime "$(($$ % 5000 + 1000))" \
  --fork --kill-child sh -euc '
    mount --make-rprivate / && mount --bind "$EVIDENCE" /mnt
    for one in /tmp /run /srv; do mount -t tmpfs tmpfs "$one"; done
    mount -t proc proc /proc && hostname "$HOST_NAME" && ip link set lo up
    echo up
    trap : CHLD
    while :; do sleep 1000 & wait $! || true; done'
