"""The part of `WorkerStore` for files of jobs."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

import asyncpg

from weft.ports.log_store import LogDirectory
from weft.ports.store import FoundFile, StoredFileStore, WorkerStore
from weft.store.database import StorePart
from weft.store.declared import calls, column, parts, truth
from weft.wire.log_format import LogLocation
from weft.wire.sealed import SecretRow

ATTEMPT: Final = parts("key", "batch_id", "job_id", "attempt")
"""What is sent of the key of an attempt."""


def _part(rows: Sequence[asyncpg.Record]) -> tuple[int, bytes] | None:
    return (rows[0]["n_bytes"], rows[0]["body"]) if rows else None


class WorkerFiles(StorePart):
    """A worker's calls about files, applications and payloads, documented at the port."""

    get_app_part = calls(_part, batch_id="of_batch_id", digest="of_digest", part="of_part")(
        WorkerStore.get_app_part
    )
    get_payload_part = calls(_part, batch_id="of_batch_id", digest="of_digest", part="of_part")(
        WorkerStore.get_payload_part
    )

    find_files = calls(
        lambda rows, wanted: (
            [None if row["from_batch"] is None else FoundFile(*row) for row in rows]
            or [None] * len(wanted)
        ),
        **ATTEMPT,
        of_batches=column("wanted", "batch_id"),
        of_jobs=column("wanted", "job_id"),
        of_parents=column("wanted", "parent"),
        paths=column("wanted", "path"),
    )(WorkerStore.find_files)

    find_stores = calls(
        lambda rows: [None if row["url"] is None else store_of(row) for row in rows],
        **{f"of_{name}": made for name, made in ATTEMPT.items()},
    )(WorkerStore.find_stores)
    record_files = calls(
        truth,
        **ATTEMPT,
        paths=column("files", "path"),
        sizes=column("files", "n_bytes"),
        digests=column("files", "digest"),
        stores=column("files", "address"),
        messages=column("files", "message"),
    )(WorkerStore.record_files)
    record_products = calls(truth, **ATTEMPT)(WorkerStore.record_products)


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
