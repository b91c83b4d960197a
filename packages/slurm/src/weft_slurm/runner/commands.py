"""Slurm's commands, run and read: sbatch, squeue, sacct, scancel.

A command that Slurm does not answer raises `Unavailable`; one that it refuses, `SlurmRefused`.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from weft.core.errors import Unavailable, WeftError
from weft_slurm.runner.shell import Shell
from weft_slurm.settings import SlurmSettings

_AWAY: Final = (
    "unable to contact",
    "connection refused",
    "connection timed out",
    "connection reset",
    "socket timed out",
    "broken pipe",
    "zero bytes were transmitted",
    "communication connection failure",
    "slurmdbd",
    "try again",
    "connect failure",
    "resource temporarily unavailable",
    "not responding",
)
"""What the commands say if nobody answered."""
_NO_MORE: Final = ("MaxSubmitJob", "GrpSubmitJob")
"""Parts of the limits' names of how many jobs may wait and run at a time."""
_NO_ARRAY: Final = "Invalid job array specification"
FULL: Final = "The gateway tries again by itself, when jobs of this account have ended."
_HINT: Final = "The gateway asks again by itself; look at the controller with `scontrol ping`."
_SBATCH: Final = (
    "sh",
    "-c",
    'exec env -i PATH="$PATH" HOME="$HOME" ${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} sbatch "$@"',
    "sbatch",
    "--export=ALL",
)
"""Gives jobs nothing of the gateway's environment. With other values of `--export` each task runs
a login shell of its account first, which takes seconds: Slurm 22.05 takes NIL for a variable.
"""
_NO_COMMAND: Final = 127
_WORDS: Final = 6
"""What squeue is asked to say of a task."""
_PEAK: Final = re.compile(r"^(\d+)_(\d+)\.\w+\|([\d.]+)([KMGT]?)$", re.MULTILINE)
"""A step of a task, and its memory."""
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_CANCELLED_AT_ONCE: Final = 500
"""Ids on one command line."""


class SlurmRefused(WeftError, code="WORKER.SLURM_REFUSED", status=400):
    """Slurm refuses a submission."""


class SlurmFull(SlurmRefused):
    """Slurm takes no more jobs of this account, association or QOS for now."""


class SlurmArray(SlurmRefused):
    """Slurm takes no array of this size."""


@dataclass(frozen=True)
class Task:
    """What Slurm says of one task of an array."""

    array: int
    index: int
    state: str
    """As in squeue: PENDING, RUNNING, NODE_FAIL …"""
    reason: str = ""
    nodes: str = ""

    @property
    def name(self) -> str:
        """Return the id by which Slurm's commands know it."""
        return f"{self.array}_{self.index}"


