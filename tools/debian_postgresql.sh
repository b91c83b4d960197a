#!/usr/bin/env bash
# Print the folder of the programs of the newest PostgreSQL (15 or newer) that the distribution installed.
# Where there is none, root installs Debian's package by apt; for other users it says why there is none.
set -euo pipefail

found() {
    for bin in $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -rV); do
        if [ -x "$bin/postgres" ] && [ -x "$bin/initdb" ] && [ "$("$bin/postgres" -V | grep -oE '[0-9]+' | head -n 1)" -ge 15 ]; then
            echo "$bin"
            return 0
        fi
    done
    return 1
}

found && exit 0
if ! command -v apt-get >/dev/null; then
    echo 'no PostgreSQL of the distribution is installed, and there is no apt to install it with' >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo 'no PostgreSQL of the distribution is installed; as root: apt-get install postgresql' >&2
    exit 1
fi

# Only the programs are wanted, not the server that the package starts for everybody.
mkdir -p /etc/postgresql-common
conf=/etc/postgresql-common/createcluster.conf
[ -e "$conf" ] || echo 'create_main_cluster = false' >"$conf"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
{
    timeout 300 apt-get -o DPkg::Lock::Timeout=120 update
    timeout 600 apt-get -o DPkg::Lock::Timeout=120 -o Dpkg::Options::=--force-confold install -y --no-install-recommends postgresql
} >"$log" 2>&1 || { tail -n 5 "$log" >&2; echo 'apt could not install postgresql' >&2; exit 1; }
found || { echo 'the PostgreSQL that apt installs here is older than 15' >&2; exit 1; }
