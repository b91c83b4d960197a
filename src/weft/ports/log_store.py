"""The port `log_store`: the output of attempts, written by runners and read by the api.

Reads are awaited; a store on this host reads in threads.

Positions count the *pieces* of an attempt (`wire/log_format.py`) from 0; `after` pieces are
skipped.

Built in: `files`. Loaded by the entry points `weft.log_stores`; each is called with a
`LogStoreSite`.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from weft.core.states import AttemptKey
from weft.ports.plugins import PluginGroup
from weft.wire.log_format import CUT, CUT_BODY, STDERR, STDOUT, LogLocation, Piece, count_pieces
from weft.wire.usage_format import UsageSample


@dataclass(frozen=True)
class LogDirectory:
    """The directory in which a worker keeps output."""

    name: str
    """A random name, which tells it from directories of other homes."""
    host: str
    path: str


@dataclass(frozen=True)
class AttemptLog:
    """The output of one attempt, as the database describes it."""

    batch_id: int
    job_id: int
    attempt: int
    ended: bool
    location: LogLocation | None
    """None: the attempt alone identifies it."""
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    state: str
    """The job's state now."""
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    message: str | None = None
    directory: LogDirectory | None = None
    """None: the worker did not say; it shares that of the api."""
    why_gone: str | None = None
    """Why it was removed, in one sentence; None: it was not, as far as the database knows."""
    of_job: int | None = None
    """The job that was asked for and did not run, as this one had done the same (`cache`)."""

    @property
    def asked_job(self) -> int:
        """Return the number of the job whose output this is to its readers."""
        return self.job_id if self.of_job is None else self.of_job


class Extent(NamedTuple):
    """How much of an output is stored now."""

    stdout_bytes: int
    stderr_bytes: int
    n_pieces: int
    """After these a follower sees what is written next."""

    def count(self, stream: int | None) -> int:
        """Return the bytes of one stream, or of both."""
        return {STDOUT: self.stdout_bytes, STDERR: self.stderr_bytes}.get(
            stream or 0, self.stdout_bytes + self.stderr_bytes
        )


class StoredStream(NamedTuple):
    """How much of one stream a writer has stored."""

    written: int = 0
    """The offset of the next byte: the stored ones, and those that were left out."""
    kept: int = 0
    kept_max: int | None = None
    """How much its job lets be kept; None: it does not say."""


class Stored(NamedTuple):
    """How much of the output of one attempt a writer has stored."""

    n_pieces: int = 0
    stdout: StoredStream = StoredStream()
    stderr: StoredStream = StoredStream()

    @property
    def is_cut(self) -> bool:
        """Return whether bytes were left out."""
        return any(one.written > one.kept for one in (self.stdout, self.stderr))

    def of(self, stream: int) -> StoredStream:
        """Return one stream."""
        return self.stdout if stream == STDOUT else self.stderr

    def at_most(self, kept_max: int) -> "Stored":
        """Return the same of a job that lets this much of each stream be kept."""
        streams = (one._replace(kept_max=kept_max) for one in (self.stdout, self.stderr))
        return Stored(self.n_pieces, *streams)

    def plus(self, pieces: Iterable[Piece]) -> "Stored":
        """Return how much it is with these pieces behind the others."""
        n_pieces, streams = self.n_pieces, {STDOUT: self.stdout, STDERR: self.stderr}
        for piece in pieces:
            n_pieces += count_pieces(piece)
            if piece.kind == CUT:
                stream, n_bytes, _ = CUT_BODY.unpack(piece.data)
                has = streams[stream]
                streams[stream] = has._replace(written=has.written + n_bytes)
            elif piece.kind in streams:
                has, size = streams[piece.kind], len(piece.data)
                streams[piece.kind] = has._replace(
                    written=has.written + size, kept=has.kept + size
                )
        return Stored(n_pieces, streams[STDOUT], streams[STDERR])


