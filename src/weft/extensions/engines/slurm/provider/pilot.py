"""The script of a pilot: it runs a worker that reaches the api, within its walltime.

The token comes in a file: Slurm keeps scripts and shows arguments. The pilot takes it away to its
node at once, as jobs of all pilots are of one account: they find that of their own node only.
"""

import shlex
from typing import Final

from weft.extensions.engines.slurm.runner.commands import environment_of
from weft.plugins.providers.pool_options import PROGRAM
from weft.plugins.providers.worker_settings import worker_variables
from weft.ports.provider import WantedMachine
from weft.settings import variable_of

END_S: Final = 60
"""So long before its end Slurm asks the script to end, and the worker ends in order."""

_PILOT: Final = """#!/bin/sh
# A pilot of weft; see extensions/engines/slurm/provider/pilot.py of weft.
cd {folder} || exit 0
# Slurm may have been asked for it twice: whoever makes this directory is the machine.
mkdir run 2>/dev/null || exit 0
umask 077
home=$(mktemp -d "${{TMPDIR:-/tmp}}/weft-XXXXXX") || exit 70
trap 'rm -rf "$home"' EXIT
export HOME="${{HOME:-$home}}" {home}="$home"
export {gpus}="${{CUDA_VISIBLE_DEVICES:-none}}"
cat token >"$home/token" && rm -f token || exit 70
{settings}{command} "$home/token" &
worker=$!
trap 'kill -TERM $worker 2>/dev/null' TERM
wait $worker; code=$?
# A trap ends a wait before the worker has ended.
while kill -0 $worker 2>/dev/null; do wait $worker; code=$?; done
exit $code
"""


def pilot_of(machine: WantedMachine, folder: str, connect: str) -> str:
    """Return the script of a machine whose token is in a folder."""
    command = [
        str(machine.options.get("program", PROGRAM)),
        "worker", "--connect", connect, "--token-file",
    ]  # fmt: skip
    return _PILOT.format(
        folder=shlex.quote(folder),
        home=variable_of("home"),
        gpus=variable_of("worker_gpus"),
        settings=environment_of(worker_variables(machine)),
        command=shlex.join(command),
    )
