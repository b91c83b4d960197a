#!/usr/bin/env bash
# Print the path of a Chromium that the distribution made: the installed one, or one in .tools/chromium, with the libraries
# that this system lacks. Debian's packages are only unpacked there, so nobody needs to be root and the system stays as it is.
# Where there is none to be had, it says why. Safe to repeat, and safe to run twice at once.
set -euo pipefail
cd "$(dirname "$0")/.."
own=$PWD/.tools/chromium
works() { timeout 60 "$1" --version >/dev/null 2>&1; }

for found in $(command -v chromium chromium-browser || true) "$own/chromium"; do
    if works "$found"; then
        echo "$found"
        exit 0
    fi
done
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo 'no Chromium is installed, and there is no apt to get one with' >&2
    exit 1
fi

mkdir -p .tools
exec 9>.tools/.chromium.lock
flock 9
if works "$own/chromium"; then
    echo "$own/chromium"
    exit 0
fi
echo 'setup: .tools/chromium' >&2
rm -rf "$own"
mkdir -p "$own/apt/lists/partial" "$own/apt/cache/archives/partial" "$own/files"
options=(-o "Dir::State::lists=$own/apt/lists" -o "Dir::Cache=$own/apt/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=
    -o Acquire::Languages=none -o APT::Get::List-Cleanup=0)
own_apt() { TMPDIR="$own/apt" timeout 600 apt-get "${options[@]}" "$@"; }
{
    own_apt update &&
        own_apt install -y --download-only --no-install-recommends chromium fonts-dejavu-core &&
        printf '%s\0' "$own"/apt/cache/archives/*.deb | xargs -0 -I {} dpkg-deb -x {} "$own/files"
} >"$own/log" 2>&1 || { tail -n 5 "$own/log" >&2; echo 'apt could not get chromium' >&2; exit 1; }
rm -rf "$own/apt"

# The packages expect to be below /: this tells the program where its libraries and letters are instead.
libraries=$(find "$own/files" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)
cat >"$own/fonts.conf" <<CONF
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<dir>$own/files/usr/share/fonts</dir><cachedir>$own/fonts</cachedir>
</fontconfig>
CONF
cat >"$own/chromium" <<PROGRAM
#!/bin/sh
export LD_LIBRARY_PATH='$libraries' FONTCONFIG_FILE='$own/fonts.conf'
exec '$own/files/usr/lib/chromium/chromium' "\$@"
PROGRAM
chmod +x "$own/chromium"
if ! works "$own/chromium"; then
    "$own/chromium" --version 2>&1 | tail -n 5 >&2 || true
    echo 'the Chromium of this distribution does not start' >&2
    exit 1
fi
echo "$own/chromium"
