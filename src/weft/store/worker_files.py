"""The part of `WorkerStore` for files of jobs."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

from weft.core.attempt_key import AttemptKey
from weft.core.files.log_location import LogLocation
from weft.ports.log_store import LogDirectory
from weft.ports.store import FileWanted, FoundFile, KeptFile, StoredFileStore
from weft.store.database import StorePart
from weft.wire.sealed import SecretRow


class WorkerFiles(StorePart):
    """A worker's calls about files, applications and payloads, documented at the port."""

    async def get_app_part(
        self, batch_id: int, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        """Return a part of the folder of an application."""
        rows = await self._database.call(
            "get_app_part", of_batch_id=batch_id, of_digest=digest, of_part=part
        )
        return (rows[0]["n_bytes"], rows[0]["body"]) if rows else None

    async def get_payload_part(
        self, batch_id: int, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        """Return a part of a payload."""
        rows = await self._database.call(
            "get_payload_part", of_batch_id=batch_id, of_digest=digest, of_part=part
        )
        return (rows[0]["n_bytes"], rows[0]["body"]) if rows else None

    async def find_files(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[FileWanted]
    ) -> Sequence[FoundFile | None]:
        """Return what is known of files."""
        rows = await self._database.call(
            "find_files",
            incarnation_id=incarnation_id,
            batch_id=key.batch_id,
            job_id=key.job_id,
            attempt=key.attempt,
            of_batches=[one.batch_id for one in wanted],
            of_jobs=[one.job_id for one in wanted],
            of_parents=[one.parent for one in wanted],
            paths=[one.path for one in wanted],
        )
        found = [None if row["from_batch"] is None else FoundFile(*row) for row in rows]
        return found or [None] * len(wanted)

    async def find_stores(
        self, incarnation_id: int, key: AttemptKey, names: Sequence[str]
    ) -> Sequence[StoredFileStore | None]:
        """Return stores."""
        rows = await self._database.call(
            "find_stores",
            incarnation_id=incarnation_id,
            of_batch_id=key.batch_id,
            of_job_id=key.job_id,
            of_attempt=key.attempt,
            names=list(names),
        )
        return [None if row["url"] is None else store_of(row) for row in rows]

    async def record_files(
        self,
        incarnation_id: int,
        key: AttemptKey,
        files: Sequence[KeptFile],
        *,
        staging_ms: int,
        storing_ms: int,
    ) -> bool:
        """Note what an attempt has left."""
        return bool(
            await self._database.value(
                "record_files",
                incarnation_id=incarnation_id,
                batch_id=key.batch_id,
                job_id=key.job_id,
                attempt=key.attempt,
                staging_ms=staging_ms,
                storing_ms=storing_ms,
                paths=[one.path for one in files],
                sizes=[one.n_bytes for one in files],
                digests=[one.digest for one in files],
                stores=[one.address for one in files],
                messages=[one.message for one in files],
            )
        )

    async def record_products(
        self,
        incarnation_id: int,
        key: AttemptKey,
        products: Sequence[dict[str, Any]],
        *,
        inputs: Sequence[dict[str, Any]] | None,
    ) -> bool:
        """Note what an attempt has made."""
        return bool(
            await self._database.value(
                "record_products",
                incarnation_id=incarnation_id,
                batch_id=key.batch_id,
                job_id=key.job_id,
                attempt=key.attempt,
                products=list(products),
                inputs=inputs,
            )
        )


def store_of(row: Iterable[Any]) -> StoredFileStore:
    """Return a store, as `find_store` and `find_stores` give it."""
    url, endpoint, region, access, credentials, secret, tenant_id, user_id, body = row
    owner = None if secret is None else SecretRow(tenant_id, user_id, secret)
    return StoredFileStore(url, endpoint, region, access, credentials, owner, body)


_COLUMNS = struct.Struct("!iq")
_NOWHERE: Final = (None, None)


def location_of(segment: int | None, offset: int | None) -> LogLocation | None:
    """Return the location that these columns hold."""
    return None if segment is None else LogLocation(_COLUMNS.pack(segment, offset or 0))


def directory_of(name: str | None, host: str, path: str | None) -> LogDirectory | None:
    """Return the directory that these columns hold."""
    return None if name is None else LogDirectory(name, host, path or "")


def location_columns(
    locations: Sequence[LogLocation | None],
) -> tuple[list[int | None], list[int | None]]:
    """Return the two columns of these locations."""
    unpack = _COLUMNS.unpack
    pairs = [_NOWHERE if location is None else unpack(location) for location in locations]
    return [segment for segment, _ in pairs], [offset for _, offset in pairs]
