#!/bin/bash
# What weft runs for a job of PSI/J; its own calls of these functions follow.

fail() {
    echo "psij: $1" >&2
    exit 121
}

# stage MODE IF_PRESENT SOURCE TARGET
stage() {
    if [ ! -e "$3" ]; then
        [ "$2" != 0 ] || fail "there is no file $3 to stage"
        return 0
    fi
    mkdir -p "$(dirname "$4")" || fail "cannot make the directory of $4"
    if [ -d "$4" ] && [ ! -d "$3" ]; then
        fail "cannot stage $3: $4 is a directory"
    fi
    case $1 in
        LINK) rm -f "$4" && ln -sT "$(readlink -m "$3")" "$4" ;;
        MOVE) mv -fT "$3" "$4" ;;
        *) cp -rT "$3" "$4" ;;
    esac || fail "cannot stage $3 as $4"
}

# launch COMMAND...: a job that is stopped leaves its outputs, too.
launch() {
    trap 'stopped=1' TERM
    "$@" &
    wait $!
    code=$?
    while [ "$code" -gt 128 ] && kill -0 $! 2>/dev/null; do
        wait $!
        code=$?
    done
    end=4
    if [ -n "$stopped" ]; then
        end=8
    elif [ "$code" = 0 ]; then
        end=2
    fi
}

# stage_out FLAGS MODE SOURCE TARGET
stage_out() {
    (($1 & end)) || return 0
    stage "$2" $(($1 & 1)) "$3" "$4"
}

# clean FLAGS PATH
clean() {
    (($1 & end)) || return 0
    path=$(readlink -m "$2")
    case $path in
        "$(readlink -m .)"/*) rm -rf "$path" ;;
        *) fail "cannot clean $path: it is not in the directory of the job" ;;
    esac
}

