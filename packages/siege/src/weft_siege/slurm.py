"""A Slurm on this host, whose controller fails, and a gateway to it."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from weft.core.errors import Invalid
from weft.settings import outer_environment
from weft.wire.processes import all_pids, parts_of
from weft_siege.faults import CONTROLLER, Fault
from weft_siege.processes import SIGNALS, send

ANSWER_S = 20.0
EMPTY_S = 60.0
LOOK_S = 5.0
FORGOTTEN = "Duplicate jobid"
"""Why Slurm gives up a node whose job its controller has forgotten, as one that is killed may."""
_STEP_S = 0.5


class Slurm:
    """What a gateway must know of it; jobs and their output are below the siege's directory."""

    def __init__(self, conf: Path, directory: Path) -> None:
        self._environ = {**outer_environment(), "SLURM_CONF": str(conf)}
        self._directory = directory / "slurm"
        self.settings = {
            "WEFT_RUNNER": "slurm",
            "WEFT_SLURM_CONF": str(conf),
            "WEFT_SLURM_LOOK_S": "0.5",
            "WEFT_SLURM_DIRECTORY": str(self._directory),
            "WEFT_SLURM_MISSING_S": "10",
        }
        (pid, *_) = self.pids() or (0,)
        self._words = [os.fsdecode(word) for word in parts_of(pid, "cmdline")[:-1]]
        if not self._words or self._queue() is None:
            raise Invalid(
                f"no Slurm of {conf} answers",
                detail=f"{CONTROLLER} must run on this host.",
                hint="Start it, by the account that starts the siege.",
            )

    def inflict(self, fault: Fault) -> bool:
        """Let the controller suffer."""
        pids = self.pids()
        send(SIGNALS[fault.act], pids)
        if fault.lasts_s:
            asyncio.get_running_loop().call_later(fault.lasts_s, self.wake)
        return bool(pids)

    def wake(self) -> None:
        """Let a controller that was stopped go on."""
        send(signal.SIGCONT, self.pids())

    async def keep(self) -> None:
        """Do as an administrator: start the controller again, let nodes tell it what runs, bring
        back what it has given up.
        """
        looked, is_new = 0.0, False
        while True:
            if not self.pids():
                is_new = True
                await asyncio.create_subprocess_exec(
                    *self._words,
                    env=self._environ,
                    start_new_session=True,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            if time.monotonic() > looked + LOOK_S:
                if is_new and await asyncio.to_thread(self._reconfigure):
                    is_new = False
                await asyncio.to_thread(self._resume)
                looked = time.monotonic()
            await asyncio.sleep(_STEP_S)

    async def left(self) -> list[str]:
        """Return the jobs of the siege that Slurm still has when all have had time to go."""
        await asyncio.to_thread(self._reconfigure)
        deadline = time.monotonic() + EMPTY_S
        while True:
            queue = await asyncio.to_thread(self._queue)
            ours = [line for line in queue or () if str(self._directory) in line]
            if queue is not None and (not ours or time.monotonic() > deadline):
                return ours
            if time.monotonic() > deadline:
                return ["Slurm does not answer"]
            await asyncio.sleep(_STEP_S)

    def _reconfigure(self) -> bool:
        """Let nodes tell what runs on them, as they do every half an hour: a controller that was
        killed may have forgotten an end. Say whether it has answered.
        """
        return self._ask("scontrol", "reconfigure") is not None

    def _resume(self) -> None:
        for line in self._ask("sinfo", "-h", "-N", "-t", "drain", "-o", "%N %E") or ():
            node, _, reason = line.partition(" ")
            if reason.startswith(FORGOTTEN):
                self._ask("scontrol", "update", f"NodeName={node}", "State=RESUME")

    def _queue(self) -> Sequence[str] | None:
        return self._ask("squeue", "-h", "-a", "-r", "-t", "PD,R,CG", "-o", "%i %T %o %Z")

    def _ask(self, *words: str) -> Sequence[str] | None:
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run(
                words,
                check=True,
                capture_output=True,
                text=True,
                env=self._environ,
                timeout=ANSWER_S,
            )
            return said.stdout.splitlines()
        return None

    def pids(self) -> Sequence[int]:
        """Return the controller, if it lives."""
        conf = f"SLURM_CONF={self._environ['SLURM_CONF']}".encode()
        return [
            pid
            for pid in all_pids()
            if parts_of(pid, "cmdline")[0].endswith(CONTROLLER.encode())
            and conf in parts_of(pid, "environ")
        ]
