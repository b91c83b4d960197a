#!/bin/sh
# check.sh: Nomad takes the job files, and what they name of weft exists: settings and scripts. It sees what is wrong.
# Environment: NOMAD (nomad); where there is none, `tests/servers/nomad.sh` builds one, which takes minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap '"$here/../../tests/servers/nomad.sh" stop "$tree"; rm -rf "$tree"' EXIT
if ! nomad=$(command -v "${NOMAD:-nomad}"); then
    "$here/../../tests/servers/nomad.sh" start "$tree" 17956 >/dev/null
    nomad=$(ls "${SERVERS_CACHE:-$tree/opt}"/nomad-[0-9]*)
fi
settings=$here/../../docs/reference/settings.md
check() {
    "$nomad" job validate "$1" >"$tree/said" 2>&1 || return 1
    for name in $(sed -n 's/^ *WEFT_\([A-Z_]*\) *=.*/\1/p' "$1" | tr A-Z a-z | sort -u); do
        [ "$name" = role_name ] || grep -q "^| \`$name\` |" "$settings" || { echo "$1: $name is no setting" >"$tree/said"; return 1; }
    done
    for script in $(sed -n 's#.*/share/\([a-z.]*\)".*#\1#p' "$1"); do
        [ -e "$here/../images/$script" ] || { echo "$1: there is no $script" >"$tree/said"; return 1; }
    done
}
for role in prepare api driver worker; do
    check "$here/$role.nomad.hcl" || { cat "$tree/said" >&2; exit 1; }
done
for wrong in 's/kill_timeout/kill_time/' 's/= var.driver/= var.drivers/' 's/WEFT_LOG_FORMAT/WEFT_LOG_FORM/' \
    's/"prestart"/"before"/' 's/wait.py/waits.py/' 's/"distinct_hosts"/"distinct_host"/'; do
    sed "$wrong" "$here/worker.nomad.hcl" >"$tree/wrong.nomad.hcl"
    ! check "$tree/wrong.nomad.hcl" || { echo "check: nothing was wrong after $wrong" >&2; exit 1; }
done
