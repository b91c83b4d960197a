"""The part of `ApiStore` for files of jobs."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.ports.store.job_files import StoredFile
from weft.store.database import Database


class JobFiles:
    """The files of jobs that a caller sees."""

    _database: Database

    async def list_files(
        self,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        attempt: int | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Row]:
        """Return documents of the files that an attempt has left, by path, after one of them;
        without an attempt, of the last one that left any. Raise `BatchNotFound`, `JobNotFound`.
        """
        rows = await self._database.call(
            "list_files",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            of_attempt=attempt,
            after_path=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def find_file(
        self, caller: Caller, batch_id: int, job_id: int, path: str, *, attempt: int | None
    ) -> StoredFile | None:
        """Return a file that an attempt has left; without an attempt, of the last one that left
        it. None: there is none. Raise `BatchNotFound`, `JobNotFound`.
        """
        rows = await self._database.call(
            "find_file",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            of_attempt=attempt,
            of_path=path,
        )
        return StoredFile(*rows[0]) if rows else None
