"""The part of `WorkerStore` for files of jobs."""

from collections.abc import Sequence

from weft.core.attempt_key import AttemptKey
from weft.ports.store import FileWanted, FoundFile, KeptFile
from weft.store.database import Database


class WorkerFiles:
    """A worker's calls about files. The methods are documented at the port."""

    _database: Database

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
