# One attempt of an array: `root` and `names` are set before.
cd "$root" || exit 70
name=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$names" 2>/dev/null)
[ -n "$name" ] && cd "$name" 2>/dev/null || exit 0
if ! mkdir run 2>/dev/null; then
    # Slurm begins a task again that its controller has forgotten: this is not the end of the first.
    read -r _ _ node 2>/dev/null <run/started; group=$(cat run/group 2>/dev/null)
    [ "$node" = "$SLURMD_NODENAME" ] || exit 0
    while [ ! -e run/ended ] && kill -0 "-$group" 2>/dev/null; do sleep 1; done
    exit 0
fi
printf '%s %s %s\n' "$SLURM_ARRAY_JOB_ID" "$SLURM_ARRAY_TASK_ID" "$SLURMD_NODENAME" >run/started
if [ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ]; then
    WEFT_NODE_FILE=$PWD/run/nodes WEFT_NODES=$SLURM_JOB_NUM_NODES
    scontrol show hostnames "$SLURM_JOB_NODELIST" >"$WEFT_NODE_FILE"
    read -r MASTER_ADDR <"$WEFT_NODE_FILE"
    MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
    export WEFT_NODE_FILE WEFT_NODES MASTER_ADDR MASTER_PORT
fi
setsid ./job >out 2>err </dev/null &
job=$!
echo $job >run/group
trap ': >run/termed; kill -TERM -$job 2>/dev/null' TERM
trap '[ -e run/stopped ] && kill -KILL -$job 2>/dev/null || kill -USR1 $job 2>/dev/null' USR1
trap 'kill -USR2 $job 2>/dev/null' USR2
trap 'kill -HUP $job 2>/dev/null' HUP
. ./limit
wait $job; code=$?
# A trap ends a wait before the job has ended.
while kill -0 $job 2>/dev/null; do wait $job; code=$?; done
kill -KILL -$job 2>/dev/null
[ -n "$clock" ] && kill $clock 2>/dev/null
echo $code >run/over
times >run/used
mv run/over run/ended
exit $code
