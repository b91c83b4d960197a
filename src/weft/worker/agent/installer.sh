#!/bin/sh
# Install the requirements that are read, for environments.py: FOLDER VERSION PYTHON TEXT_BYTES LIMITS BYTES FILES MEMORY.
# `INDEX` says from where. LIMITS is install_limits.py, and what follows it are the limits.
#
# It and the programs that it starts hold a lock of the folder, so that only one installs at a time. What was killed
# leaves no file `complete`, and the next one begins anew. Nothing of a package runs here: they come as wheels, pip is not
# that of the environment, which they may replace, and nothing starts its Python when they are there.
folder=$1 version=$2 python=$3 length=$4 limits=$5 bytes=$6 files=$7 memory=$8
umask 022
trap : TERM # those that it starts end, and it removes what they leave
mkdir -p "$folder" && cd "$folder" && exec 9<. && flock 9 || exit 1
if [ -e complete ] && [ -x env/bin/python ]; then exit; fi
rm -rf complete env pip temporary
cat >requirements.txt
if [ "$(wc -c <requirements.txt)" -ne "$length" ]; then rm requirements.txt; exit 1; fi # who sent it was killed

version_of() { "$1" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }
for found in "$python" "python$version" "$(uv python find "$version" 2>/dev/null)"; do
    [ "$(version_of "$found")" = "$version" ] && break
    found=
done
if [ -z "$found" ]; then
    has=$(for one in "$python" $(seq -f python3.%.0f 8 25); do version_of "$one"; done | sort -uV | tr '\n' ' ')
    echo "its worker has no Python $version; it has $has"
    rm requirements.txt
    exit 1
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never
what="--only-binary :all: -r requirements.txt"
case $INDEX in
"") ;;
/*) export PIP_FIND_LINKS="$INDEX" UV_FIND_LINKS="$INDEX" what="--no-index $what" ;;
*) export PIP_INDEX_URL="$INDEX" UV_DEFAULT_INDEX="$INDEX" UV_INDEX_URL="$INDEX" ;;
esac
unset INDEX
export TMPDIR="$folder/temporary" # what is fetched counts, and goes
mkdir temporary
within() { "$python" -I -S "$limits" . "$bytes" "$files" "$memory" "$@"; }
if command -v uv >/dev/null; then
    uv venv --quiet --python "$found" env && within uv pip install --quiet --python env/bin/python $what
else
    "$found" -I -m venv pip && "$found" -I -m venv --without-pip env &&
        within env/bin/python -I pip/lib/python"$version"/site-packages/pip install --ignore-installed --quiet $what
fi >said 2>&1 || {
    ended=$?
    tail -n 8 said | tail -c 1000
    rm -rf env pip temporary said requirements.txt
    exit "$ended"
}
rm -rf pip temporary
echo $(($(du -sk env | cut -f 1) * 1024)) >new && mv new complete
