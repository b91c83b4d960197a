"""The routes about files of jobs, one method each."""

from collections.abc import AsyncGenerator

from weft.client.http.calls import Requests
from weft.client.http.listing import Listing


class FileRoutes(Requests):
    """`/v1/batches/{b}/jobs/{j}/files` and `…/file`."""

    def list_files(self, batch_id: int, job_id: int, *, attempt: int | None = None) -> Listing:
        """Return the files that an attempt has left (default: the last one that left any)."""
        return self._list(f"/v1/batches/{batch_id}/jobs/{job_id}/files", {"attempt": attempt})

    async def read_file(
        self, batch_id: int, job_id: int, path: str, *, attempt: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file that a job has left. Raise `FileNotFound`, `FileElsewhere`."""
        reply = await self._session.stream(
            f"/v1/batches/{batch_id}/jobs/{job_id}/file",
            query={"path": path, "attempt": attempt},
        )
        async with reply:
            async for chunk in reply.chunks():
                yield chunk
