"""Output in a bucket: the suite of its port, and what becomes of packs. The bucket is one of
obstore's own, in memory; a real server is in `tests/e2e/test_s3_logs.py`.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import LocalStore, MemoryStore

from contexts import beside
from weft.core.errors import LogBucketAway
from weft.core.states import AttemptKey
from weft.plugins.file_stores.s3.signing import NotSigned
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.plugin import FileLogKeeper, FileLogWriter
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.log_stores.s3 import fetching
from weft.plugins.log_stores.s3.bucket import LogBucket, PackName
from weft.plugins.log_stores.s3.changes import Changes
from weft.plugins.log_stores.s3.keeping import BucketKeeping
from weft.plugins.log_stores.s3.reader import BucketLogStore
from weft.plugins.log_stores.s3.shipping import MERGED, BucketShipper, ShipTerms
from weft.ports.log_store import AttemptLog, LogDirectory
from weft.wire.log_format import (
    CUT,
    CUT_BODY,
    RESULT,
    STDOUT,
    LogLocation,
    Piece,
    encode_piece,
    own_path,
    segment_location,
)
from weft.wire.usage_format import UsageSample
from weft.worker.spawner.reports import Segments
from weft_testing.log_store_suite import LogStoreSuite

URL = "s3://logs/weft"
TERMS = ShipTerms(every_s=0.05, pack_bytes_max=1 << 20)


def own_of(root: Path, key: AttemptKey) -> Path:
    return own_path(root, key.batch_id, key.job_id, key.attempt)


class Site:
    """A worker with output, a bucket, and an api elsewhere."""

    def __init__(self, path: Path, terms: ShipTerms = TERMS) -> None:
        self.path = path
        self.root = path / "worker"
        self.root.mkdir(exist_ok=True)
        self.store: LocalStore | MemoryStore = MemoryStore()
        self.is_away = False
        self.bucket = LogBucket(URL, "weft/", self._open)
        self.directory = LogDirectory(directory_name(self.root), "there", f"{URL}/db")
        self.segments = Segments(str(self.root))
        self.tenants: dict[int, int] = {}
        self.removed: set[int] = set()
        self.shipper = self.another(terms)
        self.copies = path / "copies"

    def another(self, terms: ShipTerms = TERMS) -> BucketShipper:
        """Return a shipper as a new process makes it."""
        below = f"db/{self.directory.name}/"
        return BucketShipper(self.root, below, self.bucket, self._tenants_of, terms, Changes())

    def reader(self) -> BucketLogStore:
        """Return the reader of an api that has none of these files."""
        home = self.path / "api"
        return BucketLogStore(
            FileLogStore(home), home, self.bucket, self.copies, every_s=0.05, bytes_max=1 << 30
        )

    async def keep(self) -> None:
        """Remove what is to go from the bucket."""

        async def list_removed(batch_ids: Sequence[int]) -> Sequence[int]:
            return sorted(self.removed & set(batch_ids))

        await BucketKeeping(self.bucket, self.copies, list_removed).look("db/")

    def log(
        self, key: AttemptKey, n_bytes: int, location: LogLocation | None = None
    ) -> AttemptLog:
        return AttemptLog(
            key.batch_id,
            key.job_id,
            key.attempt,
            ended=True,
            location=location,
            stdout_bytes=n_bytes,
            stderr_bytes=0,
            truncated=False,
            state="success",
            directory=self.directory,
        )

    def write(self, key: AttemptKey, text: bytes) -> None:
        """Add a piece to the attempt's own file."""
        own = own_of(self.root, key)
        own.parent.mkdir(parents=True, exist_ok=True)
        with own.open("ab") as file:
            file.write(encode_piece(STDOUT, 0, text))
        self.shipper.changes.wrote(str(own.relative_to(self.root)))

    def record(self, *keys: AttemptKey, text: bytes = b"short\n") -> list[AttemptLog]:
        """Write short outputs."""
        data = encode_piece(STDOUT, 0, text)
        found = self.segments.append([(key, data) for key in keys])
        for segment, _ in found:
            self.shipper.changes.wrote(f"segments/{segment:08d}")
        return [
            self.log(key, len(text), segment_location(*at))
            for key, at in zip(keys, found, strict=True)
        ]

    async def names(self) -> list[str]:
        return [one async for one in self.bucket.names("db/")]

    async def ship_all(self) -> None:
        await self.shipper.ship()
        while self.shipper._waiting:
            await self.shipper.ship()

    async def text(self, log: AttemptLog) -> bytes:
        (pieces,) = await self.reader().read_all([log])
        return b"".join(one.data for one in pieces)

    async def everything(self) -> bytes:
        """Return the bytes of all objects."""
        return b"".join([await self.bucket.get(name) for name in await self.names()])

    def _open(self) -> Any:  # noqa: ANN401 (of obstore)
        if self.is_away:
            raise NotSigned("it is away")
        return self.store

    async def _tenants_of(self, jobs: Collection[tuple[int, int]]) -> Mapping[int, int]:
        return {batch: self.tenants.get(batch, 1) for batch, _ in jobs}


