#!/usr/bin/env bash
# Every test that `make test` leaves out: those that take minutes, those that kill processes, and all tests that
# talk to a database once more on the distribution's PostgreSQL. A part that cannot run here, or that skips all its tests,
# fails and says why.
# With WEFT_TEST_RANDOM the tests of properties look for new examples.
# WEFT_FULL_S bounds each of the parts, WEFT_FULL_FAULTS chooses among the faults (as `pytest -k`; empty: none),
# WEFT_FULL_BROKERS among those on brokers, WEFT_FULL_DATABASE among the tests on that server; JOBS is the number of
# processes of pytest where tests may run side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
read -r -a on_a_database <<<"${WEFT_FULL_DATABASE:-tests/store tests/properties tests/driver tests/api tests/worker}"
brings_its_own=(--ignore tests/store/test_embedded.py --ignore tests/store/test_owner.py)
summary=()
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Part by part, so that one that fails does not hide the next.
part() {
    local name=$1 verdict=ok
    shift
    printf '\n== %s\n' "$name"
    tools/test_twice.sh "$@" --no-empty-stage "--session-timeout=${WEFT_FULL_S:-5400}" 2>&1 | tee "$log" || { verdict=FAILED; failed=1; }
    summary+=("$verdict: $name: $(grep -E '^=+ .* in [0-9.]+s' "$log" | tail -n 1 | tr -d '=')")
}

if [ -n "${WEFT_TEST_RANDOM-}" ]; then
    part 'new examples' -n "${JOBS:-2}" -m 'not heavy and not fault and not engine and not world' $(grep -rl --include='test_*.py' '^from hypothesis' tests examples integrations/*/tests packages/*/tests) "$@"
fi
read -r -a heavy <<<"${WEFT_FULL_HEAVY-}"
part 'tests that take minutes' -n "${JOBS:-2}" --dist loadfile --no-loadscope-reorder \
    -m 'heavy and not fault and not engine and not world' --timeout 1800 ${heavy[@]+"${heavy[@]}"} "$@"
if [ -n "${WEFT_FULL_FAULTS-test}" ]; then
    part 'faults' -n "${JOBS:-2}" --dist loadscope --no-loadscope-reorder -m fault -k "${WEFT_FULL_FAULTS-test}" --timeout 300 \
        tests/faults $(grep -l mark.fault tests/*/test_*.py) "$@"
fi
# It installs RabbitMQ and Kafka; where it can install neither, all are skipped, and the part fails.
if [ -n "${WEFT_FULL_BROKERS-test}" ]; then
    part 'brokers' tests/transports -n 0 -m engine -k "${WEFT_FULL_BROKERS-test}"
fi
if bin=$(tools/debian_postgresql.sh 2>"$log"); then
    export WEFT_TEST_POSTGRES_BIN="$bin"
    part "$("$bin/postgres" -V)" -n "${JOBS:-2}" -m 'not heavy and not fault and not engine and not world' --timeout 300 \
        "${on_a_database[@]}" "${brings_its_own[@]}" "$@"
else
    failed=1
    summary+=("FAILED: no tests on the distribution's PostgreSQL: $(tail -n 1 "$log")")
fi

printf '\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
