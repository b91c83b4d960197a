"""Read output: from the files of this home, else from the bucket."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from weft.core.errors import LogBucketAway
from weft.plugins.log_stores.files.reader import FileReader
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.log_stores.s3.bucket import LogBucket
from weft.plugins.log_stores.s3.fetching import Fetching
from weft.ports.log_store import AttemptLog, Extent, LogDirectory
from weft.ports.patience import tasks_beside
from weft.wire.log_format import STDERR, STDOUT, Piece, encode_cut
from weft.wire.usage_format import UsageSample

_LOGS_AT_ONCE: Final = 250


class BucketLogStore:
    """Two stores of files: those that runners here have written, and those laid out from the
    bucket; see the port for the methods.
    """

    def __init__(
        self,
        here: FileLogStore,
        root: Path,
        bucket: LogBucket,
        cache: Path,
        *,
        every_s: float,
        bytes_max: int,
    ) -> None:
        self._here = here
        self._files = FileReader(root)
        self._bucket = bucket
        self._fetching = Fetching(bucket, cache, bytes_max)
        self._copies: dict[str, FileLogStore] = {}
        self._every_s = every_s

    def can_read(self, directory: LogDirectory) -> bool:
        """Say whether it is of this home, or shipped to this bucket."""
        return self._is_shipped(directory) or self._here.can_read(directory)

    def why_gone(self, log: AttemptLog) -> str | None:
        if log.directory is not None and self._is_shipped(log.directory):
            return None
        return self._here.why_gone(log)

    async def pieces(self, log: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        store, log = await self._at(log)
        async for some in store.pieces(log, after):
            yield some
        if store is not self._here and (missing := await self._gap(store, log)):
            yield missing

    async def read_all(self, logs: Sequence[AttemptLog]) -> Sequence[Sequence[Piece]]:
        sources = await asyncio.gather(*[self._at(log) for log in logs])
        found: list[Sequence[Piece]] = [()] * len(logs)
        of_store: defaultdict[FileLogStore, list[int]] = defaultdict(list)
        for index, (store, _) in enumerate(sources):
            of_store[store].append(index)
        for store, indexes in of_store.items():
            copies = [sources[index][1] for index in indexes]
            for index, pieces in zip(indexes, await store.read_all(copies), strict=True):
                found[index] = pieces
                if store is not self._here:
                    found[index] = [*pieces, *await self._gap(*sources[index])]
        return found

    async def size(self, log: AttemptLog, stream: int) -> int:
        store, log = await self._at(log)
        if store is not self._here:
            return (await store.extent(log)).count(stream)
        return await store.size(log, stream)

    async def read(self, log: AttemptLog, stream: int, start: int, stop: int) -> bytes:
        store, log = await self._at(log)
        return await store.read(log, stream, start, stop)

    async def extent(self, log: AttemptLog) -> Extent:
        store, log = await self._at(log)
        return await store.extent(log)

    async def window(
        self, log: AttemptLog, stream: int | None, start: int, stop: int
    ) -> Sequence[Piece]:
        store, log = await self._at(log)
        return await store.window(log, stream, start, stop)

    async def follow(self, log: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        """Yield pieces as they arrive. A bucket tells nobody of its growth: as long as somebody
        follows, it is looked at as often as packs come.
        """
        store, copy = await self._at(log)
        coming = store.follow(copy, after)
        if store is self._here:
            async for some in coming:
                yield some
            return
        looking = asyncio.create_task(self._look(log))
        async with tasks_beside([looking]):
            async for some in coming:
                yield some

    async def samples(self, log: AttemptLog) -> Sequence[UsageSample]:
        store, log = await self._at(log, beside=True)
        return await store.samples(log)

    async def results(
        self, logs: Iterable[AttemptLog]
    ) -> AsyncIterator[tuple[AttemptLog, AsyncIterator[bytes]]]:
        for some in _some_of(logs):
            sources = await asyncio.gather(*[self._at(log, beside=True) for log in some])
            if all(store is self._here for store, _ in sources):  # many at a time
                async for log, blocks in self._here.results(some):
                    yield log, blocks
                continue
            for log, (store, copy) in zip(some, sources, strict=True):
                async for _, blocks in store.results([copy]):
                    yield log, blocks

    async def _look(self, log: AttemptLog) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            with suppress(LogBucketAway):  # a follower sees what comes later
                await self._at(log)

    async def _at(
        self, log: AttemptLog, *, beside: bool = False
    ) -> tuple[FileLogStore, AttemptLog]:
        """Return the store to read from, and the log as that one knows it."""
        directory = log.directory
        if directory is None or not self._is_shipped(directory):
            return self._here, log
        if self._here.can_read(directory) and await asyncio.to_thread(self._is_here, log):
            return self._here, log
        root = self._fetching.directory(directory.name)
        store = self._copies.setdefault(directory.name, FileLogStore(root))
        copy = replace(log, location=None, directory=None)

        async def has_all() -> bool:
            return log.truncated or not await self._missing(store, copy)

        await self._fetching.fetch(log, has_all, beside=beside)
        return store, copy

    async def _gap(self, store: FileLogStore, log: AttemptLog) -> Sequence[Piece]:
        """Return what to say at the end of an output of which only the beginning is there."""
        missing = await self._missing(store, log)
        return missing if missing and (await store.extent(log)).n_pieces else ()

    async def _missing(self, store: FileLogStore, log: AttemptLog) -> Sequence[Piece]:
        """Return how much of what the worker has reported did not arrive."""
        if not log.ended or log.truncated:
            return ()
        found = await store.extent(replace(log, ended=False))
        gaps = (
            (STDOUT, log.stdout_bytes - found.stdout_bytes),
            (STDERR, log.stderr_bytes - found.stderr_bytes),
        )
        return [encode_cut(stream, 0, gap, 0) for stream, gap in gaps if gap > 0]

    def _is_here(self, log: AttemptLog) -> bool:
        return not log.ended or self._files.has(log)

    def _is_shipped(self, directory: LogDirectory) -> bool:
        return directory.path == self._bucket.url or directory.path.startswith(
            f"{self._bucket.url}/"
        )


def _some_of(logs: Iterable[AttemptLog]) -> Iterator[list[AttemptLog]]:
    coming = iter(logs)
    while some := list(islice(coming, _LOGS_AT_ONCE)):
        yield some