class Here(BucketLogStore):
    """Reads what was written before, by logs that name no directory."""

    site: Site

    async def _at(self, log: AttemptLog, *, beside: bool = False) -> Any:  # noqa: ANN401 (its own)
        await self.site.ship_all()
        return await super()._at(replace(log, directory=self.site.directory), beside=beside)


class Noting(FileLogWriter):
    """Writes as runners do, and says so."""

    site: Site

    async def append(
        self, key: AttemptKey, pieces: Sequence[Piece], *, after: int, anew: bool = False
    ) -> None:
        await super().append(key, pieces, after=after, anew=anew)
        self.site.shipper.changes.wrote(str(own_of(Path(), key)))

    async def keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        await super().keep_samples(key, samples)
        self.site.shipper.changes.wrote(str(own_of(Path(), key)))


class Removing(FileLogKeeper):
    """Removes here, and lets the api remove elsewhere."""

    site: Site

    async def remove(self, batch_ids: Sequence[int]) -> None:
        await super().remove(batch_ids)
        self.site.removed = set(batch_ids)
        await self.site.keep()


class TestBucketLogStore(LogStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fetching, "LATE_S", 0.0)
        self.site = Site(tmp_path)

    def log_store(self) -> BucketLogStore:
        home = self.site.path / "api"
        store = Here(
            FileLogStore(home),
            home,
            self.site.bucket,
            self.site.copies,
            every_s=0.02,
            bytes_max=1 << 30,
        )
        store.site = self.site
        return store

    def writer(self) -> FileLogWriter:
        writer = Noting(self.site.root)
        writer.site = self.site
        return writer

    def keeper(self) -> FileLogKeeper:
        keeper = Removing(self.site.root)
        keeper.site = self.site
        return keeper

    def directory(self) -> LogDirectory:
        return self.site.directory

    async def test_a_store_knows_which_places_it_reads(self) -> None:
        """It reads its bucket, whatever the directory is called."""
        store, own = self.log_store(), self.directory()
        assert store.can_read(own)
        assert not store.can_read(own.__class__(own.name, own.host, "s3://logs/weftier/db"))
        assert not store.can_read(own.__class__(own.name, own.host, "/elsewhere/of/others"))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(fetching, "LATE_S", 0.0)
    return Site(tmp_path)


async def test_a_pack_holds_one_tenant_and_the_next_is_whose_waited_longest(site: Site) -> None:
    site.tenants = {1: 1, 2: 2, 3: 1}
    keys = [AttemptKey(batch, job, 1) for job in (1, 2) for batch in (1, 2, 3)]
    logs = site.record(*keys)
    for round_ in range(3):
        for batch in (1, 2):
            site.write(AttemptKey(batch, 7, 1), b"%d%d\n" % (batch, round_))
        await site.shipper.ship()
    await site.ship_all()

    names = [PackName.read(name.rpartition("/")[2]) for name in await site.names()]

    assert [one and one.tenant_id for one in names] == [1, 2, 1, 2]
    assert [sorted(one.batches or ()) for one in names if one][:2] == [[1, 3], [2]]
    for log in logs:
        assert await site.text(log) == b"short\n"
    assert await site.text(site.log(AttemptKey(2, 7, 1), 9)) == b"20\n21\n22\n"


