"""Commands beside running jobs: packets between an api and a spawner, and frames of HTTP.

To the spawner, one connection (`SOCK_SEQPACKET`) is one command. The first packet is a
`Begin` with three descriptors, the command's own streams; `Refused`, or `Begun` and
`Ended`, is the answer. Each end that closes it ends the command with all that it has started.

Over HTTP both bodies are frames: a byte says the kind, four the length. The first frame of a
request is an `ExecDocument`.
"""

import struct
from collections.abc import AsyncIterator
from typing import Annotated, Final

import msgspec

from weft.core.errors import MalformedBody
from weft.core.states import AttemptKey
from weft.wire import description

BYTES_MAX: Final = 1 << 18
"""Of a packet, of a frame, and of input under way that was not taken: signals do not wait long."""
COMMAND_BYTES_MAX: Final = 1 << 17
"""Of a command: a packet that is larger than a socket's buffer is not sent."""
MARK: Final = "WEFT_EXEC"
"""The variable by which what a command has started is found again."""
SUFFIX: Final = ".exec"
"""Of the socket for commands, behind the name of the spawner's socket for agents."""
MEDIA: Final = "application/vnd.weft.exec"
BEGIN, STDIN, SIGNAL, RESIZE, ALIVE = range(5)
"""What a client sends: a document, input (none: its end), a byte for a signal, a `SIZE`, and what
only says that it is there.
"""
TAKEN, STDOUT, STDERR, END = range(4)
"""What it gets: how much input was taken so far, output, and how the command ended, in JSON."""
QUIET_S: Final = 15.0
"""After so long without anything else each end sends something, so that silence is an end."""
SILENCE_S: Final = 40.0
Frames = AsyncIterator[tuple[int, bytes]]
_HEAD: Final = struct.Struct("!BI")


SIZE: Final = struct.Struct("!HH")
"""Rows and columns of a terminal."""
Side = Annotated[int, msgspec.Meta(ge=0, le=65_535)]


class Terminal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A terminal for a command. A side of 0: it is not known."""

    rows: Side
    columns: Side
    name: Annotated[str, msgspec.Meta(pattern=f"^[!-~]{{1,64}}{description.END}")] = "xterm"
    """Its kind: the command's `TERM`."""


class ExecDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command to run beside a job, or a port of the job that a relay beside it connects to."""

    command: tuple[str, ...] = ()
    terminal: Terminal | None = None
    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)] | None = None

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.port) or (self.port and self.terminal):
            raise ValueError("a `command` or a `port` is needed, and no `terminal` with a port")


class Begin(msgspec.Struct, frozen=True, array_like=True, tag="begin"):
    """Start this in the place of an attempt, unless as many commands run there as may."""

    key: AttemptKey
    database: str
    """The name of its directory of logs, which no other database has: numbers of jobs are not
    enough where workers of one home serve several.
    """
    argv: tuple[str, ...]
    job_max: int
    """The limit of commands beside one job."""
    tenant_id: int = 0
    """Whose command it is."""
    term: str = ""
    """The kind of the terminal that its three streams are; empty: they are none."""
    with_python: bool = False
    """Whether `argv` is what the spawner's own Python gets."""
    of_owner: bool = False
    """Whether who asks owns the job: nobody else runs something under its account."""


class Refused(msgspec.Struct, frozen=True, array_like=True, tag="refused"):
    """It was not started: `code` is that of an error of the api."""

    code: str
    why: str


class Begun(msgspec.Struct, frozen=True, array_like=True, tag="begun"):
    """It was started."""


class Ended(msgspec.Struct, frozen=True, array_like=True, tag="ended"):
    """Its first process has ended, with this code or by the signal 128 less; None: nobody knows.
    `with_job`: because its job has.
    """

    exit_code: int | None
    with_job: bool = False
    why: str = ""
    """Why its program could not be run, or was ended."""


def frame(kind: int, data: bytes = b"") -> bytes:
    """Encode one frame."""
    return _HEAD.pack(kind, len(data)) + data


async def frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    """Cut a stream of bytes into frames. Raise `MalformedBody` for one that is too long."""
    buffer = bytearray()
    async for chunk in chunks:
        buffer += chunk
        while len(buffer) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(buffer)
            if length > BYTES_MAX:
                raise malformed(f"A frame has {length} bytes, and {BYTES_MAX} are allowed.")
            end = _HEAD.size + length
            if len(buffer) < end:
                break
            body = bytes(buffer[_HEAD.size : end])
            del buffer[:end]
            yield kind, body


def malformed(detail: str) -> MalformedBody:
    """Return the error of a body that is something else."""
    return MalformedBody(
        "the body is not made of frames", detail=detail, hint="`weft exec` sends them."
    )
