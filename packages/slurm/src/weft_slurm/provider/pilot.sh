# A pilot: `folder` is set before, and the arguments are the command of the worker.
cd "$folder" || exit 0
# Slurm may have been asked for it twice: whoever makes this directory is the machine.
mkdir run 2>/dev/null || exit 0
umask 077
home=$(mktemp -d "${TMPDIR:-/tmp}/weft-XXXXXX") || exit 70
trap 'rm -rf "$home"' EXIT
export HOME="${HOME:-$home}" WEFT_HOME="$home"
export WEFT_WORKER_GPUS="${CUDA_VISIBLE_DEVICES:-none}"
# The token comes in a file: Slurm keeps scripts and shows arguments. It goes to this node at once,
# as jobs of all pilots are of one account: they find that of their own node only.
cat token >"$home/token" && rm -f token || exit 70
"$@" "$home/token" &
worker=$!
trap 'kill -TERM $worker 2>/dev/null' TERM
wait $worker; code=$?
# A trap ends a wait before the worker has ended.
while kill -0 $worker 2>/dev/null; do wait $worker; code=$?; done
exit $code