async def test_nobody_waits_for_more_than_two_turns(site: Site) -> None:
    """However many tenants print all the time."""
    site.tenants = {batch: batch for batch in range(1, 8)}
    told = []
    for round_ in range(3):
        for batch in site.tenants:
            site.write(AttemptKey(batch, 1, 1), b"%d\n" % round_)
        known = set(await site.names())
        await site.shipper.ship()
        fresh = [name for name in await site.names() if name not in known]
        packs = [PackName.read(name.rpartition("/")[2]) for name in fresh]
        told.append([one.tenant_id for one in packs if one])

    assert [len(one) for one in told] == [4, 4, 4]
    for this, following in pairwise(told):
        assert {*this, *following} == {*site.tenants}


async def test_many_short_outputs_become_few_objects(site: Site) -> None:
    """Packs that are small become one, and what is read stays the same."""
    logs = []
    own = AttemptKey(1, 1000, 1)
    for number in range(1, 2 * MERGED + 2):
        logs += site.record(AttemptKey(1, number, 1), text=b"%d\n" % number)
        site.write(own, b"%d\n" % number)
        await site.shipper.ship()

    assert len(await site.names()) == 3
    texts = [b"".join(one.data for one in some) for some in await site.reader().read_all(logs)]
    assert texts == [b"%d\n" % (number + 1) for number in range(len(logs))]
    assert await site.text(site.log(own, 0)) == b"".join(texts)


async def test_deleted_output_is_in_no_object_and_in_no_copy(site: Site) -> None:
    """That of others stays where it was."""
    gone, kept = site.record(AttemptKey(1, 1, 1), AttemptKey(2, 1, 1), text=b"canary\n")
    site.write(AttemptKey(1, 2, 1), b"canary\n")
    site.write(AttemptKey(2, 2, 1), b"stays\n")
    await site.ship_all()
    assert await site.text(gone) == b"canary\n"
    site.removed = {1}

    await site.keep()

    assert (await site.everything()).count(b"canary") == 1
    assert not list(site.copies.glob("*/attempts/b1"))
    assert await site.text(gone) == b""
    assert await site.text(kept) == b"canary\n"
    site.removed = {1, 2}
    await site.keep()
    assert await site.names() == []


async def test_what_could_not_be_shipped_waits(site: Site) -> None:
    """Also for the next process of the worker."""
    key = AttemptKey(1, 1, 1)
    await site.shipper._recover()
    site.is_away = True
    site.write(key, b"one\n")
    with pytest.raises(LogBucketAway):
        await site.shipper.ship()
    with pytest.raises(LogBucketAway) as raised:
        await site.text(site.log(key, 4))
    assert (raised.value.code, raised.value.status) == ("API.LOG_BUCKET_AWAY", 503)
    site.is_away = False
    site.shipper = site.another()
    await site.shipper._recover()
    await site.shipper.ship()
    site.write(key, b"two\n")
    await site.shipper.ship()

    assert await site.text(site.log(key, 8)) == b"one\ntwo\n"


