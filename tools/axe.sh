#!/usr/bin/env bash
# Print the path of axe-core, which looks for what shuts people out of a page: one version, by its digest, from the registry
# of npm, in .tools/axe. Where it cannot be had, it says why. Safe to repeat, and safe to run twice at once.
set -euo pipefail
cd "$(dirname "$0")/.."
version=4.14.1
digest=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745 # of the archive, SHA-256
own=$PWD/.tools/axe
script=$own/$version/package/axe.min.js

[ ! -s "$script" ] || { echo "$script"; exit 0; }
command -v npm >/dev/null || { echo 'there is no npm to get axe-core with' >&2; exit 1; }
mkdir -p "$own"
exec 9>"$own/.lock"
flock 9
[ ! -s "$script" ] || { echo "$script"; exit 0; }
new=$(mktemp -d "$own/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
if ! timeout 300 npm pack --silent --pack-destination "$new" "axe-core@$version" >"$new/log" 2>&1; then
    tail -n 3 "$new/log" >&2
    echo 'npm could not get axe-core' >&2
    exit 1
fi
archive=$new/axe-core-$version.tgz
if ! echo "$digest  $archive" | sha256sum --check --quiet >&2; then
    echo "the axe-core $version of this registry is another one: $(sha256sum <"$archive")" >&2
    exit 1
fi
tar -xzf "$archive" -C "$new" package/axe.min.js package/LICENSE
rm -rf "${own:?}/$version"
mkdir "$own/$version"
mv "$new/package" "$own/$version/package"
echo "$script"
