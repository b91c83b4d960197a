#!/usr/bin/env bash
# Try a wheel on a fresh Debian, as a user without root and without a compiler: install, first job,
# a line per item, a function, audit. Prints the Python and the seconds of each step.
# Usage: tools/try_on_debian.sh SUITE WHEEL [PYTHON]   e.g. forky dist/weft-0.1.0-py3-none-any.whl 3.14
# Needs root, mmdebstrap and uv (`make runtime`). The root stays in .tools/debian-SUITE; remove it to make it anew.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=$1 wheel=$(realpath "$2") python=${3:+$3}
root=$PWD/.tools/debian-$suite
mkdir -p .tools
if [ ! -f "$root/.made" ]; then
    rm -rf "$root"
    # A mirror that is not renewed any more is good enough for a try.
    mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --variant=apt \
        --include="python${python:-3},python${python:-3}-venv,ca-certificates" "$suite" "$root" ${MIRROR:+"$MIRROR"}
    echo 'weft:x:1234:1234::/var/lib/weft:/bin/sh' >>"$root/etc/passwd"
    install -d -o 1234 -g 1234 "$root/var/lib/weft"
    touch "$root/.made"
fi
version=$(chroot "$root" "python${python:-3}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$root"/var/lib/weft/* "$root"/var/lib/weft/.[!.]* "$root/packages"
# The packages that pip would bring there, and no others; uv reads pip's configuration in setup.sh only.
began=$(date +%s.%N)
.tools/uv/bin/uv pip install --quiet --python-version "$version" --python-platform x86_64-manylinux_2_28 \
    --only-binary :all: --target "$root/packages" "$wheel[embedded]"
printf 'packages: %.1f s\n' "$(echo "$(date +%s.%N) - $began" | bc)"
cat >"$root/try.sh" <<'WALK'
set -e
export HOME=/var/lib/weft LANG=C.UTF-8 WEFT_PORT=0 TIMEFORMAT='%1R s (%1U s of the processor)'
cd
python=python$1
$python --version
$python -m venv --without-pip v
cp -r /packages/. v/lib/$python/site-packages/
printf '#!/var/lib/weft/v/bin/python\nfrom weft.cli.app import main\nmain()\n' >v/bin/weft
chmod +x v/bin/weft
PATH=/var/lib/weft/v/bin:$PATH
trap 'weft down' EXIT
python -W error -c 'import weft, weft.aio, weft.cli.app, weft.run.up, weft.run.api, weft.run.worker'
time weft run -- echo 'the first job'
time weft run -- echo 'the second job'
seq 3 | weft each -- echo item
cat >square.py <<'PYTHON'
import weft


def square(number):
    return number * number


with weft.Client() as client:
    print(list(client.map(square, range(5))))
PYTHON
python square.py
weft doctor | grep -E '^(wrong|ok +server|warning +python)' || true
weft audit --json | grep -c '"rows":\[{' || echo 'audit: no row'
WALK
unshare --mount --propagation private bash -c '
    mount --bind /proc "$0/proc"; mount --bind /dev "$0/dev"; mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
    exec chroot --userspec=1234:1234 "$0" bash /try.sh "$1"' "$root" "$version"
