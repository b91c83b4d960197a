"""The output of attempts at an engine: followed while they run, complete when they have ended.

How much of it the log store has is the position from which the engine is asked, by this gateway
and by the next one: nothing is stored twice, and nothing is left out.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from weft.core.errors import Unavailable, WeftError
from weft.core.states import AttemptKey
from weft.plugins.runners.remote.ends import at_ns
from weft.plugins.runners.remote.engine import Engine, Status
from weft.plugins.runners.remote.handles import Handle
from weft.ports.executor import ExecutorLimits, kept_of
from weft.ports.log_store import LogWriter, Stored, StoredStream
from weft.wire.log_format import LogLocation, Piece, encode_cut

_LOOK_S: Final = 1.0
_LIVE_MAX: Final = 1 << 18
"""Bytes of a stream that are read at a look."""
_MS: Final = 1_000_000


class Rest(NamedTuple):
    """What of a stream is still to be stored, by offsets: its beginning and its end."""

    head: tuple[int, int]
    cut: int
    """Bytes between them, which are left out."""
    tail: tuple[int, int]


def rest_of(size: int, has: StoredStream, limits: ExecutorLimits) -> Rest:
    """Return what is to be stored of a stream of this size that will not grow any more."""
    room, head_bytes = room_of(has, limits)
    cut = size - has.written - room
    if cut <= 0:
        return Rest((has.written, size), 0, (size, size))
    head_stop = has.written + head_bytes
    return Rest((has.written, head_stop), cut, (size - (room - head_bytes), size))


def room_of(has: StoredStream, limits: ExecutorLimits) -> tuple[int, int]:
    """Return how many bytes of a stream may still be kept, and how many of them are its
    beginning, if it has more.
    """
    kept_max, head_bytes = kept_of(limits, has.kept_max)
    room = max(0, kept_max - has.kept)
    return room, min(room, max(0, head_bytes - has.kept))


def live_bytes(has: StoredStream, limits: ExecutorLimits) -> int:
    """Return how many bytes of a stream may be read while it grows. Half of what is kept is for
    its end, unless more of it is the beginning.
    """
    kept_max, head_bytes = kept_of(limits, has.kept_max)
    live_max = max(kept_max // 2, head_bytes)
    return min(_LIVE_MAX, max(0, live_max - has.kept))


def pieces_of(stream: int, head: bytes, cut: int = 0, tail: bytes = b"") -> list[Piece]:
    """Return a stream's bytes as pieces, with the cut between them."""
    pieces = [Piece(stream, 0, head), encode_cut(stream, 0, cut, 1), Piece(stream, 0, tail)]
    return [one for one, is_there in zip(pieces, (head, cut, tail), strict=True) if is_there]


async def grown_of(
    stored: Mapping[str, Stored],
    grown: Callable[[str, Stored], Awaitable[list[Piece]]],
    silent: tuple[type[Exception], ...] = (WeftError,),
) -> Mapping[str, Sequence[Piece]]:
    """Return what `grown` says of each attempt, without those whose node is away: then it raises
    one of `silent`.
    """
    answers = await asyncio.gather(
        *(grown(name, has) for name, has in stored.items()), return_exceptions=True
    )
    found = {}
    for name, answer in zip(stored, answers, strict=True):
        if not isinstance(answer, BaseException):
            found[name] = answer
        elif not isinstance(answer, silent):
            raise answer
    return found


class _Output:
    """The output of one attempt."""

    def __init__(self, stored: Stored | None) -> None:
        self.stored = stored
        """None: the log store is to be asked."""
        self.is_new = stored is not None
        """Whether nothing was stored of it: what the log store has of this name is another's."""
        self.started_ns = 0
        self.lock = asyncio.Lock()
        """Held while pieces are added."""


