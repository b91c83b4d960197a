"""The provider `slurm`: pilots, which are allocations of Slurm's in which a worker runs.

A machine is a job of Slurm's whose name has the tag of the deployment and the machine's name. Only
what has them is ever listed or cancelled. Slurm keeps it waiting as long as it likes. Its folder,
which the nodes see, holds the script, the token, and the mark that lets it begin once.
"""

import asyncio
import shlex
from collections.abc import Awaitable, Sequence
from typing import ClassVar, Final, NamedTuple, TypeVar

from weft.core.errors import WeftError
from weft.extensions.engines.slurm.provider.options import (
    SUBMISSIONS_PER_S,
    submission_words,
    wrong_options,
)
from weft.extensions.engines.slurm.runner.commands import (
    SlurmCommands,
    SlurmRefused,
    environment_of,
)
from weft.extensions.engines.slurm.runner.settings import SlurmSettings
from weft.extensions.engines.slurm.runner.shell import LocalShell, Shell, login_of
from weft.plugins.providers.pool_options import PROGRAM, address_for, raise_first, worker_variables
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine
from weft.settings import variable_of

Found = TypeVar("Found")
STATES: Final = "PENDING,CONFIGURING,RUNNING,SUSPENDED,STOPPED,REQUEUED,REQUEUE_HOLD,RESIZING"
"""A pilot in another one has ended, or ends."""
BEGUN: Final = frozenset({"RUNNING", "SUSPENDED", "STOPPED", "RESIZING"})
# The first line of standard input is the token, the rest the script: arguments are seen by all.
_PUT: Final = """umask 077; mkdir -p "$1" && cd "$1" || exit 1
IFS= read -r token; printf '%s\\n' "$token" >token; cat >pilot"""
_REMOVE: Final = """cd "$1" 2>/dev/null || exit 0; rm -rf -- "$2"
find . -maxdepth 1 -name '*.out' -mtime +0 -exec rm -f {} +"""


class _Pilot(NamedTuple):
    machine: str
    number: str
    state: str
    reason: str

    @property
    def found(self) -> FoundMachine:
        why = "not looked at yet" if self.reason == "None" else self.reason
        waits = "" if self.state in BEGUN else f"Slurm job {self.number}: {why}"
        return FoundMachine(name=self.machine, provider_id=self.number, waits=waits)


class SlurmProvider:
    """The port `Provider` on allocations of Slurm."""

    wants_credentials: ClassVar = True
    wrong_options = staticmethod(wrong_options)
    has_queue: ClassVar = True

    def __init__(self, site: ProviderSite) -> None:
        self._settings = site.section(SlurmSettings)
        self._prefix = f"weft-{site.tag}-"
        self._shell: Shell | None = None
        self._creating = asyncio.Lock()
        """One after another: they are few, and a name is looked for before it is submitted."""
        self._next_at = 0.0

    async def list(self) -> Sequence[FoundMachine]:
        """Return the pilots that wait or run."""
        return [pilot.found for pilot in await self._pilots()]

    async def describe(self, name: str) -> FoundMachine | None:
        """Return a pilot by name; None: there is none, or it ends."""
        for pilot in await self._pilots(name):
            return pilot.found
        return None

    async def create(self, machine: WantedMachine) -> FoundMachine:
        """Submit a pilot, unless there is one, and no sooner than the pool allows."""
        raise_first(wrong_options(machine.options))
        words = submission_words(machine)
        connect = address_for("pilots", "slurm_connect", self._settings.slurm_connect)
        folder = f"{self._root}/{machine.name}"
        token = "" if machine.credential is None else machine.credential.token
        script = pilot_of(machine, folder, connect)
        loop = asyncio.get_running_loop()
        async with self._creating:
            for pilot in await self._pilots(machine.name):
                return pilot.found
            await asyncio.sleep(max(0.0, self._next_at - loop.time()))
            await _asked(self._run("sh", "-c", _PUT, "sh", folder, said=f"{token}\n{script}"))
            number = await _asked(
                self._commands().sbatch(
                    "--parsable", "--no-requeue",
                    f"--signal=B:TERM@{END_S}", f"--job-name={self._prefix}{machine.name}",
                    f"--output={folder}.out", *words, f"{folder}/pilot",
                )
            )  # fmt: skip
            rate = float(machine.options.get("submissions_per_s", SUBMISSIONS_PER_S))
            self._next_at = loop.time() + 1 / rate
        return FoundMachine(name=machine.name, provider_id=number.strip().partition(";")[0])

    async def delete(self, name: str) -> None:
        """Cancel all pilots of a name, and forget what they need to begin."""
        await _asked(self._run("scancel", "-Q", "--me", f"--name={self._prefix}{name}"))
        await _asked(self._run("sh", "-c", _REMOVE, "sh", self._root, name))

    async def close(self) -> None:
        """Forget the connection."""
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.close()

    @property
    def _root(self) -> str:
        if self._settings.slurm_directory is None:
            raise ProviderError(
                "the setting slurm_directory is missing: pilots find their token there"
            )
        return f"{self._settings.slurm_directory}/pilots-{self._prefix.strip('-')}"

    async def _pilots(self, name: str = "") -> Sequence[_Pilot]:
        one = [f"--name={self._prefix}{name}"] if name else []
        text = await _asked(
            self._run("squeue", "--me", "-h", "-a", "-t", STATES, "-o", "%j|%i|%T|%r", *one)
        )
        lines = (line.split("|", 3) for line in text.splitlines())
        return [
            _Pilot(words[0].removeprefix(self._prefix), *words[1:])
            for words in lines
            if words[0].startswith(self._prefix)
        ]

    def _commands(self) -> SlurmCommands:
        if self._shell is None:
            login = bool(self._settings.slurm_login)
            self._shell = login_of(self._settings) if login else LocalShell(self._settings)
        return SlurmCommands(self._shell, self._settings)

    async def _run(self, *words: str, said: str = "") -> str:
        return await self._commands().run(*words, said=said)


async def _asked(call: Awaitable[Found]) -> Found:
    """Return what Slurm answers. Raise `ProviderError` if it does not, or refuses."""
    try:
        return await call
    except SlurmRefused as error:
        reason = error.detail or str(error)
        raise ProviderError(reason, is_full="limit" in reason.lower()) from None
    except WeftError as error:
        detail = f": {error.detail}" if error.detail else ""
        raise ProviderError(f"{error}{detail}") from None


# The token comes in a file: Slurm keeps scripts and shows arguments. The pilot takes it away to
# its node at once, as jobs of all pilots are of one account: they find that of their own node
# only.

END_S: Final = 60
"""So long before its end Slurm asks the script to end, and the worker ends in order."""

_PILOT: Final = """#!/bin/sh
# A pilot of weft; see extensions/engines/slurm/provider of weft.
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
