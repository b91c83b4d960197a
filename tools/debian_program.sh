#!/usr/bin/env bash
# Print the path of a program. Where it is missing, root installs Debian's package by apt, of that name or another one;
# for other users it says why there is none.
set -euo pipefail

name=${1:?the name of a program}
package=${2:-$name}
command -v "$name" && exit 0
if ! command -v apt-get >/dev/null; then
    echo "$name is not installed, and there is no apt to install it with" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "$name is not installed; as root: apt-get install $package" >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Some packages bring a service, which is not to start.
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
{
    timeout 300 apt-get -o DPkg::Lock::Timeout=120 update
    timeout 300 apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$package"
} >"$log" 2>&1 || { tail -n 5 "$log" >&2; echo "apt could not install $package" >&2; exit 1; }
command -v "$name"
