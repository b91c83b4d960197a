"""Files that jobs of one tenant got, kept by their SHA-256 for the next ones (ADR 156).

An address is asked again whenever a job wants it, for whatever is newer than what is here. All who
want it before that begins share the answer: jobs that begin together fetch it once.
"""

import asyncio
import hashlib
import os
import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from weft.core.text.amounts import size
from weft.ports.file_store import FileDiffers, FileRefused, Head, HeldFile, StoreAway
from weft.telemetry import metrics
from weft.worker.stager.cached_files import CachedFiles, Key, Said, unlink
from weft.worker.stager.placing import append


@dataclass
class Part:
    """One input."""

    come: int = 0
    n_bytes: int | None = None
    """None: its server does not say, or has not answered yet."""
    is_here: bool = False
    source: "Part | None" = None
    """That of another job, which fetches it for this one, too."""


def words(parts: Sequence[Part]) -> str:
    """Return it for people.

    >>> words([Part(30, 30, is_here=True), Part(10, 60), Part(0, 10)])
    'fetches 2 of 3 inputs, 40 %'
    >>> words([Part(), Part(0, 10)])
    'fetches 2 of 2 inputs'
    """
    left = [one for one in parts if not one.is_here]
    text = f"fetches {len(left)} of {len(parts)} inputs"
    known = [one.source or one for one in parts]
    total = sum(one.n_bytes or 0 for one in known)
    if not total or any((one.source or one).n_bytes is None for one in left):
        return text
    come = sum(one.n_bytes or 0 if one.is_here else one.come for one in known)
    return f"{text}, {100 * min(come, total) // total} %"


_UNFIT_MAX: Final = 10_000
Made = TypeVar("Made")

Fetch = Callable[[Head], AsyncIterator[bytes]]


class NotCached(Exception):
    """A file is too large."""


class Wanted(NamedTuple):
    """What a job is to get. `digest`: what it must be, if that is known."""

    tenant_id: int
    address: str
    digest: bytes | None

    @property
    def at(self) -> Key:
        """Return what stands for the address, which may hold what opens it."""
        return self.tenant_id, hashlib.sha256(self.address.encode()).digest()


class Getting(NamedTuple):
    """How a job gets it."""

    fetch: Fetch
    """Yields what the address has, and nothing if that is known."""
    bytes_max: int
    part: Part


@dataclass
class _Turn:
    """One question, and who waits for its answer."""

    part: Part
    task: "asyncio.Task[HeldFile] | None" = None
    n_waiting: int = 0
    is_open: bool = True
    """It has not begun, so whoever comes may share its answer."""


