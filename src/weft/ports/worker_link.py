"""The link of workers outside: they call the store through the api.

A frame names a call of `LinkCalls` and holds its arguments; what is answered is the call's result.
Both are msgpack, in forms that follow from the methods: an argument that is added later has a
default, so that older workers go on.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, Protocol, get_type_hints

import msgspec
from msgspec import Meta

from weft.core.bounded import read_msgpack
from weft.core.bounds import (
    Count,
    Digest,
    Entries,
    Listed,
    Milliseconds,
    Name,
    Number,
    PathText,
    ShortBytes,
)
from weft.core.errors import ExecElsewhere
from weft.core.states import AttemptKey
from weft.ports.checkpoints import CheckpointFound
from weft.ports.file_store import Signed, ToSign
from weft.ports.function_signatures import ChunkKey, Refused
from weft.ports.left_files import LeftFile
from weft.ports.running_files import RunningAttempt, RunningFile, RunningFiles
from weft.ports.store.driver import Notices
from weft.ports.store.worker import (
    Attempts,
    Claimed,
    EndReport,
    HeartbeatAnswer,
    OfferedStore,
    Registered,
    WorkerStore,
)
from weft.ports.store.worker_files import StoredSecret
from weft.wire import exec as wire

FRAME_VERSION: Final = 1
FRAME_VERSIONS: Final = (FRAME_VERSION,)
"""Those that an api reads: its own, and that of the release before where it is another."""
FRAME_BYTES_MAX: Final = 16 << 20
LOG_BYTES_MAX: Final = 1 << 20
"""Bytes of output in one frame."""
LOOKED_MAX: Final = 10_000
"""Files in one answer: at their longest paths they fit into a frame."""
_Part = Annotated[bytes, Meta(max_length=LOG_BYTES_MAX)]


class LinkTerms(NamedTuple):
    """What is known of a linked incarnation."""

    pool_id: int
    log_place: str | None
    worker: str = ""
    """Its name."""


class LinkFacts(msgspec.Struct, frozen=True, array_like=True):
    """What a worker says of itself with each heartbeat, for those who look at its api. Later
    releases may say more: nobody minds what comes behind.
    """

    delay_ms: Milliseconds
    """How long the heartbeat before took, there and back."""
    unshipped_bytes: Count
    """Output that the api does not have yet."""
    input_cache_bytes: Count


class Hello(msgspec.Struct, frozen=True):
    """What the link tells a worker before it registers."""

    database_id: str
    lost_after_s: float
    """After how much silence the database gives the worker's jobs to others."""
    pool: str = ""
    """For whose workers the token is; empty: an api of the release before tells nothing."""
    workers: str = ""
    """Their names, as a pattern."""
    now: float | None = None
    """The wall clock of the api, which decides nothing."""


class Look(msgspec.Struct, frozen=True):
    """A question about the directory of a running attempt: a notice on the channel `look`."""

    number: str
    key: AttemptKey
    path: str | None = None
    """None: which files there are."""
    start: int = 0
    n_bytes: int = 0
    """Of this file, at most `LOG_BYTES_MAX`; 0: how long it is."""
    opens: bool = False
    """Open a stream for a command beside it instead; older releases look for the file."""


class Seen(NamedTuple):
    """What is there: the files by path, or this one, or none; and bytes of it."""

    files: Annotated[Sequence[RunningFile], Meta(max_length=LOOKED_MAX)] = ()
    data: _Part = b""


class LogPart(NamedTuple):
    """Bytes of one file of output."""

    path: PathText
    offset: Count
    data: _Part


class HearsWorkers(Protocol):
    """What workers outside have said of themselves last."""

    def told(self) -> Mapping[tuple[str, str], LinkFacts]:
        """Return it by pool and name; of those that were silent for long there is nothing."""

    def show(self) -> None:
        """Set the metrics of the workers that were heard of."""


_ANSWER_BYTES_MAX: Final = 4096
_LOST: Final = wire.END, msgspec.json.encode(wire.Ended(None))


