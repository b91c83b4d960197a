"""Which log store a role reads, writes or clears, where a home keeps its output, and who ships to
a bucket with output of jobs and reads it.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Final, Protocol

from weft.core.bounds import LISTED_MAX
from weft.core.database_name import database_name
from weft.core.errors import Conflict, Unavailable
from weft.core.files.file_stores import parse_bucket
from weft.plugins.file_stores.s3.signing import ObjectUrls
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.plugins.log_stores.files.spooled_files import PREFIX
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.log_stores.s3.bucket import LogBucket
from weft.plugins.log_stores.s3.changes import Changes
from weft.plugins.log_stores.s3.keeping import BucketKeeping
from weft.plugins.log_stores.s3.reader import BucketLogStore
from weft.plugins.log_stores.s3.settings import BucketLogSettings
from weft.plugins.log_stores.s3.shipping import BucketShipper, ShipTerms, TenantsOf
from weft.ports.log_store import LOG_STORE_PLUGINS, LogStore, LogStoreParts, LogStoreSite
from weft.ports.patience import Work, run_beside, until_answered
from weft.ports.store import StoredFileStore, WorkerStore
from weft.ports.worker_link import LinkedStore
from weft.run.home import Home
from weft.settings import Settings
from weft.wire.sealed import SecretKeys


@cache
def log_store_at(name: str, root: Path) -> LogStoreParts:
    """Return the parts of this log store for a directory. Raise `PluginNotInstalled`."""
    return LOG_STORE_PLUGINS.load(name)(LogStoreSite(root=root))


# Batches of two databases have the same numbers. A worker starts while its database is away, too,
# so the home remembers which database was at an address.


class DatabaseReplaced(Conflict, code="WORKER.DATABASE_REPLACED"):
    """Another database now answers at the address of this worker's database."""


class Identified(Protocol):
    """A store that says which database it is."""

    async def database_id(self) -> str:
        """Return the id; raise `Unavailable` if the database does not answer."""


async def find_log_directory(home: Home, store: Identified, dsn: str) -> Path:
    """Return the directory for the output of this database's jobs.

    If the database is away it is that of the last one at this address; without one, wait.
    """
    name = database_name(dsn)
    known = home.database_id(name)
    with suppress(Unavailable):
        found = await store.database_id()
        if found != known:
            home.keep_database_id(name, found)
        return home.logs / found
    if known is None:
        known = await until_answered(store.database_id)
        home.keep_database_id(name, known)
    return home.logs / known


async def until_replaced(store: Identified, logs: Path) -> None:
    """Return never; raise `DatabaseReplaced` if the database has logs in another directory."""
    if await until_answered(store.database_id) != logs.name:
        raise DatabaseReplaced(
            "another database answers at this address",
            detail=f"{logs} belongs to the one that was there before.",
            hint="The worker uses the new one when it is started again.",
        )
    await asyncio.Event().wait()


_TENANTS_MAX: Final = 100_000


def log_bucket_of(settings: Settings) -> LogBucket | None:
    """Return the bucket; None: there is none."""
    section = settings.section(BucketLogSettings)
    if not section.log_bucket:
        return None
    store = StoredFileStore(
        section.log_bucket,
        section.log_bucket_endpoint,
        section.log_bucket_region,
        "write",
        section.log_bucket_credentials,
        None,
        None,
    )
    urls = ObjectUrls(SecretKeys, settings.store_buckets)
    prefix = parse_bucket(section.log_bucket).prefix
    return LogBucket(section.log_bucket, prefix, partial(urls.open, store))


def shipped_directory(settings: Settings, database_id: str) -> str | None:
    """Return where the output of a database's jobs is shipped to, as `LogDirectory` says it."""
    url = settings.section(BucketLogSettings).log_bucket
    return f"{url}/{database_id}" if url else None


def log_reader(settings: Settings, home: Home, copies: Path) -> LogStore:
    """Return what reads the output that this home keeps; with a bucket, also what is there."""
    here, bucket = log_store_at(settings.log_store, home.logs).reader(), log_bucket_of(settings)
    if bucket is None or not isinstance(here, FileLogStore):
        return here
    section = settings.section(BucketLogSettings)
    return BucketLogStore(
        here,
        home.logs,
        bucket,
        copies,
        every_s=section.log_ship_s,
        bytes_max=section.log_read_bytes_max,
    )


def shipper_of(
    bucket: LogBucket,
    settings: Settings,
    logs: Path,
    store: WorkerStore,
    changes: Changes,
    name: str,
) -> BucketShipper:
    """Return what ships the output of a worker. `logs`: named as the database."""
    below = f"{logs.name}/{directory_name(logs)}/"
    terms = _terms_of(settings, f"shipped-{name}")
    return BucketShipper(logs, below, bucket, tenants_by(store), terms, changes)


def tenants_by(store: WorkerStore | LinkedStore) -> TenantsOf:
    """Return what tells whose batches are. It is remembered: a batch has one tenant for ever."""
    known: dict[int, int] = {}

    async def tenants_of(jobs: Collection[tuple[int, int]]) -> Mapping[int, int]:
        fresh = [job for job in jobs if job[0] not in known]
        if len(known) + len(fresh) > _TENANTS_MAX:
            known.clear()
            fresh = list(jobs)
        for first in range(0, len(fresh), LISTED_MAX):
            for user in await store.list_job_users(fresh[first : first + LISTED_MAX]):
                known[user.batch_id] = user.tenant_id
        return known

    return tenants_of


class SpoolShipping:
    """Ships the spool of an api, a directory of each worker outside, and removes what was deleted
    from the bucket.
    """

    def __init__(
        self, bucket: LogBucket, settings: Settings, home: Home, store: LinkedStore, copies: Path
    ) -> None:
        self._bucket = bucket
        self._settings = settings
        self._root = home.logs
        self._store = store
        self._keeping = BucketKeeping(bucket, copies, store.list_removed)
        self._changes: dict[str, Changes] = {}
        self._fresh: asyncio.Queue[str] = asyncio.Queue()

    def wrote(self, folder: str, path: str) -> None:
        """Note that a file was written."""
        self._of(folder).wrote(path)

    async def run(self) -> None:
        """Ship until cancelled."""
        database_id = await until_answered(self._store.database_id)
        for path in self._root.glob(f"{PREFIX}*/"):
            self._of(path.name.removeprefix(PREFIX))
        tenants_of, terms = tenants_by(self._store), _terms_of(self._settings, "shipped")
        every_s = self._settings.section(FilesSettings).spool_look_s

        async def ship_each(begin: Callable[[Work], None]) -> None:
            while True:
                folder = await self._fresh.get()
                shipper = BucketShipper(
                    self._root / f"{PREFIX}{folder}",
                    f"{database_id}/{folder}/",
                    self._bucket,
                    tenants_of,
                    terms,
                    self._changes[folder],
                )
                begin(shipper.run())

        await run_beside(self._keeping.run(f"{database_id}/", every_s), begins=ship_each)

    def _of(self, folder: str) -> Changes:
        if folder not in self._changes:
            self._changes[folder] = Changes()
            self._fresh.put_nowait(folder)
        return self._changes[folder]


def _terms_of(settings: Settings, marker: str) -> ShipTerms:
    section = settings.section(BucketLogSettings)
    return ShipTerms(
        every_s=section.log_ship_s, pack_bytes_max=section.log_pack_bytes_max, marker=marker
    )
