"""A host by ssh: one connection, on which commands run and files are staged.

Whatever goes wrong with it raises `Unavailable`, and a later call connects again. Its key is
pinned: nobody is trusted at first sight. It must not know what the commands and files are.
"""

import asyncio
import shlex
import stat
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from weft.core.errors import Invalid, Unavailable

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


class Answer(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    said: str
    """On standard error."""


@dataclass(frozen=True, kw_only=True)
class SshHost:
    """Who is spoken to, and how."""

    title: str
    """As in "the login node"."""
    address: str
    """As `USER@HOST:PORT`."""
    key: str
    """The public key that it must have."""
    identity: Path
    """The file of the private key that logs in."""
    answer_s: float
    named_in: tuple[str, str]
    """What its address and its key are named in, as in "the setting x"."""
    command_hint: str
    file_hint: str = ""


class Login:
    """A session on a host. Raise `Invalid` if it cannot be spoken to as it is described."""

    def __init__(self, host: SshHost, environment: Sequence[str] = ()) -> None:
        try:
            import asyncssh  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise Unavailable(
                "there is no asyncssh here, which speaks to other hosts",
                hint="Install the extra `weft[ssh]`.",
            ) from error
        self._ssh = asyncssh
        self._host = host
        self._to = address_of(host)
        self._key = _key_of(host, asyncssh)
        self._environment = environment
        """Words before each command."""
        self._connection: asyncssh.SSHClientConnection | None = None
        self._files: asyncssh.SFTPClient | None = None
        self._connecting = asyncio.Lock()
        self._n_failed = 0
        self._next_at = 0.0
        self._why = ""

    async def run(self, words: Sequence[str], said: str = "", *, longer_s: float = 0.0) -> Answer:
        """Run a command there, and read its whole answer. `longer_s`: what it takes by itself."""
        # A shell of the account may greet before it runs anything.
        command = f"echo {_BEGINS}; {shlex.join([*self._environment, *words])}"
        title = self._host.title
        async with self._asked(words[0], longer_s):
            connection = await self._connected()
            done = await connection.run(command, input=said, errors="replace")
        if done.exit_status is None or done.exit_status < 0:
            raise self._away(f"{title} has not said how {words[0]} ended")
        if done.exit_status == _NO_COMMAND:
            raise Unavailable(f"there is no {words[0]} on {title}", hint=self._host.command_hint)
        _, begins, out = str(done.stdout).rpartition(f"{_BEGINS}\n")
        if not begins:
            raise Unavailable(
                f"{title} did not run {words[0]}",
                detail=out[:_SAID_MAX].strip(),
                hint="A session of the account must run the command that it is given.",
            )
        return Answer(done.exit_status, out, str(done.stderr))

    async def write(self, files: Mapping[str, tuple[str, int]]) -> None:
        """Write files with their modes, each whole or not at all, in directories that are made."""
        at_once = asyncio.Semaphore(_FILES_AT_ONCE)

        async def put(path: str, text: str, mode: int) -> None:
            async with at_once, self._asked("sftp"):
                sftp = await self._sftp()
                temporary = "/.".join(path.rsplit("/", 1))
                attributes = self._ssh.SFTPAttrs(permissions=mode)
                async with sftp.open(temporary, "wb", attributes) as file:
                    await file.write(text.encode())
                await sftp.posix_rename(temporary, path)

        async def make(path: str) -> None:
            async with at_once, self._asked("sftp"):
                sftp = await self._sftp()
                try:
                    await sftp.mkdir(path, self._ssh.SFTPAttrs(permissions=0o700))
                except self._ssh.SFTPError:  # the code for what exists differs by server
                    await sftp.stat(path)

        await _all([make(path) for path in {path.rpartition("/")[0] for path in files}])
        await _all([put(path, text, mode) for path, (text, mode) in files.items()])

    async def size(self, path: str) -> int:
        """Return how many bytes a file has; 0 if there is none, or something else."""
        async with self._asked("sftp"):
            sftp = await self._sftp()
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
            sftp = await self._sftp()
            async with sftp.open(path, "rb") as file:
                return cast("bytes", await file.read(size, start))

    @asynccontextmanager
    async def _asked(self, what: str, longer_s: float = 0.0) -> AsyncIterator[None]:
        """Turn what goes wrong into `Unavailable`; only a connection that is lost is dropped."""
        within_s = self._host.answer_s + longer_s
        try:
            async with asyncio.timeout(within_s):
                yield
        except TimeoutError as error:
            raise self._away(f"{what} has not answered within {within_s:g} s") from error
        except self._ssh.SFTPError as error:
            raise Unavailable(
                f"{self._host.title} cannot do this with a file",
                detail=str(error),
                hint=self._host.file_hint,
            ) from error
        except (OSError, self._ssh.Error) as error:
            raise self._away(_words(error)) from error

    async def _sftp(self) -> "asyncssh.SFTPClient":
        connection = await self._connected()
        async with self._connecting:
            if self._files is None or connection is not self._connection:
                self._files = await connection.start_sftp_client()
            return self._files

    async def _connected(self) -> "asyncssh.SSHClientConnection":
        async with self._connecting:
            known = self._connection
            if known is not None and not known.is_closed():
                return known
            if time.monotonic() < self._next_at:
                raise self._away(self._why)
            try:
                user, host, port = self._to
                found = await self._ssh.connect(
                    host,
                    port,
                    username=user or (),
                    known_hosts=([self._key], [], []),
                    client_keys=[str(self._host.identity)],
                    agent_path=None,
                    config=None,
                    preferred_auth="publickey",
                    keepalive_interval=_ALIVE_S,
                )
            except (OSError, self._ssh.Error, TimeoutError, asyncio.CancelledError) as error:
                wait_s = _BACK_OFF_S[min(self._n_failed, len(_BACK_OFF_S) - 1)]
                self._n_failed += 1
                self._next_at = time.monotonic() + wait_s
                self._why = _words(error)
                raise
            self._n_failed = 0
            self._connection, self._files = found, None
            return found

    def close(self) -> None:
        """Drop the connection: what comes next begins with a new one."""
        known, self._connection = self._connection, None
        if known is not None:
            known.abort()

    def _away(self, why: str) -> Unavailable:
        self.close()
        self._why = why
        return Unavailable(
            f"{self._host.title} is away",
            detail=why,
            hint="It is connected to again by itself; try `ssh` with the same key file.",
        )


async def _all(works: Sequence[object]) -> None:
    """Do all; raise the first error once none of them does anything any more."""
    for answer in await asyncio.gather(*works, return_exceptions=True):  # type: ignore[call-overload]  # awaitables
        if isinstance(answer, BaseException):
            raise answer


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__


def address_of(of: SshHost) -> tuple[str, str, int]:
    """Return user, host and port. Raise `Invalid`."""
    user, _, server = of.address.rpartition("@")
    host, _, port = server.partition(":")
    if not host or not (port or "22").isdigit():
        raise Invalid(f"{of.named_in[0]} is not an address", hint="Write it as USER@HOST:PORT.")
    return user, host, int(port or 22)


def _key_of(of: SshHost, ssh: object) -> object:
    """Return the key that the host must have."""
    try:
        return ssh.import_public_key(of.key)  # type: ignore[attr-defined]
    except ValueError as error:
        raise Invalid(
            f"{of.named_in[1]} is not a public key",
            hint="Write it as `ssh-keyscan -t ed25519 HOST` does, without the host's name.",
        ) from error
