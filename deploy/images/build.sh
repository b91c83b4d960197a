#!/bin/sh
# build.sh [TARGET…]: the images localhost/weft-TARGET of `Containerfile`: api, driver, worker, all-in-one (all of them if
# none is named), postgres, proxy. Environment: PODMAN, the program that builds (podman; as root or with subordinate ids);
# PACKAGES, Debian's packages in every image; BASE, an image to start from: without it Debian's is pulled, or, where no
# registry can be reached, a root is made by mmdebstrap.
set -eu
PODMAN=${PODMAN:-podman} PACKAGES=${PACKAGES:-ca-certificates python3} SUITE=${SUITE:-bookworm}
[ $# -gt 0 ] || set -- api driver worker all-in-one
here=$(cd "$(dirname "$0")" && pwd)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

if [ -z "${BASE-}" ]; then
    BASE=docker.io/library/debian:$SUITE-slim
    if ! "$PODMAN" image exists "$BASE" && ! "$PODMAN" pull -q "$BASE" >/dev/null 2>&1; then
        BASE=localhost/weft-base:$SUITE
        if ! "$PODMAN" image exists "$BASE"; then
            echo "build: no image can be pulled; mmdebstrap makes a root of Debian $SUITE" >&2
            mmdebstrap --quiet --variant=minbase --include="$(echo "$PACKAGES" | tr ' ' ,)" "$SUITE" "$context/base.tar"
            "$PODMAN" import -q "$context/base.tar" "$BASE" >/dev/null
            rm "$context/base.tar"
        fi
    fi
fi

# Wheels are fetched here, for the Python that is there: an image is built without a network of its own.
"$PODMAN" build -q --network host --build-arg BASE="$BASE" --build-arg PACKAGES="$PACKAGES" --target base \
    --tag localhost/weft-base "$here" >/dev/null
version=$("$PODMAN" run --rm --network host localhost/weft-base python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cp "$here"/* "$context"
mkdir "$context/wheels"
python3 -m pip wheel -q --no-deps -w "$context/wheels" "$here/../.." "$here"/../../packages/*/
python3 -m pip download -q -d "$context/wheels" --only-binary :all: --python-version "$version" --no-deps \
    --require-hashes -r "$here/../../requirements/runtime.txt"
python3 -m pip download -q -d "$context/wheels" --only-binary :all: --no-deps pip
for target in "$@"; do
    "$PODMAN" build -q --network host --format docker --build-arg BASE="$BASE" --build-arg PACKAGES="$PACKAGES" \
        --target "$target" --tag "localhost/weft-$target" "$context" >/dev/null
    echo "localhost/weft-$target $("$PODMAN" image inspect --format '{{.Size}}' "localhost/weft-$target" | awk '{printf "%d MB", $1 / 1e6}')"
done