class Outputs:
    """Brings the output of one gateway's attempts into its log store."""

    def __init__(
        self,
        engine: Engine,
        logs: LogWriter,
        held: Callable[[AttemptKey], Handle | None] = lambda _key: None,
    ) -> None:
        """`held(key)`: what is to be run."""
        self._engine = engine
        self._logs = logs
        self._held = held
        self._known: dict[AttemptKey, _Output] = {}
        self._followed: dict[AttemptKey, None] = {}
        """In the order in which they are looked at."""
        self._following: asyncio.Task[None] | None = None

    def clear(self) -> None:
        """Know nothing, and follow nothing."""
        if self._following is not None:
            self._following.cancel()
            self._following = None
        self._known.clear()
        self._followed.clear()

    def begin(self, keys: Iterable[AttemptKey]) -> None:
        """Note attempts of which nothing is stored."""
        self._known.update((key, _Output(self._limited(key, Stored()))) for key in keys)

    def forget(self, keys: Iterable[AttemptKey]) -> None:
        """Drop what is known of attempts."""
        for key in keys:
            self._known.pop(key, None)
            self._followed.pop(key, None)

    def follow(self, key: AttemptKey, status: Status) -> None:
        """Store what an attempt writes from its start on, until it is collected."""
        if status.started_s_ago is None or key in self._followed or not self._engine.followed_max:
            return
        self._output(key).started_ns = at_ns(status.started_s_ago)
        self._followed[key] = None
        if self._following is None or self._following.done():
            self._following = asyncio.ensure_future(self._follow())

    async def collect(self, key: AttemptKey, status: Status) -> tuple[Stored, LogLocation | None]:
        """Store what is not stored of an attempt that has ended; return all, and where it is."""
        self._followed.pop(key, None)
        if status.started_s_ago is None:
            return Stored(), None
        output = self._output(key)
        async with output.lock:
            stored = await self._stored(key, output)
            pieces = [] if status.is_gone else await self._engine.output(key.name, stored)
            if pieces:
                ran_s = status.started_s_ago - (status.ended_s_ago or 0.0)
                stored = await self._add(key, output, stored, pieces, int(ran_s * 1000))
            return stored, await self._logs.finish(key) if stored.n_pieces else None

    def _output(self, key: AttemptKey) -> _Output:
        return self._known.setdefault(key, _Output(None))

    async def _follow(self) -> None:
        """Look at some in each period, in turn, until all are collected."""
        while self._followed:
            await asyncio.sleep(_LOOK_S)
            some = [*self._followed][: self._engine.followed_max]
            for key in some:
                self._followed[key] = self._followed.pop(key)
            try:
                await self._look(some)
            except (Unavailable, OSError):
                continue  # the end brings it, or says why not

    async def _look(self, keys: Sequence[AttemptKey]) -> None:
        has = {key: await self._stored(key, self._output(key)) for key in keys}
        grown = await self._engine.grown({key.name: stored for key, stored in has.items()})
        now_ns = time.monotonic_ns()
        for key, stored in has.items():
            output, pieces = self._output(key), grown.get(key.name)
            if not pieces:
                continue
            async with output.lock:
                if key in self._followed and output.stored == stored:
                    at_ms = (now_ns - output.started_ns) // _MS
                    await self._add(key, output, stored, pieces, at_ms)

    async def _stored(self, key: AttemptKey, output: _Output) -> Stored:
        if output.stored is None:
            output.stored = self._limited(key, await self._logs.stored(key))
        return output.stored

    def _limited(self, key: AttemptKey, stored: Stored) -> Stored:
        """Return it with how much of each stream the job lets be kept."""
        held = self._held(key)
        said = None if held is None else held.assignment.spec.log
        return stored if said is None or said.max_bytes is None else stored.at_most(said.max_bytes)

    async def _add(
        self, key: AttemptKey, output: _Output, stored: Stored, pieces: Sequence[Piece], at_ms: int
    ) -> Stored:
        output.stored = None  # until it is known to be stored
        anew, output.is_new = output.is_new, False
        dated = [piece._replace(at_ms=max(0, at_ms)) for piece in pieces]
        await self._logs.append(key, dated, after=stored.n_pieces, anew=anew)
        output.stored = stored.plus(dated)
        return output.stored
