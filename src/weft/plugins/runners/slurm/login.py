"""A login node by ssh: one connection, on which commands run and files are staged.

Whatever goes wrong with it raises `Unavailable`, and a later call connects again. It must not
know what the commands and files are.
"""

import asyncio
import shlex
import stat
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

from weft.core.errors import Invalid, Unavailable
from weft.plugins.runners.slurm.settings import SlurmSettings
from weft.plugins.runners.slurm.shell import Answer

if TYPE_CHECKING:
    import asyncssh

_ALIVE_S: Final = 5
"""How often the other side is asked whether it is there; after three times it is not."""
_BACK_OFF_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Waits after connections that failed, one after another."""
_FILES_AT_ONCE: Final = 32
_NO_COMMAND: Final = 127
_SAID_MAX: Final = 200
_BEGINS: Final = "weft-answer-begins-bb37a1"


class Login:
    """The login node that the settings name."""

    def __init__(self, settings: SlurmSettings) -> None:
        try:
            import asyncssh  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise Unavailable(
                "this host has no asyncssh, which speaks to login nodes",
                hint="Install the extra `weft[ssh]`.",
            ) from error
        self._ssh = asyncssh
        self._answer_s = settings.slurm_answer_s
        self._to = _address(settings)
        self._environment = (
            [] if settings.slurm_conf is None else ["env", f"SLURM_CONF={settings.slurm_conf}"]
        )
        self._identity = settings.slurm_login_identity
        self._host = _host_of(settings, asyncssh)
        self._connection: asyncssh.SSHClientConnection | None = None
        self._files: asyncssh.SFTPClient | None = None
        self._connecting = asyncio.Lock()
        self._n_failed = 0
        self._next_at = 0.0
        self._why = ""

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        """Run a command of the cluster's side, and read its whole answer."""
        # A shell of the account may greet before it runs anything.
        command = f"echo {_BEGINS}; {shlex.join([*self._environment, *words])}"
        async with self._asked(words[0]):
            connection, _ = await self._connected()
            done = await connection.run(command, input=said, errors="replace")
        if done.exit_status is None or done.exit_status < 0:
            raise self._away(f"the login node has not said how {words[0]} ended")
        if done.exit_status == _NO_COMMAND:
            raise Unavailable(
                f"there is no {words[0]} on the login node",
                hint="Slurm's commands must be on the PATH of a session that runs a command.",
            )
        _, begins, out = str(done.stdout).rpartition(f"{_BEGINS}\n")
        if not begins:
            raise Unavailable(
                f"the login node did not run {words[0]}",
                detail=out[:_SAID_MAX].strip(),
                hint="A session of the account must run the command that it is given.",
            )
        return Answer(done.exit_status, out, str(done.stderr))

    async def write(self, files: Mapping[str, tuple[str, int]]) -> None:
        """Write files with their modes, each whole or not at all, in directories that are made."""
        at_once = asyncio.Semaphore(_FILES_AT_ONCE)

        async def put(path: str, text: str, mode: int) -> None:
            async with at_once, self._asked("sftp"):
                _, sftp = await self._connected()
                temporary = "/.".join(path.rsplit("/", 1))
                attributes = self._ssh.SFTPAttrs(permissions=mode)
                async with sftp.open(temporary, "wb", attributes) as file:
                    await file.write(text.encode())
                await sftp.posix_rename(temporary, path)

        async def make(path: str) -> None:
            async with at_once, self._asked("sftp"):
                _, sftp = await self._connected()
                try:
                    await sftp.mkdir(path, self._ssh.SFTPAttrs(permissions=0o700))
                except self._ssh.SFTPError:  # the code for what exists differs by server
                    await sftp.stat(path)

        await _all([make(path) for path in {path.rpartition("/")[0] for path in files}])
        await _all([put(path, text, mode) for path, (text, mode) in files.items()])

    async def size(self, path: str) -> int:
        """Return how many bytes a file has; 0 if there is none, or something else."""
        async with self._asked("sftp"):
            _, sftp = await self._connected()
            try:
                found = await sftp.lstat(path)
            except self._ssh.SFTPNoSuchFile:
                return 0
        is_file = found.permissions is not None and stat.S_ISREG(found.permissions)
        return (found.size or 0) if is_file else 0

    async def read(self, path: str, start: int, size: int) -> bytes:
        """Return bytes of a file; fewer if it ends before."""
        if not size:
            return b""
        async with self._asked("sftp"):
            _, sftp = await self._connected()
            async with sftp.open(path, "rb") as file:
                return cast("bytes", await file.read(size, start))

    @asynccontextmanager
    async def _asked(self, what: str) -> AsyncIterator[None]:
        """Turn what goes wrong into `Unavailable`; only a connection that is lost is dropped."""
        try:
            async with asyncio.timeout(self._answer_s):
                yield
        except TimeoutError as error:
            raise self._away(f"{what} has not answered within {self._answer_s:g} s") from error
        except self._ssh.SFTPError as error:
            raise Unavailable(
                "the login node cannot do this with a file",
                detail=str(error),
                hint="Look at `slurm_directory` there: its room, its quota, its owner.",
            ) from error
        except (OSError, self._ssh.Error) as error:
            raise self._away(_words(error)) from error

    async def _connected(self) -> "tuple[asyncssh.SSHClientConnection, asyncssh.SFTPClient]":
        async with self._connecting:
            known = self._connection
            if known is not None and self._files is not None and not known.is_closed():
                return known, self._files
            if time.monotonic() < self._next_at:
                raise self._away(self._why)
            found = None
            try:
                user, host, port = self._to
                found = await self._ssh.connect(
                    host, port, username=user or (), known_hosts=([self._host], [], []),
                    client_keys=[str(self._identity)], agent_path=None, config=None,
                    preferred_auth="publickey", keepalive_interval=_ALIVE_S,
                )  # fmt: skip
                self._files = await found.start_sftp_client()
            except (OSError, self._ssh.Error, TimeoutError, asyncio.CancelledError) as error:
                wait_s = _BACK_OFF_S[min(self._n_failed, len(_BACK_OFF_S) - 1)]
                self._n_failed += 1
                self._next_at = time.monotonic() + wait_s
                self._why = _words(error)
                if found is not None:
                    found.abort()
                raise
            self._n_failed = 0
            self._connection = found
            return found, self._files

    def close(self) -> None:
        """Drop the connection: what comes next begins with a new one."""
        known, self._connection = self._connection, None
        if known is not None:
            known.abort()

    def _away(self, why: str) -> Unavailable:
        self.close()
        self._why = why
        return Unavailable(
            "the login node is away",
            detail=why,
            hint="The gateway connects again by itself; try `ssh` with the same key file.",
        )


