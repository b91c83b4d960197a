"""The provider `slurm`: pilots, which are allocations of Slurm's in which a worker runs.

A machine is a job of Slurm's whose name has the tag of the deployment and the machine's name. Only
what has them is ever listed or cancelled. Slurm keeps it waiting as long as it likes. Its folder,
which the nodes see, holds the script, the token, and the mark that lets it begin once.
"""

import asyncio
import shlex
from collections.abc import Awaitable, Mapping, Sequence
from importlib.resources import files
from typing import ClassVar, Final, NamedTuple, TypeVar

from weft.core.errors import WeftError
from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import (
    PROGRAM,
    address_for,
    raise_first,
    worker_variables,
    wrong_usual,
)
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine
from weft_slurm.runner.commands import SlurmCommands, SlurmRefused
from weft_slurm.runner.shell import LocalShell, Shell, login_of
from weft_slurm.settings import SlurmSettings

WORDS: Final = ("partition", "account", "qos", "constraint", "reservation")
"""Each is the option of sbatch of this name."""
TEXTS: Final = frozenset({*WORDS, "options", "program"})
SUBMISSIONS_PER_S: Final = 5.0
_OURS: Final = (
    "-J",
    "--job-name",
    "-t",
    "--time",
    "--time-min",
    "-o",
    "--output",
    "-e",
    "--error",
    "-a",
    "--array",
    "--requeue",
    "--signal",
    "--export",
    "-D",
    "--chdir",
    "--parsable",
    "--wrap",
)
"""Options of sbatch that say how a pilot works, and are not the pool's."""
_OWN_MIB: Final = 256
"""What a worker needs beside its jobs."""


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without Slurm."""
    wrong = wrong_usual("slurm", options, TEXTS, "on the nodes", more={"submissions_per_s"})
    rate = options.get("submissions_per_s", SUBMISSIONS_PER_S)
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.1 <= rate <= 1000:  # noqa: PLR2004 (bounds)
        wrong["submissions_per_s"] = "expected a number from 0.1 to 1,000"
    try:
        words = shlex.split(str(options.get("options", "")))
    except ValueError as error:
        wrong["options"] = f"cannot be read as words of a command: {error}"
    else:
        ours = [word for word in words if word.partition("=")[0] in _OURS]
        if ours or any(not word.startswith("-") for word in words):
            wrong["options"] = (
                f"{ours[0]} is not the pool's to say" if ours else "write each as --name=value"
            )
    return wrong


def submission_words(machine: WantedMachine) -> list[str]:
    """Return what sbatch is told of a pilot. Raise `ProviderError` if its flavour never ends."""
    flavour, options = machine.flavour, machine.options
    if not flavour.walltime_s:
        raise ProviderError(
            f"flavour {flavour.name} has no walltime_s: Slurm ends pilots, so weft must know when"
        )
    own = {name: str(options[name]) for name in WORDS if name in options}
    if machine.region:
        own["partition"] = machine.region
    return [
        f"--time={flavour.walltime_s // 60}",
        f"--cpus-per-task={-(-flavour.cpu_m // 1000)}",
        f"--mem={flavour.memory_mib + _OWN_MIB}M",
        *([f"--gpus={flavour.gpus}"] if flavour.gpus else []),
        *(f"--{name}={word}" for name, word in own.items()),
        *shlex.split(str(options.get("options", ""))),
    ]


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
                    "--parsable",
                    "--no-requeue",
                    f"--signal=B:TERM@{END_S}",
                    f"--job-name={self._prefix}{machine.name}",
                    f"--output={folder}.out",
                    *words,
                    f"{folder}/pilot",
                )
            )
            rate = float(machine.options.get("submissions_per_s", SUBMISSIONS_PER_S))
            self._next_at = loop.time() + 1 / rate
        return FoundMachine(name=machine.name, provider_id=number.strip().partition(";")[0])

    async def delete(self, name: str) -> None:
        """Cancel all pilots of a name, and forget what they need to begin."""
        await _asked(self._run("scancel", "-Q", "--me", f"--name={self._prefix}{name}"))
        await _asked(self._run("sh", "-c", _REMOVE, "sh", self._root, name))

    async def close(self) -> None:
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


END_S: Final = 60
"""So long before its end Slurm asks the script to end, and the worker ends in order."""


def pilot_of(machine: WantedMachine, folder: str, connect: str) -> str:
    """Return the script of a machine whose token is in a folder."""
    command = [
        "env",
        *(f"{name}={text}" for name, text in worker_variables(machine).items()),
        str(machine.options.get("program", PROGRAM)),
        "worker",
        "--connect",
        connect,
        "--token-file",
    ]
    body = files(__package__).joinpath("pilot.sh").read_text(encoding="utf-8")
    return f"#!/bin/sh\nfolder={shlex.quote(folder)}\nset -- {shlex.join(command)}\n{body}"
