"""Both ends of the link of workers outside: beside the api, and in the worker's own process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

from weft.api.worker_link import WorkerLink
from weft.api.worker_link.keeping import SpoolKeeping
from weft.api.worker_link.linked_hand_over import LinkedHandOver
from weft.plugins.file_stores.s3.signing import StoreSigner
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.plugins.log_stores.files.spool import FileSpool
from weft.ports.patience import until_answered
from weft.ports.spool import SpoolLimits
from weft.ports.store import OfferedStore, WorkerStore
from weft.ports.worker_link import Hello, LinkedStore, LinkFacts
from weft.run.child import is_supervised
from weft.run.home import Home
from weft.run.host.worker_name import worker_name
from weft.run.log_bucket import SpoolShipping, log_bucket_of, shipped_directory
from weft.run.login import NoRoleDatabase, login_dsn
from weft.run.secret_keys import read_secret_keys
from weft.settings import Settings
from weft.store import open_worker_store
from weft.telemetry import metrics
from weft.wire.link_seal import LinkKey
from weft.worker.agent.signatures import Signatures
from weft.worker.link.calls import LinkCaller
from weft.worker.link.finder import LinkFinder
from weft.worker.link.looking import Looking
from weft.worker.link.shipping import Shipper
from weft.worker.link.store import LinkedWorkerStore, LinkNotices

CONNECTIONS_MAX = 8
"""Of all linked workers of one api; they are made when they are needed."""


@asynccontextmanager
async def serving_link(settings: Settings, home: Home, copies: Path) -> AsyncIterator[WorkerLink]:
    """Serve workers outside, as login `weft_worker`; without one, say so to who asks. `copies`:
    where this api lays out what it reads from the bucket with output.
    """
    limits, keys = spool_limits_of(settings), partial(read_secret_keys, settings, home)
    spool, lost_after_s = FileSpool(home.logs, limits), settings.lost_after_s
    try:
        dsn = login_dsn(settings, "weft_worker")
    except NoRoleDatabase as error:
        missing = error

        def find_none() -> LinkedStore:
            raise missing

        yield WorkerLink(find_none, spool, lost_after_s, LinkedHandOver(keys))
        return
    async with open_worker_store(
        dsn, grace_s=lost_after_s, connections_max=CONNECTIONS_MAX
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
        beside.append(asyncio.create_task(keeping.run(every_s)))
        try:
            signer = StoreSigner(lambda: store, keys, settings.store_buckets)
            to = partial(shipped_directory, settings)
            handing = LinkedHandOver(
                keys, Signatures(store, keys), signer, settings.output_files_max,
                settings.output_bytes_max, settings.products_max, settings.product_bytes_max,
            )  # fmt: skip
            yield WorkerLink(lambda: store, spool, lost_after_s, handing, to)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)


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


def is_linked(settings: Settings) -> bool:
    """Say whether the worker with these settings is outside; those of `weft up` are not."""
    return settings.connect is not None and not is_supervised()


class Link:
    """The worker's end: its store, its notices, and what ships its output."""

    def __init__(self, settings: Settings) -> None:
        assert settings.connect is not None
        finder = LinkFinder(settings.connect, settings.token_file, settings.ca_file)
        finder.locate()  # a wrong setting is told at once
        self.caller = LinkCaller(finder)
        self.shipper = Shipper(self.caller)
        self.caller.facts = lambda delay_ms: LinkFacts(
            delay_ms, self.shipper.unshipped_bytes, metrics.input_cache_bytes()
        )
        self.key = LinkKey()
        linked = LinkedWorkerStore(self.caller, self.shipper, self.key)
        self.store = cast("WorkerStore", linked)
        self.offered = cast("OfferedStore", linked)
        self.looking = Looking(self.caller, worker_name(settings))
        self.notices = LinkNotices(self.caller, self.looking)

    async def hello(self) -> Hello:
        """Ask until the api answers. Raise what it refuses."""
        hello: Hello = await until_answered(lambda: self.caller.call("hello"))
        return hello
