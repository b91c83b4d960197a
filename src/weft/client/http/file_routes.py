"""The routes about what jobs have left: files, and lines of their output; one method each."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Literal

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document, Listing


class FileRoutes(DocumentCalls):
    """`/v1/batches/{b}/jobs/{j}/file`, `/v1/files/trial`, `/v1/batches/{b}/logs`."""

    async def read_file(
        self, batch_id: int, job_id: int, path: str, *, attempt: int | None = None, span: str = ""
    ) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file that a job has left, or a span such as `0-99` of them."""
        at = f"/v1/batches/{batch_id}/jobs/{job_id}/file"
        part = [("Range", f"bytes={span}")] if span else []
        reply = await self._session.stream(
            at, query={"path": path, "attempt": attempt}, headers=part
        )
        async with reply:
            async for chunk in reply.chunks():
                yield chunk

    async def try_files(self, inputs: Sequence[Document], stores: Sequence[str] = ()) -> Document:
        """Look for files that jobs will need. Keys: `inputs`, `stores`, in this order, each with
        `problem` and `is_looked_at`.
        """
        given = {"inputs": list(inputs), "stores": list(stores)}
        return await self._post("/v1/files/trial", given)

    def find_lines(
        self,
        batch_id: int,
        text: str,
        *,
        group: int | str | None = None,
        q: str | None = None,
        states: Iterable[str] = (),
        stream: Literal["both", "stdout", "stderr"] = "both",
    ) -> Listing:
        """Yield the lines that have a text in what jobs have written so far, by job: those of a
        group, in `states`, that a query finds. Keys: `job_id, attempt, stream, number, line`, or
        `problem`, why a job's output cannot be read.
        """
        query = {"find": text, "group": group, "q": q, "state": list(states) or None}
        return self._list(f"/v1/batches/{batch_id}/logs", {**query, "stream": stream})
