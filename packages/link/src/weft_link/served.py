"""What serves workers outside, beside an api."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from weft.plugins.file_stores.s3.signing import StoreSigner
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.plugins.log_stores.files.spool import FileSpool
from weft.ports.patience import tasks_beside
from weft.ports.spool import SpoolLimits
from weft.ports.worker_link import LinkedStore
from weft.run.home import Home
from weft.run.log_stores import SpoolShipping, log_bucket_of, shipped_directory
from weft.run.login import NoRoleDatabase, login_dsn
from weft.run.secret_keys import read_secret_keys
from weft.settings import Settings
from weft.store import open_worker_store
from weft.worker.agent.specs import Signatures
from weft_link.serving import WorkerLink
from weft_link.serving.keeping import SpoolKeeping, looking
from weft_link.serving.left_files import LinkedFiles
from weft_link.serving.linked_hand_over import LinkedHandOver

CONNECTIONS_MAX = 8
"""Of all linked workers of one api; they are made when they are needed."""


@asynccontextmanager
async def serving_link(settings: Settings, home: Home, copies: Path) -> AsyncIterator[WorkerLink]:
    """Serve workers outside, as login `weft_worker`; without one, say so to who asks. `copies`:
    where this api lays out what it reads from the bucket with output.
    """
    limits, keys = spool_limits_of(settings), partial(read_secret_keys, settings, home)
    spool, lost_after_s = FileSpool(home.logs, limits), settings.lost_after_s
    files = LinkedFiles(home.files, settings.output_bytes_max, limits.free_bytes_min)
    try:
        dsn = login_dsn(settings, "weft_worker")
    except NoRoleDatabase as error:
        missing = error

        def find_none() -> LinkedStore:
            raise missing

        yield WorkerLink(find_none, spool, lost_after_s, LinkedHandOver(keys), files)
        return
    async with open_worker_store(
        dsn, grace_s=lost_after_s, connections_max=CONNECTIONS_MAX, pooler=settings.pooler
    ) as store:
        every_s = settings.section(FilesSettings).spool_look_s
        beside = []
        if (bucket := log_bucket_of(settings)) is not None:
            shipping = SpoolShipping(bucket, settings, home, store, copies)
            loop = asyncio.get_running_loop()

            def tell(folder: str, path: str) -> None:
                loop.call_soon_threadsafe(shipping.wrote, folder, path)

            spool = FileSpool(home.logs, limits, tell)
            beside.append(asyncio.create_task(shipping.run()))
        keeping = SpoolKeeping(spool, limits, lambda: store)
        beside.append(asyncio.create_task(looking(keeping.look, every_s)))
        beside.append(asyncio.create_task(keeping.watch_disk()))
        remove_deleted = partial(files.remove_deleted, store)
        beside.append(asyncio.create_task(looking(remove_deleted, every_s)))
        async with tasks_beside(beside):
            signer = StoreSigner(lambda: store, keys, settings.store_buckets)
            to = partial(shipped_directory, settings)
            handing = LinkedHandOver(
                keys,
                Signatures(store, keys),
                signer,
                settings.output_files_max,
                settings.output_bytes_max,
                settings.products_max,
                settings.product_bytes_max,
            )
            yield WorkerLink(lambda: store, spool, lost_after_s, handing, files, to)


def spool_limits_of(settings: Settings) -> SpoolLimits:
    """Return how much output of workers outside an api keeps."""
    files = settings.section(FilesSettings)
    return SpoolLimits(
        attempt_bytes_max=files.spool_attempt_bytes_max,
        worker_bytes_max=files.spool_worker_bytes_max,
        tenant_bytes_max=files.spool_tenant_bytes_max,
        free_bytes_min=files.spool_free_bytes_min,
        keep_s=files.spool_keep_s,
    )