class LogStore(Protocol):
    """The output of attempts: the reading half."""

    def can_read(self, directory: LogDirectory) -> bool:
        """Say whether this store reads a directory; elsewhere its methods find nothing."""

    def why_gone(self, log: AttemptLog) -> str | None:
        """Return why the output of an attempt that has ended was removed, in one sentence; None:
        it is there, or nothing was removed. It is asked often, and must not wait.
        """

    def pieces(self, log: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        """Yield the stored pieces in reading order, without the first `after` pieces."""

    async def read_all(self, logs: Sequence[AttemptLog]) -> Sequence[Sequence[Piece]]:
        """Return all pieces of each of these logs, whose outputs are short."""

    async def size(self, log: AttemptLog, stream: int) -> int:
        """Return how many bytes of one stream are stored now."""

    async def read(self, log: AttemptLog, stream: int, start: int, stop: int) -> bytes:
        """Return bytes of one stream; fewer if it ends before `stop`."""

    async def extent(self, log: AttemptLog) -> Extent:
        """Return how much is stored now."""

    async def window(
        self, log: AttemptLog, stream: int | None, start: int, stop: int
    ) -> Sequence[Piece]:
        """Return bytes of one stream, or of both in the order in which they were written, as
        pieces with the cuts between them. The time depends on how many bytes that is, not on
        their place.
        """

    def follow(self, log: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        """Yield pieces as they arrive, until the iterator is closed. Whatever stores the output
        reports its growth; nothing is polled.
        """

    async def samples(self, log: AttemptLog) -> Sequence[UsageSample]:
        """Return what the attempt used, oldest sample first; empty: none was kept."""

    def results(
        self, logs: Iterable[AttemptLog]
    ) -> AsyncIterator[tuple[AttemptLog, AsyncIterator[bytes]]]:
        """Yield for each log the blocks of its function's result (`wire/function.py`); no blocks:
        there is no result. Read them before asking for the next log.
        """


class LogKeeper(Protocol):
    """What removes output: the half for agents, each for its own directory."""

    async def batches(self) -> Sequence[int]:
        """Return the batches with output that can be removed."""

    async def remove(self, batch_ids: Sequence[int]) -> None:
        """Remove the output of these batches. Safe to repeat, and for two callers at once."""


class LogWriter(Protocol):
    """The writing half: for runners that collect output from elsewhere.

    The spawner writes for itself, in the form of the log store `files`.
    """

    async def append(
        self, key: AttemptKey, pieces: Sequence[Piece], *, after: int, anew: bool = False
    ) -> None:
        """Add pieces; the first has the number `after`. Pieces that are stored already are
        skipped, so a runner that was killed may collect the same pieces again. `anew`: what is
        stored goes; it is of an attempt that a database had before it was restored.
        """

    async def stored(self, key: AttemptKey) -> Stored:
        """Return how much is stored: where a runner that was killed goes on."""

    async def keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        """Keep these samples of what an attempt uses, instead of those that are stored."""

    async def finish(self, key: AttemptKey) -> LogLocation | None:
        """Return the location of the output; nothing may be appended after this."""


@dataclass(frozen=True, kw_only=True)
class LogStoreSite:
    """Where a log store is."""

    root: Path
    """Of the api, the directory that holds those of all workers of its home; of a worker, its own.
    """


class LogStoreParts(Protocol):
    """The parts of one log store, each made where a role needs it."""

    @property
    def place(self) -> str:
        """Return the name by which the database knows where this worker keeps output."""

    def reader(self) -> LogStore:
        """Return the half for the api."""

    def keeper(self) -> LogKeeper:
        """Return what removes output, for agents."""

    def writer(self) -> LogWriter:
        """Return what runners write with that collect output from elsewhere."""


LogStoreFactory = Callable[[LogStoreSite], LogStoreParts]
LOG_STORE_PLUGINS: Final = PluginGroup[LogStoreFactory]("weft.log_stores", "log store")