class SlurmCommands:
    """Slurm, by its own commands; all of a set in one."""

    def __init__(self, shell: Shell, settings: SlurmSettings) -> None:
        self._shell = shell
        self._options = shlex.split(settings.slurm_options)

    async def submit(self, script: str, *, name: str, count: int, options: Sequence[str]) -> int:
        """Submit an array of `count` tasks, of a file; return its number."""
        answer = await self.sbatch(
            "--parsable",
            "--no-requeue",
            f"--job-name={name}",
            f"--array=0-{count - 1}",
            "--output=/dev/null",
            "--error=/dev/null",
            *self._options,
            *options,
            script,
        )
        return int(answer.strip().partition(";")[0])

    def excluding(self, nodes: Sequence[str]) -> list[str]:
        """Return the option that excludes nodes, beside those that the gateway's own options do;
        nothing if these do so in another form.
        """
        if not nodes or {"-x", "--exclude"} & {*self._options}:
            return []
        own = [one.partition("=")[2] for one in self._options if one.startswith("--exclude=")]
        return [f"--exclude={','.join([*own, *nodes])}"]

    async def tasks(self, prefix: str) -> list[Task]:
        """Return the tasks of this account whose name begins so, also those that ended lately."""
        text = await self.run(
            "squeue", "--me", "-h", "-a", "-r", "-t", "all", "-o", "%j|%F|%K|%T|%N|%r"
        )
        found = []
        for line in text.splitlines():
            words = line.split("|", 5)
            if len(words) < _WORDS:  # a name of somebody's job, with a line break
                continue
            name, array, index, state, nodes, reason = words
            if name.startswith(prefix) and index.isdigit():
                found.append(Task(int(array), int(index), state, reason, nodes))
        return found

    async def array_named(self, name: str) -> int | None:
        """Return the number of the array of this name, whether it runs or is accounted for."""
        told = await self.run("squeue", "--me", "-h", "-t", "all", "-o", "%F", f"--name={name}")
        if not told.strip():
            since = ("-S", "now-7days")
            with suppress(SlurmRefused):  # there is no accounting
                told = await self.run(
                    "sacct", "-X", "-P", "-n", "-o", "JobID", f"--name={name}", *since
                )
        numbers = [line.partition("_")[0] for line in told.split()]
        return int(numbers[0]) if numbers else None

    async def accounted(self, arrays: Sequence[int]) -> list[Task]:
        """Return what the accounting knows of these arrays' tasks; nothing if there is none."""
        if not arrays:
            return []
        try:
            text = await self.run(
                "sacct",
                "-X",
                "-P",
                "-n",
                "-o",
                "JobID,State,NodeList",
                "-j",
                ",".join(map(str, arrays)),
            )
        except SlurmRefused:  # it is disabled
            return []
        tasks = []
        for line in text.splitlines():
            number, state, nodes = line.split("|", 2)
            array, _, index = number.partition("_")
            if index.isdigit():
                tasks.append(Task(int(array), int(index), state.split(" ")[0], "", nodes))
        return tasks

    async def memory_peaks(self, tasks: Sequence[Task]) -> dict[tuple[int, int], int]:
        """Return the bytes that ended tasks held at most, where the accounting says it."""
        text = await self.run(
            "sacct", "-P", "-n", "-o", "JobID,MaxRSS", "-j", ",".join(task.name for task in tasks)
        )
        found: dict[tuple[int, int], int] = {}
        for array, index, count, unit in _PEAK.findall(text):
            task = int(array), int(index)
            found[task] = max(found.get(task, 0), int(float(count) * _UNITS[unit]))
        return found

    async def cancel(self, names: Sequence[str], *words: str) -> None:
        """Cancel tasks, or send them a signal; what has ended is ignored."""
        for at in range(0, len(names), _CANCELLED_AT_ONCE):
            with suppress(SlurmRefused):
                await self.run("scancel", "-Q", *words, *names[at : at + _CANCELLED_AT_ONCE])

    async def extend(self, task: str, minutes: int) -> None:
        """Give a task this limit, in all. Raise `SlurmRefused`: many sites let only their
        administrators do that.
        """
        await self.run("scontrol", "update", f"JobId={task}", f"TimeLimit={minutes}")

    async def sbatch(self, *words: str) -> str:
        """Submit, without our environment; return what sbatch answers."""
        return await self.run(*_SBATCH, *words, name="sbatch")

    async def run(self, *words: str, said: str = "", name: str = "") -> str:
        """Return what a command answers that gets this on its standard input. `name`: of the
        command, if it is not the first word.
        """
        code, out, error = await self._shell.run(words, said)
        if code == 0:
            return out
        if code == _NO_COMMAND:
            raise Unavailable(f"there is no {name or words[0]}", detail=error.strip(), hint=_HINT)
        raise _error_of(name or words[0], error.strip())


def _error_of(command: str, said: str) -> WeftError:
    if any(one in said.lower() for one in _AWAY):
        return Unavailable(f"{command}: Slurm is away", detail=said, hint=_HINT)
    is_full = any(one in said for one in _NO_MORE)
    kind = SlurmFull if is_full else SlurmArray if _NO_ARRAY in said else SlurmRefused
    return kind(
        f"{command}: {said.rpartition(': ')[2] or 'refused'}",
        detail=said,
        hint="Change the job, or the setting `slurm_options` of the gateway.",
    )


def environment_of(words: Mapping[str, str]) -> str:
    """Return lines of a shell that set these variables."""
    return "".join(f"export {name}={shlex.quote(text)}\n" for name, text in words.items())
