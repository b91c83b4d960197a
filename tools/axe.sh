#!/usr/bin/env bash
# Print the path of axe-core, which looks for what shuts people out of a page: one version, by its digest, from the registry
# of npm, in .tools/axe. Where it cannot be had, it says why.
set -euo pipefail
cd "$(dirname "$0")/.."
version=4.14.1
digest=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745 # of the archive, SHA-256
own=$PWD/.tools/axe
script=$own/$version/package/axe.min.js

. tools/fetch_once.sh
fetch_once "$own" "$script" axe-core npm
fetch npm npm pack --silent --pack-destination "$new" "axe-core@$version"
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