async def _all(works: Sequence[object]) -> None:
    """Do all; raise the first error once none of them does anything any more."""
    for answer in await asyncio.gather(*works, return_exceptions=True):  # type: ignore[call-overload]  # awaitables
        if isinstance(answer, BaseException):
            raise answer


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _address(settings: SlurmSettings) -> tuple[str, str, int]:
    user, _, server = settings.slurm_login.rpartition("@")
    host, _, port = server.partition(":")
    if not host or not (port or "22").isdigit():
        raise Invalid(
            "the setting slurm_login is not an address", hint="Write it as USER@HOST:PORT."
        )
    return user, host, int(port or 22)


def _host_of(settings: SlurmSettings, ssh: object) -> object:
    """Return the key that the node must have."""
    if settings.slurm_directory is None or settings.slurm_login_identity is None:
        raise Invalid(
            "a login node needs slurm_directory and slurm_login_identity",
            hint="Name a directory of the cluster's side, and the file of the key that logs in.",
        )
    try:
        return ssh.import_public_key(settings.slurm_login_host)  # type: ignore[attr-defined]
    except ValueError as error:
        raise Invalid(
            "the setting slurm_login_host is not a public key",
            hint="Write it as `ssh-keyscan -t ed25519 HOST` does, without the host's name.",
        ) from error
