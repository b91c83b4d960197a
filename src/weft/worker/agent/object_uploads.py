"""The stores of a worker, and how objects get there: in one request, or in parts."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from weft.core.errors import WeftError
from weft.core.files.file_paths import FileSource, StoreFile, parse_source
from weft.core.states import AttemptKey
from weft.ports.file_store import (
    ONE_REQUEST_BYTES_MAX,
    FileRefused,
    FileStore,
    HeldFile,
    Method,
    ObjectCarrier,
    PartUrls,
    StoreAway,
    ToSign,
    UrlReader,
    UrlSigner,
)
from weft.ports.left_files import FileCarrier
from weft.ports.patience import until_answered
from weft.settings import Settings
from weft.worker.stager.cache import InputCache
from weft.worker.stager.directories import JobDirectories

_PART_BYTES: Final = 64 << 20
_PARTS_MAX: Final = 10_000
"""S3 takes no more."""


@dataclass(frozen=True, kw_only=True)
class FileSite:
    """The stores of a worker, and how much jobs may get and leave."""

    kept: FileStore
    """Files that weft keeps itself: `b7/DIGEST`."""
    carrier: FileCarrier | None = None
    """Brings them to the server's home, if that is elsewhere."""
    host: FileStore
    signer: UrlSigner
    objects: ObjectCarrier
    """Objects of stores, by the URLs that are signed for an attempt."""
    web: UrlReader
    """What web servers have."""
    settings: Settings = field(default_factory=Settings)
    for_accounts: bool = False
    cache: InputCache


class ObjectUploads:
    """What attempts leave in stores."""

    def __init__(self, site: FileSite, incarnation_id: int, directories: JobDirectories) -> None:
        self._site = site
        self._incarnation_id = incarnation_id
        self._directories = directories

    async def url(
        self, key: AttemptKey, method: Method, file: FileSource, upload: str = "", part: int = 0
    ) -> str:
        """Return a URL for an object. Raise `FileRefused`, `StoreAway`."""
        assert isinstance(file, StoreFile)
        wanted = [ToSign(method, file.store, file.path, upload, part)]
        try:
            (signed,) = await until_answered(
                lambda: self._site.signer.sign(self._incarnation_id, key, wanted)
            )
        except WeftError as error:  # an older api does not sign
            raise FileRefused(error.message) from error
        if signed.problem:
            raise (StoreAway if signed.is_away else FileRefused)(signed.problem)
        return signed.url

    async def store(self, key: AttemptKey, target: str, file: HeldFile) -> None:
        """Store a file, unless another attempt does meanwhile. Raise `FileDiffers`, `FileRefused`,
        `StoreAway`; after the last one, a repeat goes on with what is missing.
        """
        source = parse_source(target)

        async def sign(method: Method, upload: str = "", part: int = 0) -> str:
            return await self.url(key, method, source, upload, part)

        single_bytes_max = self._site.settings.store_single_bytes_max
        if file.n_bytes > single_bytes_max and await self._has_parts(sign, file):
            await self._store_parts(key, target, file, sign)
            return
        await self._site.objects.write_once(sign, file)

    async def _has_parts(self, sign: PartUrls, file: HeldFile) -> bool:
        """Say whether parts can be signed; one request may do without. Raise as `url`."""
        try:
            await sign("POST")
        except FileRefused:
            if file.n_bytes > ONE_REQUEST_BYTES_MAX:
                raise
            return False
        return True

    async def _store_parts(
        self, key: AttemptKey, target: str, file: HeldFile, sign: PartUrls
    ) -> None:
        plan = self._directories.plan_of(key)

        def begun(upload: str) -> None:
            if (plan := self._directories.plan_of(key)) is not None:
                uploads = {**plan.uploads, target: upload}
                self._directories.keep_plan(key, msgspec.structs.replace(plan, uploads=uploads))

        single = min(self._site.settings.store_single_bytes_max, _PART_BYTES)
        await self._site.objects.write_parts(
            sign,
            file,
            part_bytes=max(single, -(-file.n_bytes // _PARTS_MAX)),
            upload="" if plan is None else plan.uploads.get(target, ""),
            begun=begun,
        )
