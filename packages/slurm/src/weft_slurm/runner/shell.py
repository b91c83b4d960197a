"""Where Slurm's commands run: on this host, or on a login node."""

import asyncio
import os
from collections.abc import Sequence
from typing import Protocol

from weft.core.errors import Invalid, Unavailable
from weft.plugins.runners.remote.ssh import Answer, Login, SshHost
from weft_slurm.settings import SlurmSettings


class Shell(Protocol):
    """Runs commands; raises `Unavailable` if one cannot be asked or does not answer in time."""

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        """Run a command with this on its standard input."""

    def close(self) -> None:
        """Let go of what is held open; a later command opens it again."""


class LocalShell:
    """Commands of this host."""

    def __init__(self, settings: SlurmSettings) -> None:
        self._answer_s = settings.slurm_answer_s
        self._environment = {**os.environ}
        if settings.slurm_conf is not None:
            self._environment["SLURM_CONF"] = str(settings.slurm_conf)

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        """Run a command, and read its whole answer."""
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                env=self._environment,
                # To write nothing fails, too, to a command that has ended by then.
                stdin=asyncio.subprocess.PIPE if said else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError as error:
            raise Unavailable(
                f"there is no {words[0]} on this host",
                hint="Run the gateway where Slurm's commands are installed, or set `slurm_login`.",
            ) from error
        try:
            async with asyncio.timeout(self._answer_s):
                out, error_text = await process.communicate(said.encode() or None)
        except TimeoutError as error:
            raise Unavailable(
                f"{words[0]} has not answered within {self._answer_s:g} s",
                hint="The gateway asks again by itself; look with `scontrol ping`.",
            ) from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return Answer(
            process.returncode or 0,
            out.decode(errors="replace"),
            error_text.decode(errors="replace"),
        )

    def close(self) -> None:
        """Do nothing: each command is its own process."""


def login_of(settings: SlurmSettings) -> Login:
    """Return the way to the login node. Raise `Invalid`."""
    if settings.slurm_directory is None or settings.slurm_login_identity is None:
        raise Invalid(
            "a login node needs slurm_directory and slurm_login_identity",
            hint="Name a directory of the cluster's side, and the file of the key that logs in.",
        )
    host = SshHost(
        title="the login node",
        address=settings.slurm_login,
        key=settings.slurm_login_host,
        identity=settings.slurm_login_identity,
        answer_s=settings.slurm_answer_s,
        named_in=("the setting slurm_login", "the setting slurm_login_host"),
        command_hint="Slurm's commands must be on the PATH of a session that runs a command.",
        file_hint="Look at `slurm_directory` there: its room, its quota, its owner.",
    )
    conf = settings.slurm_conf
    return Login(host, [] if conf is None else ["env", f"SLURM_CONF={conf}"])
