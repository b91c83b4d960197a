"""The files of jobs, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.ports.store.queries import StoredFile
from weft.store.database import StorePart
from weft.store.declared import calls, documents


class JobFiles(StorePart):
    """The files of jobs that a caller sees."""

    @calls(documents, attempt="of_attempt", after="after_path", limit="limit_rows")
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

    @calls(
        lambda rows: StoredFile(*rows[0]) if rows else None,
        path="of_path",
        attempt="of_attempt",
    )
    async def find_file(
        self, caller: Caller, batch_id: int, job_id: int, path: str, *, attempt: int | None
    ) -> StoredFile | None:
        """Return a file that an attempt has left; without an attempt, of the last one that left
        it. None: there is none. Raise `BatchNotFound`, `JobNotFound`.
        """