class CarriedCommand:
    """A command beside a job of a worker outside, as its api has it (`Channel` on the worker's
    host). The bodies of the stream that the worker has opened are joined to those of who asked,
    piece by piece: who does not read stops the other. `frames`: of the worker, to its end.
    """

    def __init__(self, frames: wire.Frames) -> None:
        self._frames = frames
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(4)
        self.over = asyncio.Event()

    async def begin(
        self, begin: wire.Begin, terminal: wire.Terminal | None
    ) -> "CarriedCommand | wire.Refused":
        """Have it started; return this, or why it was not."""
        await self.take(wire.BEGIN, msgspec.msgpack.encode((begin, terminal)))
        kind, data = await self._next()
        lost = wire.Refused(ExecElsewhere.code, "its worker does not answer any more")
        answer: wire.Begun | wire.Refused = lost
        with suppress(msgspec.DecodeError):
            if kind == wire.BEGIN and len(data) <= _ANSWER_BYTES_MAX:
                answer = read_msgpack(data, wire.Begun | wire.Refused)
        if isinstance(answer, wire.Begun):
            return self
        self.close()
        return answer

    async def take(self, kind: int, data: bytes) -> bool:
        """Pass a frame of the client on; the worker says what is nonsense."""
        await self._queue.put(wire.frame(kind, data))
        return True

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Yield what the client is to get; the last frame says how the command ended."""
        kind = wire.TAKEN
        while kind != wire.END:
            kind, data = await self._next()
            yield wire.frame(kind, data)

    async def sent(self) -> AsyncGenerator[bytes, None]:
        """Yield what the worker is to get."""
        while not self.over.is_set():
            piece = wire.frame(wire.ALIVE)
            with suppress(TimeoutError):
                async with asyncio.timeout(wire.QUIET_S):
                    piece = await self._queue.get()
            yield piece

    def close(self) -> None:
        """End it, at the worker as well."""
        self.over.set()
        if self._queue.empty():
            self._queue.put_nowait(b"")

    async def _next(self) -> tuple[int, bytes]:
        with suppress(TimeoutError):
            async with asyncio.timeout(wire.SILENCE_S):
                found = await anext(self._frames, None)  # a tuple as default fails in Python 3.11
                return found if found and found[0] in range(4) else _LOST
        return _LOST


class ServedLink(Protocol):
    """The other end of workers outside, as the rest of an api sees it."""

    @property
    def hearing(self) -> HearsWorkers:
        """What they say."""

    @property
    def running(self) -> RunningFiles:
        """The files of attempts that they run."""

    async def begin_exec(
        self, of: RunningAttempt, begin: wire.Begin, terminal: wire.Terminal | None
    ) -> CarriedCommand | wire.Refused | None:
        """Start a command beside an attempt; None: none of them has it."""


class LinkCalls(WorkerStore, OfferedStore, Protocol):
    """All that a linked worker may call."""

    async def hello(self) -> Hello:
        """Return which database this is, and its terms."""

    async def write_log(
        self, incarnation_id: Number, path: PathText, offset: Count, data: _Part
    ) -> int:
        """Keep this part of a file of output, at most `LOG_BYTES_MAX`; return how long the file is
        now. What begins behind its end is not kept: send what is missing first. Repeats are
        harmless.
        """

    async def write_logs(
        self, incarnation_id: Number, parts: Annotated[Sequence[LogPart], Listed]
    ) -> Sequence[int]:
        """Do so for parts of many files, at most `LOG_BYTES_MAX` and `LISTED_MAX` in all; -1: this
        one was refused, which `write_log` would say.
        """

    async def sign_files(
        self, incarnation_id: Number, key: AttemptKey, wanted: Annotated[Sequence[ToSign], Entries]
    ) -> Sequence[Signed]:
        """Return a URL for each of these objects, which a live attempt of this worker is to get or
        to leave. The worker never has what signs them.
        """

    async def seal_secrets(
        self,
        incarnation_id: Number,
        wanted: Annotated[Sequence[tuple[AttemptKey, Name]], Entries],
        public_key: ShortBytes,
    ) -> Sequence[StoredSecret | None]:
        """Return secrets as `get_secrets` does, sealed for this key of the worker
        (`weft_link/seal.py`).
        """

    async def check_functions(
        self, incarnation_id: Number, chunks: Annotated[Sequence[tuple[ChunkKey, Digest]], Entries]
    ) -> Sequence[Refused | None]:
        """Return why the functions of these chunks, each with its SHA-256, are not called; None:
        the owner of the batch has signed them.
        """

    async def remove_logs(
        self, incarnation_id: Number, paths: Annotated[Sequence[PathText], Entries]
    ) -> None:
        """Forget these files, or these batches (`attempts/b7`). Repeats are harmless."""

    async def answer_look(self, incarnation_id: Number, number: Name, seen: Seen) -> None:
        """Answer a question; see `Look`. An answer that comes too late is worth nothing."""

    async def write_checkpoint(
        self,
        incarnation_id: Number,
        key: AttemptKey,
        offset: Count,
        data: _Part,
        found: CheckpointFound,
    ) -> int:
        """Keep this part of what a live attempt has put into its checkpoint's directory, at most
        `LOG_BYTES_MAX`; return how much of it is there. The first part begins it anew. With its
        last byte it takes the place of what was kept of the job before, whose digest it must have.
        """

    async def write_file(
        self, incarnation_id: Number, key: AttemptKey, offset: Count, data: _Part, file: LeftFile
    ) -> int:
        """Keep this part of a file that a live attempt has left, at most `LOG_BYTES_MAX`; return
        how much of it is there, which is all if the server has it. `record_files` is refused for
        files that have not come. Repeats are harmless.
        """

    async def find_checkpoint(
        self, incarnation_id: Number, key: AttemptKey
    ) -> CheckpointFound | None:
        """Return what is kept of the job of a live attempt."""

    async def read_checkpoint(
        self, incarnation_id: Number, key: AttemptKey, offset: Count
    ) -> bytes:
        """Return a part of it, at most `LOG_BYTES_MAX`; nothing: that is all."""


class Beat(NamedTuple):
    """The heartbeat of one worker."""

    incarnation_id: int
    attempts: Attempts
    draining: bool
    claiming: bool
    heard: Sequence[int]


class Ends(NamedTuple):
    """What one worker reports as ended."""

    incarnation_id: int
    reports: Sequence[EndReport]


class LookStore(Protocol):
    """Questions to workers outside, which may be connected to another api than the one that asks,
    and answer to a third.
    """

    async def ask_look(
        self, number: str, key: AttemptKey, question: str, *, most: int, open_s: float
    ) -> int | None:
        """Ask the worker that has an attempt: all apis hear `(look, "incarnation:number")`. Return
        its incarnation; 0: it has `most` questions that are younger than `open_s`; None: it is no
        worker outside, or has the attempt no more.
        """

    async def read_look(self, incarnation_id: int, number: str) -> str | None:
        """Return the question; None: nobody waits for an answer any more."""

    async def answer_look(self, incarnation_id: int, number: str, answer: bytes) -> None:
        """Give the answer to the api that asked: it hears `(look, ":number")`."""

    async def take_look(self, number: str) -> bytes | None:
        """Forget a question; return its answer, if `answer_look` got one."""


class LinkedStore(WorkerStore, OfferedStore, LookStore, Protocol):
    """The store behind the link, beside the api."""

    async def heartbeats(self, beats: Sequence[Beat]) -> Sequence[HeartbeatAnswer | None]:
        """Record heartbeats of several workers in one transaction, each as `heartbeat` does. None:
        ask for this one alone.
        """

    async def complete_together(self, ends: Sequence[Ends]) -> Sequence[Sequence[str] | None]:
        """Record ends that workers of one pool report in one transaction, each as
        `complete_attempts` does. None: ask for this one alone.
        """

    @property
    def notices(self) -> Notices:
        """Return the news of this store."""

    async def register_linked(self, by_token: int, facts: Mapping[str, Any]) -> Registered:
        """Register a worker for this token: nobody else may use its incarnation."""

    async def database_id(self) -> str:
        """Return which database this is."""

    async def list_live(self, incarnation_id: int) -> Sequence[Claimed]:
        """Return the live attempts of an incarnation."""

    async def list_run_at(
        self, log_place: str, jobs: Sequence[tuple[int, int]]
    ) -> Sequence[tuple[int, int]]:
        """Return which of these jobs have an attempt of a worker whose output is there."""

    async def get_link(self, incarnation_id: int, by_token: int) -> LinkTerms | None:
        """Return what is known of an incarnation that this token has registered; None: it has
        not, or the token is not valid any more.
        """


NO_FACTS: Final = msgspec.Raw(msgspec.msgpack.encode(None))


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """One call."""

    version: Number
    incarnation_id: Number
    """Who asks; 0: it has not registered."""
    call: Name
    arguments: msgspec.Raw
    facts: msgspec.Raw = NO_FACTS
    """`LinkFacts` of heartbeats. They are read apart, so that no heartbeat is refused for them. An
    api of the release before does not read them.
    """


@dataclass(frozen=True)
class CallForm:
    """How one call is written."""

    signature: inspect.Signature
    arguments: type[msgspec.Struct]
    result: Any  # an annotation

    def encode_arguments(self, args: Sequence[object], given: Mapping[str, object]) -> bytes:
        """Return arguments as they are sent."""
        bound = self.signature.bind(None, *args, **given).arguments
        bound.pop("self")
        return msgspec.msgpack.encode(bound)

    def decode_arguments(self, data: msgspec.Raw) -> dict[str, Any]:
        """Read arguments. Raise `msgspec.DecodeError`."""
        msgpack = read_msgpack(data, self.arguments, is_counted=True)  # with its frame
        return {name: getattr(msgpack, name) for name in self.arguments.__struct_fields__}

    def decode_result(self, data: bytes) -> Any:  # noqa: ANN401 (of the call's type)
        """Read a result. Raise `msgspec.DecodeError`."""
        return read_msgpack(data, self.result)


@cache
def call_forms() -> Mapping[str, CallForm]:
    """Return the forms of all calls, by name."""
    kinds = (WorkerStore, OfferedStore, LinkCalls)
    names = [name for kind in kinds for name in vars(kind) if name[0] != "_"]
    return {name: _form_of(name) for name in names}


def _form_of(name: str) -> CallForm:
    method = getattr(LinkCalls, name)
    signature, hints = inspect.signature(method), get_type_hints(method, include_extras=True)
    result = hints.pop("return")
    fields: list[Any] = [
        (one, hints[one])
        if parameter.default is parameter.empty
        else (one, hints[one], parameter.default)
        for one, parameter in signature.parameters.items()
        if one != "self"
    ]
    # Keys of keyword arguments may come in any order, and so may those without a default.
    return CallForm(signature, msgspec.defstruct(name, fields, kw_only=True), result)
