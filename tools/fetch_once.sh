# For scripts that get something from a registry, into .tools, and print its path. Safe to repeat, and to run twice at once.
# fetch_once FOLDER RESULT NAME PROGRAM...: print RESULT and exit if it is there; else make a directory, $new, to fetch NAME into with
#   these programs, while nobody else does. It is gone at the end.
fetch_once() {
    local folder=$1 result=$2 program
    fetched=$3
    shift 3
    [ ! -e "$result" ] || { echo "$result"; exit 0; }
    for program; do
        command -v "$program" >/dev/null || { echo "there is no $program to get $fetched with" >&2; exit 1; }
    done
    mkdir -p "$folder"
    exec 9>"$folder/.lock"
    flock 9
    [ ! -e "$result" ] || { echo "$result"; exit 0; }
    new=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
}

# fetch WHO COMMAND...: run a command for five minutes at most; if it fails, exit with the last lines that it said.
fetch() {
    local who=$1
    shift
    timeout 300 "$@" >"$new/log" 2>&1 || { tail -n 3 "$new/log" >&2; echo "$who could not get $fetched" >&2; exit 1; }
}
