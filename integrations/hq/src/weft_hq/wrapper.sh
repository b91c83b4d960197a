# bash -c THIS hq OUT ERR PROGRAM ARGUMENTS: run it, and copy what it writes to files and to weft.
# OUT, ERR: a path, or `none`; an empty ERR is OUT.
trap : TERM INT USR1 USR2
export HQ_JOB_ID=${WEFT_BATCH#b} HQ_INSTANCE_ID=$((WEFT_ATTEMPT_NO - 1))
place() {
    REPLY=${1//'%{JOB_ID}'/$HQ_JOB_ID}
    REPLY=${REPLY//'%{TASK_ID}'/$HQ_TASK_ID}
    REPLY=${REPLY//'%{INSTANCE_ID}'/$HQ_INSTANCE_ID}
    REPLY=${REPLY//'%{CWD}'/$PWD}
}
copy() {
    trap '' TERM INT USR1 USR2 # it ends when nobody writes any more
    [[ $1 == none ]] && exec cat
    [[ $1 != */* || -d ${1%/*} ]] || mkdir -p -- "${1%/*}"
    exec tee -- "$1"
}
# If memory is short, the kernel shall take the program and leave this.
run() {
    { echo 500 >/proc/self/oom_score_adj; } 2>/dev/null
    exec "$@"
}
place "$1" && out=$REPLY
place "$2" && err=$REPLY
shift 2
[[ ${!#} == */.command.run ]] && is_nextflow=1
# What is left of an attempt that was lost with its worker
[[ $is_nextflow && $HQ_INSTANCE_ID != 0 ]] && rm -f .exitcode .command.begin
if [[ $err ]]; then
    (run "$@") > >(copy "$out") 2> >(copy "$err" >&2)
else
    (run "$@") > >(copy "$out") 2>&1
fi
code=$?
# Killed, it could not say so itself.
[[ $is_nextflow && ! -e .exitcode ]] && printf %s "$code" >.exitcode
for _ in {1..50}; do # a process that it left may write for ever
    kill -0 $! 2>/dev/null || break
    sleep 0.02
done
exit "$code"
