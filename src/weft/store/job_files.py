"""The part of `ApiStore` for files of jobs."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.ports.store.job_files import StoredFile
from weft.store.database import Database


class JobFiles:
    """The api's calls about files of jobs. The methods are documented at the port."""

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
        """Return documents of files."""
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
        """Return a file."""
        rows = await self._database.call(
            "find_file",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            of_attempt=attempt,
            of_path=path,
        )
        return StoredFile(*rows[0]) if rows else None