class InputCache:
    """The cache of one worker. `bytes_max`: of all its files; 0: there is none."""

    def __init__(self, directory: Path, bytes_max: int, *, for_accounts: bool = False) -> None:
        self._files = CachedFiles(directory, for_accounts=for_accounts)
        self._bytes_max = bytes_max
        self._loading: asyncio.Task[None] | None = None
        self._turns: dict[Wanted, list[_Turn]] = {}
        self._unfit: OrderedDict[Wanted, None] = OrderedDict()

    @property
    def is_on(self) -> bool:
        """Say whether anything is kept."""
        return self._bytes_max > 0

    @property
    def n_bytes(self) -> int:
        """Return how much is kept."""
        return self._files.n_bytes

    def tidy(self) -> None:
        """Remove what was kept while the cache was on."""
        if not self.is_on and self._files.directory.exists():
            shutil.rmtree(self._files.directory, ignore_errors=True)

    async def get(self, wanted: Wanted, getting: Getting) -> HeldFile:
        """Return an open file, which the caller closes. Raise `NotCached`, `FileDiffers`, and what
        fetching raises.
        """
        if wanted in self._unfit:
            raise NotCached
        await self._load()
        while True:
            turn, is_mine = self._turn(wanted, getting)
            assert turn.task is not None
            getting.part.source = None if is_mine else turn.part
            turn.n_waiting += 1
            try:
                held = await asyncio.shield(turn.task)
                metrics.INPUTS.labels("given").inc()
                return held._replace(fd=os.dup(held.fd))
            except FileRefused:
                if is_mine:
                    raise  # else it was asked for by an attempt that may be over
            finally:
                turn.n_waiting -= 1
                if not turn.n_waiting:
                    _settle(turn)

    async def free_some(self) -> bool:
        """Remove what was not used for longest; return whether there was anything."""
        oldest = self._files.oldest()
        if oldest is None:
            return False
        await asyncio.to_thread(unlink, self._files.forget(oldest))
        return True

    async def _load(self) -> None:
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._files.load))
        if not self._loading.done():
            await asyncio.shield(self._loading)
            await self._shrink()

    def _turn(self, wanted: Wanted, getting: Getting) -> tuple[_Turn, bool]:
        """Return a question that has not begun, and whether it is new."""
        turns = self._turns.setdefault(wanted, [])
        if turns and turns[-1].is_open:
            return turns[-1], False
        before = [one.task for one in turns if one.task is not None]
        turn = _Turn(getting.part)

        async def ask() -> HeldFile:
            if before:
                await asyncio.wait(before)
            turn.is_open = False
            return await self._ask(wanted, getting)

        def forget(task: "asyncio.Task[HeldFile]") -> None:
            if not task.cancelled():
                task.exception()  # those who wait for it get it, if there are any
            turns.remove(turn)
            if not turns and self._turns.get(wanted) is turns:
                del self._turns[wanted]

        turn.task = asyncio.create_task(ask())
        turns.append(turn)
        turn.task.add_done_callback(forget)
        return turn, True

    async def _ask(self, wanted: Wanted, getting: Getting) -> HeldFile:
        """Return what an address has now."""
        known, held, head = self._files.known(wanted.at), None, Head()
        if known is not None and wanted.digest in {None, known[0][1]}:
            key, said = known
            held = await _taken(asyncio.to_thread(self._files.opened, key), _close)
            if held is None:
                unlink(self._files.forget(key))
            elif wanted.digest is None:
                head = Head(said.version, said.found_at)
        try:
            fresh = None
            if held is None or wanted.digest is None:
                fresh = await self._fetch(wanted, getting, head)
        except BaseException:
            if held is not None:
                os.close(held.fd)
            raise
        if fresh is None:
            assert held is not None
            self._files.use((wanted.tenant_id, held.digest))
            return held
        if held is not None:
            os.close(held.fd)
        try:
            await self._shrink()
        except BaseException:
            os.close(fresh.fd)
            raise
        return fresh

    async def _fetch(self, wanted: Wanted, getting: Getting, head: Head) -> HeldFile | None:
        """Return what has come, kept; None: it is what is here."""
        path, fd = await _taken(asyncio.to_thread(self._files.make, wanted.tenant_id), _throw_away)
        try:
            held = await self._receive(wanted, getting, head, fd)
            if held is not None and (head.version or wanted.digest is not None):
                await self._keep(wanted, path, held, Said(head.version, head.found_at))
        except BaseException:
            os.close(fd)
            raise
        finally:
            unlink([path])  # it has another name if it is kept
        if held is None:
            os.close(fd)
        else:
            metrics.INPUTS.labels("fetched").inc()
        return held

    async def _receive(
        self, wanted: Wanted, getting: Getting, head: Head, fd: int
    ) -> HeldFile | None:
        found, size = hashlib.sha256(), 0
        async with aclosing(getting.fetch(head)) as pieces:  # type: ignore[type-var]  # it is a generator
            async for piece in pieces:
                if (head.n_bytes or 0) > self._bytes_max:
                    raise self._refused(wanted)
                size += len(piece)
                if size > getting.bytes_max:
                    most = getting.bytes_max
                    raise FileRefused(f"it has more than {most} bytes (input_bytes_max)")
                if size > self._bytes_max:
                    raise self._refused(wanted)
                await append(fd, found, piece)
        if head.is_known:
            return None
        if wanted.digest not in {None, found.digest()}:
            raise FileDiffers("its bytes are not those that were expected")
        return HeldFile(fd, size, found.digest())

    async def _keep(self, wanted: Wanted, path: Path, held: HeldFile, said: Said) -> None:
        key = wanted.tenant_id, held.digest
        gone = self._files.leave(wanted.at)
        await asyncio.to_thread(unlink, gone)
        all_said = self._files.said_of(key, wanted.at, said)
        seen = await asyncio.to_thread(self._files.place, path, held.fd, key, all_said)
        self._files.add(key, held.n_bytes, all_said, seen)

    async def _shrink(self) -> None:
        while self._files.is_above(self._bytes_max) and await self.free_some():
            pass

    def _refused(self, wanted: Wanted) -> NotCached:
        """Remember that a file is not for the cache."""
        self._unfit[wanted] = None
        if len(self._unfit) > _UNFIT_MAX:
            self._unfit.popitem(last=False)
        return NotCached()


async def _taken(work: Awaitable[Made], drop: Callable[[Made], None]) -> Made:
    """Return what a thread makes. If nobody waits for it any more, drop it: a thread that has
    begun is not stopped.
    """
    making = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:

        def over(made: "asyncio.Future[Made]") -> None:
            if not made.cancelled() and made.exception() is None:
                drop(made.result())

        making.add_done_callback(over)
        raise


def _close(held: HeldFile | None) -> None:
    if held is not None:
        os.close(held.fd)


def _throw_away(made: tuple[Path, int]) -> None:
    path, fd = made
    os.close(fd)
    unlink([path])


def _settle(turn: _Turn) -> None:
    """End a question for which nobody waits any more."""
    task = turn.task
    assert task is not None
    turn.is_open = False
    if not task.done():
        task.cancel()
    elif not task.cancelled() and task.exception() is None:
        os.close(task.result().fd)


LEFT_BYTES: Final = 64 << 20
"""What stays free for output and all else."""

Promise = Callable[[int], Awaitable[None]]
"""Keeps room for a file of this number of bytes. Raises `NoRoom`."""


class NoRoom(StoreAway):
    """There is no room for a file now."""


class DiskRoom:
    """What is free below a directory, less what files that are being written will need."""

    def __init__(self, directory: Path, free_some: Callable[[], Awaitable[bool]]) -> None:
        """`free_some` removes what can be had again, and says whether there was any."""
        self._directory = directory
        self._free_some = free_some
        self._promised = 0

    @contextmanager
    def for_files(self) -> Iterator[Promise]:
        """Give what promises files their room until the end."""
        mine = 0

        async def promise(n_bytes: int) -> None:
            nonlocal mine
            while (free := await asyncio.to_thread(self._free)) < n_bytes + LEFT_BYTES:
                if not await self._free_some():
                    raise NoRoom(
                        f"it has {size(n_bytes)}, and the worker's disk has room for "
                        f"{size(max(0, free - LEFT_BYTES))}"
                    )
            mine += n_bytes
            self._promised += n_bytes

        try:
            yield promise
        finally:
            self._promised -= mine

    def _free(self) -> int:
        facts = os.statvfs(self._directory)
        return facts.f_bavail * facts.f_frsize - self._promised