async def test_a_bucket_that_is_missing_is_away(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 says `NotFound` of it, as of an object; the shipper and the keeper go on."""
    key = AttemptKey(1, 1, 1)

    async def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    await site.shipper._recover()
    site.write(key, b"one\n")
    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put_async", missing)
        with pytest.raises(LogBucketAway):
            await site.shipper.ship()
    await site.shipper.ship()

    assert await site.text(site.log(key, 4)) == b"one\n"


async def test_what_is_left_is_shipped_at_the_end(site: Site) -> None:
    site.shipper = site.another(replace(TERMS, every_s=3600))
    async with beside(site.shipper.run()):
        while not (site.root / "shipped").exists():
            await asyncio.sleep(0)
        site.tenants = {1: 1, 2: 2}
        site.write(AttemptKey(1, 1, 1), b"one\n")
        site.write(AttemptKey(2, 1, 1), b"two\n")

    assert len(await site.names()) == 2


async def test_what_did_not_arrive_is_said_to_be_missing(site: Site) -> None:
    """The machine was lost with what the bucket did not have."""
    key = AttemptKey(1, 1, 1)
    site.write(key, b"one\n")
    await site.ship_all()

    *_, last = [one async for some in site.reader().pieces(site.log(key, 10), 0) for one in some]

    assert (last.kind, CUT_BODY.unpack(last.data)) == (CUT, (STDOUT, 6, 0))


async def test_a_long_output_is_cut_into_packs_of_bounded_size(tmp_path: Path) -> None:
    site = Site(tmp_path, replace(TERMS, pack_bytes_max=1 << 14))
    key, text = AttemptKey(1, 1, 1), bytes(range(256)) * 256
    site.write(key, text)
    await site.shipper.ship()

    sizes = [len(await site.bucket.get(name)) for name in await site.names()]

    assert len(sizes) == 5
    assert max(sizes) < (1 << 14) + 200
    assert await site.text(site.log(key, len(text))) == text


async def test_a_long_result_beside_a_short_output_comes_too(site: Site) -> None:
    key = AttemptKey(1, 1, 1)
    (log,) = site.record(key)
    path = own_of(site.root, key)
    path.parent.mkdir(parents=True)
    path.with_name("1.1.result").write_bytes(b"r" * 9)
    site.shipper.changes.wrote(str(path.relative_to(site.root)))
    short = encode_piece(RESULT, 0, b"short result")
    ((segment, offset),) = site.segments.append([(AttemptKey(1, 2, 1), short)])
    site.shipper.changes.wrote(f"segments/{segment:08d}")
    await site.ship_all()
    logs = [log, site.log(AttemptKey(1, 2, 1), 0, segment_location(segment, offset))]

    found = [[one async for one in some] async for _, some in site.reader().results(logs)]

    assert found == [[b"r" * 9], [b"short result"]]


async def test_the_middle_of_a_long_output_goes_there_too(site: Site) -> None:
    key = AttemptKey(1, 1, 1)
    own = own_of(site.root, key)
    site.write(key, b"first\n")
    part = own.with_name(f"{own.name}.1")
    part.write_bytes(encode_piece(STDOUT, 0, b"middle\n"))
    await site.ship_all()
    part.unlink()
    own.with_name(f"{own.name}.2").write_bytes(encode_piece(STDOUT, 0, b"last\n"))
    site.shipper.changes.wrote(str(own.relative_to(site.root)))
    await site.ship_all()

    (pieces,) = await site.reader().read_all([replace(site.log(key, 18), truncated=True)])

    assert [one.data for one in pieces if one.kind == STDOUT] == [b"first\n", b"last\n"]


async def test_what_lies_in_the_bucket_and_is_no_pack_is_left_alone(site: Site) -> None:
    obstore.put(site.store, "weft/db/x/other", b"?")
    site.write(AttemptKey(1, 1, 1), b"one\n")
    await site.ship_all()
    site.removed = {1}
    await site.keep()
    assert await site.names() == ["db/x/other"]


async def test_copies_that_nobody_reads_go(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """When there are too many, or too many bytes of them; what was just read stays."""
    folder = site.directory.name
    keys = [AttemptKey(1, job, 1) for job in (1, 2, 3)]
    for key in keys:
        site.write(key, b"12345")
    await site.ship_all()
    reader = site.reader()
    fetcher = reader._fetching
    for key in keys:
        await reader.read_all([site.log(key, 5)])
    known = [fetcher._fetched[folder, key] for key in keys]
    sizes = [one.n_bytes for one in known]
    assert fetcher._n_bytes == sum(sizes) > 0
    root = fetcher.directory(folder)
    monkeypatch.setattr(fetching, "_FETCHED_MAX", 2)

    await reader.read_all([site.log(keys[0], 5)])  # it is the newest now, and none is old
    assert len(fetcher._fetched) == 3
    known[1].used_at = known[2].used_at = -fetching._UNUSED_S
    await reader.read_all([site.log(keys[0], 5)])
    assert list(fetcher._fetched) == [(folder, keys[2]), (folder, keys[0])]
    fetcher._bytes_max = sizes[0]
    await reader.read_all([site.log(keys[0], 5)])

    assert list(fetcher._fetched) == [(folder, keys[0])]
    assert fetcher._n_bytes == sizes[0]
    assert [own_of(root, key).exists() for key in keys] == [True, False, False]
