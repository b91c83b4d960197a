"""What every log store must do: a suite that an author of one subclasses."""

import asyncio
from collections.abc import Sequence

from weft.core.states import AttemptKey
from weft.ports.log_store import (
    AttemptLog,
    Extent,
    LogDirectory,
    LogKeeper,
    LogStore,
    LogWriter,
    Stored,
    StoredStream,
)
from weft.wire.log_format import LOG_LOCATION_BYTES, STDERR, STDOUT, LogLocation, Piece, encode_cut
from weft.wire.usage_format import UsageSample

WITHIN_S = 20.0
KEY = AttemptKey(1, 2, 1)
PIECES = (Piece(STDOUT, 0, b"one\n"), Piece(STDERR, 5, b"two\n"), Piece(STDOUT, 9, b"three\n"))


def log_of(location: LogLocation | None = None, *, ended: bool = True) -> AttemptLog:
    """Return what the database would say of `PIECES`."""
    return AttemptLog(
        KEY.batch_id,
        KEY.job_id,
        KEY.attempt,
        ended=ended,
        location=location,
        stdout_bytes=10 if ended else 0,
        stderr_bytes=4 if ended else 0,
        truncated=False,
        state="success" if ended else "running",
    )


class LogStoreSuite:
    """Tests of all parts of the port `log_store`, on an empty store each."""

    def log_store(self) -> LogStore:
        """Return the half that reads."""
        raise NotImplementedError

    def writer(self) -> LogWriter:
        """Return the half that writes, as each agent makes its own."""
        raise NotImplementedError

    def keeper(self) -> LogKeeper:
        """Return the half that removes, as each agent makes its own."""
        raise NotImplementedError

    def directory(self) -> LogDirectory:
        """Return the directory of this store, as its workers name it."""
        raise NotImplementedError

    async def stored(self) -> AttemptLog:
        """Write all pieces."""
        writer = self.writer()
        await writer.append(KEY, PIECES, after=0)
        location = await writer.finish(KEY)
        assert location is None or len(location) == LOG_LOCATION_BYTES
        return log_of(location)

    async def all_of(self, log: AttemptLog, after: int = 0) -> list[Piece]:
        """Read all pieces."""
        return [one async for some in self.log_store().pieces(log, after) for one in some]

    async def test_pieces_come_in_order_and_from_anywhere(self) -> None:
        """Positions count pieces."""
        log = await self.stored()
        assert await self.all_of(log) == list(PIECES)
        assert await self.all_of(log, 2) == [PIECES[2]]
        assert await self.all_of(log, 3) == []
        assert [list(one) for one in await self.log_store().read_all([log])] == [list(PIECES)]

    async def test_a_stream_has_a_size_and_ranges(self) -> None:
        """Bytes of one stream, without the other's."""
        log, store = await self.stored(), self.log_store()
        assert (await store.size(log, STDOUT), await store.size(log, STDERR)) == (10, 4)
        assert await store.read(log, STDOUT, 2, 7) == b"e\nthr"
        assert await store.read(log, STDOUT, 7, 99) == b"ee\n"
        assert await store.read(log, STDERR, 0, 2) == b"tw"

    async def test_windows_show_one_stream_or_both(self) -> None:
        """Both in the order in which they were written; `extent` says how much there is."""
        log, store = await self.stored(), self.log_store()
        assert await store.extent(log) == Extent(10, 4, 3)
        both = [(one.kind, one.data) for one in await store.window(log, None, 2, 11)]
        assert both == [(STDOUT, b"e\n"), (STDERR, b"two\n"), (STDOUT, b"thr")]
        assert [one.data for one in await store.window(log, STDERR, 1, 99)] == [b"wo\n"]
        assert list(await store.window(log, None, 14, 99)) == []

    async def test_what_was_collected_twice_is_stored_once(self) -> None:
        """A runner that was killed in between collects again."""
        await self.writer().append(KEY, PIECES[:2], after=0)
        again = self.writer()
        await again.append(KEY, PIECES[:2], after=0)
        await again.append(KEY, PIECES[1:], after=1)
        assert await self.all_of(log_of(await again.finish(KEY))) == list(PIECES)

    async def test_what_another_attempt_of_the_name_wrote_goes(self) -> None:
        """A database that was restored gives numbers again."""
        await self.writer().append(KEY, PIECES[1:], after=0)
        again = self.writer()
        await again.append(KEY, PIECES[:1], after=0, anew=True)
        await again.append(KEY, PIECES[1:], after=1)
        assert await self.all_of(log_of(await again.finish(KEY))) == list(PIECES)

    async def test_writer_says_how_much_is_stored(self) -> None:
        """Also of another writer; what was left out counts as written."""
        writer, cut = self.writer(), encode_cut(STDOUT, 0, 100, 1)
        assert await writer.stored(KEY) == Stored()
        await writer.append(KEY, PIECES, after=0)
        await writer.append(KEY, [cut], after=3)
        found = Stored(4, StoredStream(110, 10), StoredStream(4, 4))
        assert (await writer.stored(KEY), await self.writer().stored(KEY)) == (found, found)
        assert found.is_cut

    async def test_output_that_is_not_there_is_empty(self) -> None:
        """A job that wrote nothing, or whose log was removed."""
        log, store = log_of(), self.log_store()
        assert await self.all_of(log) == []
        assert store.why_gone(log) is None
        assert await store.read(log, STDOUT, 0, 10) == b""
        assert (await store.extent(log), list(await store.window(log, None, 0, 9))) == (
            Extent(0, 0, 0),
            [],
        )
        found = [
            (one, [block async for block in blocks]) async for one, blocks in store.results([log])
        ]
        assert found == [(log, [])]

    async def test_a_store_knows_which_places_it_reads(self) -> None:
        """A worker of another host may have one of its own."""
        store, own = self.log_store(), self.directory()
        assert store.can_read(own)
        assert not store.can_read(LogDirectory(f"not {own.name}", own.host, own.path))

    async def test_output_of_a_batch_is_removed(self) -> None:
        """Of no other one; a repeat does no harm."""
        log, keeper = await self.stored(), self.keeper()
        await keeper.remove([KEY.batch_id + 1])
        assert list(await keeper.batches()) == [KEY.batch_id]
        assert await self.all_of(log) == list(PIECES)
        for _ in range(2):
            await keeper.remove([KEY.batch_id])
        assert list(await keeper.batches()) == []
        assert await self.all_of(log) == []

    async def test_samples_go_with_the_output(self) -> None:
        """They are no output, the newest ones replace the others, and they go with the batch."""
        log, store, writer = await self.stored(), self.log_store(), self.writer()
        assert await store.samples(log) == []
        samples = [UsageSample(5000 * at, 900 * at, 1 << 20) for at in (1, 2)]
        for known in (samples[:1], samples):
            await writer.keep_samples(KEY, known)
        assert await store.samples(log) == samples
        assert await self.all_of(log) == list(PIECES)
        await self.keeper().remove([KEY.batch_id])
        assert await store.samples(log) == []

    async def test_followers_are_told_what_comes(self) -> None:
        """Also of output whose first byte is not written yet, and from the middle."""
        log = log_of(ended=False)
        whole, rest = (asyncio.ensure_future(self.follow(log, after)) for after in (0, 2))
        writer = self.writer()
        for number, piece in enumerate(PIECES):
            for _ in range(5):
                await asyncio.sleep(0)
            await writer.append(KEY, [piece], after=number)
        assert (await whole, await rest) == (list(PIECES), list(PIECES[2:]))

    async def follow(self, log: AttemptLog, after: int) -> Sequence[Piece]:
        """Follow to the last piece."""
        found: list[Piece] = []
        async with asyncio.timeout(WITHIN_S):
            async for some in self.log_store().follow(log, after):
                found += some
                if len(found) == len(PIECES) - after:
                    break
        return found
