#!/bin/sh
# worker-image.sh LAYOUT TAG: an image of a worker, of Debian's packages and this checkout, as a
# layout on disk. A worker runs there under the account `weft` (1000); jobs have what PACKAGES says.
# Needs root, mmdebstrap, umoci and a Python with pip. Where it goes then:
#   skopeo copy oci:LAYOUT:TAG docker://registry.example/weft-worker:TAG
set -eu
[ $# = 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
layout=$1 tag=$2
PACKAGES=${PACKAGES:-ca-certificates,procps,python3,python3-venv}
here=$(cd "$(dirname "$0")/.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
root=$tree/bundle/rootfs

[ -e "$layout/index.json" ] || umoci init --layout "$layout"
umoci new --image "$layout:$tag"
umoci unpack --image "$layout:$tag" "$tree/bundle"
mmdebstrap --quiet --variant=minbase --include="$PACKAGES" "${SUITE:-bookworm}" "$tree/debian.tar"
tar -C "$root" --exclude='./dev/*' -xf "$tree/debian.tar"

# Without a network of its own: wheels are fetched here for the Python that is there.
version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
mkdir "$root/wheels"
python3 -m pip wheel -q --no-deps -w "$root/wheels" "$here" "$here"/packages/*/
python3 -m pip download -q -d "$root/wheels" --only-binary :all: --python-version "$version" \
  --require-hashes -r "$here/requirements/runtime.txt"
chroot "$root" sh -ec 'python3 -m venv /opt/weft
  /opt/weft/bin/pip install -q --no-index --no-deps /wheels/*.whl
  ln -s /opt/weft/bin/weft /usr/local/bin/weft
  useradd --uid 1000 --create-home --home-dir /var/lib/weft weft'
rm -rf "$root/wheels" "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*

umoci repack --image "$layout:$tag" "$tree/bundle"
umoci config --image "$layout:$tag" --config.user 1000:1000 --config.workingdir /var/lib/weft \
  --config.cmd /usr/local/bin/weft --config.cmd worker
