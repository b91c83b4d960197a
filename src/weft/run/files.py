"""The stores of files that a worker reads and writes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from weft.core.addresses import parse_allowed_hosts
from weft.core.text.texts import parse_paths
from weft.plugins.file_stores.local import HostFiles
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.parts import ObjectHttpCarrier
from weft.plugins.file_stores.s3.signing import ObjectUrls
from weft.plugins.file_stores.s3.trial import TIMEOUT_S, S3Objects
from weft.plugins.file_stores.web import WebFiles
from weft.plugins.file_stores.weft import KeptFiles
from weft.ports.file_store import FileStore, UrlSigner
from weft.ports.left_files import FileCarrier
from weft.ports.log_store import LogKeeper
from weft.run.home import Home
from weft.run.host.job_accounts import job_directory
from weft.run.host.worker_name import file_name
from weft.settings import Settings
from weft.wire.sealed import SecretKeys
from weft.worker.agent.object_uploads import FileSite
from weft.worker.stager.cache import InputCache
from weft.worker.stager.directories import RunningDirectories


def kept_files(home: Home) -> Callable[[str], FileStore]:
    """Return what opens the files of one database, by the name of their folder."""
    return lambda folder: KeptFiles(home.files / folder)


def running_files(settings: Settings, home: Home) -> RunningDirectories:
    """Return what looks into the directories of jobs that workers with this home run."""
    return RunningDirectories(
        job_directory(settings, home) / "scratch",
        folder_of=file_name,
        files_max=settings.output_files_max,
    )


def object_stores(settings: Settings, keys: Callable[[], SecretKeys]) -> S3Objects:
    """Return what opens stores from this host."""
    allowed = parse_allowed_hosts(settings.store_private_hosts)
    return S3Objects(ObjectUrls(keys, settings.store_buckets), HttpCarrier(allowed, TIMEOUT_S))


class KeepsFilesToo:
    """Removes the files of deleted batches with their output."""

    def __init__(self, keeper: LogKeeper, files: KeptFiles) -> None:
        self._keeper = keeper
        self._files = files

    async def batches(self) -> Sequence[int]:
        kept = await asyncio.to_thread(self._files.batches)
        return sorted({*await self._keeper.batches(), *kept})

    async def remove(self, batch_ids: Sequence[int]) -> None:
        await self._keeper.remove(batch_ids)
        for batch_id in batch_ids:
            await self._files.remove(f"b{batch_id}")


def web_files(settings: Settings) -> WebFiles:
    """Return what reads web servers for jobs."""
    allowed = parse_allowed_hosts(settings.input_private_hosts)
    return WebFiles(HttpCarrier(allowed, setting="input_private_hosts"))


def tried_web_files(settings: Settings) -> WebFiles:
    """Return what only looks whether they have a file, and waits for less long."""
    carrier = web_files(settings).carrier
    return WebFiles(replace(carrier, timeout_s=TIMEOUT_S))


def file_site_of(
    settings: Settings,
    home: Home,
    logs: Path,
    signer: UrlSigner,
    scratch: Path,
    carrier: FileCarrier | None = None,
) -> FileSite:
    """Return where files of jobs are, and their limits. `logs`: named as the database; `carrier`:
    of a worker outside.
    """
    is_root = settings.run_as == "user"
    return FileSite(
        kept=KeptFiles(home.files / logs.name),
        host=HostFiles(parse_paths(settings.input_paths), readable_only=is_root),
        signer=signer,
        carrier=carrier,
        objects=ObjectHttpCarrier(parse_allowed_hosts(settings.store_private_hosts)),
        web=web_files(settings),
        settings=settings,
        for_accounts=is_root,
        cache=InputCache(
            scratch / "inputs" / logs.name, settings.input_cache_bytes, for_accounts=is_root
        ),
    )
