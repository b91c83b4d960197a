"""Calls that are written by hand, and that `Api` alone has."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, Literal

from weft.client.answer import Answer
from weft.client.http.calls import Document, DocumentCalls, Listing, decode, segment
from weft.client.http.connection import ConnectionLost
from weft.core.errors import FileElsewhere


class ApiRoutes(DocumentCalls):
    """Files and lines that jobs left, failures, production lines, logins and pictures."""

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
            try:
                async for chunk in reply.chunks():
                    yield chunk
            except ConnectionLost as error:
                raise FileElsewhere(
                    f"the end of {path[:200]!r} did not come",
                    detail=f"{error}. So it is where somebody has changed a large file.",
                    hint="Ask again; if it stays so, submit the job again, with `--no-cache`.",
                ) from error

    async def read_note(self, batch_id: int, job_id: int, title: str) -> bytes:
        """Return what a job says about itself under a title, as it has written it: a picture is a
        PNG. Raise `FileNotFound`.
        """
        at = f"/v1/batches/{batch_id}/jobs/{job_id}/note"
        async with await self._session.stream(at, query={"title": title}) as reply:
            return b"".join([chunk async for chunk in reply.chunks()])

    async def try_files(self, inputs: Sequence[Document], stores: Sequence[str] = ()) -> Answer:
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
    ) -> Listing[Answer]:
        """Yield the lines that have a text in what jobs have written so far, by job: those of a
        group, in `states`, that a query finds. Keys: `job_id, attempt, stream, number, line`, or
        `problem`, why a job's output cannot be read.
        """
        query = {"find": text, "group": group, "q": q, "state": list(states) or None}
        return self._list(f"/v1/batches/{batch_id}/logs", {**query, "stream": stream})

    async def acknowledge_failures(
        self,
        batch_id: int,
        note: str,
        *,
        cause: str | None = None,
        jobs: Sequence[int] | None = None,
    ) -> int:
        """Note that a person has seen to failed jobs of a batch: all, those of a cause, or those
        with these numbers. Return how many left the list of dead letters.
        """
        path = f"/v1/batches/{batch_id}/failures/acknowledge"
        wanted = {"note": note, "cause": cause, "jobs": None if jobs is None else list(jobs)}
        answer = await self._post(path, wanted)
        n_jobs = found = int(answer["n_jobs"])
        while found and jobs is None:
            found = int((await self._post(path, {**wanted, "until": answer["until"]}))["n_jobs"])
            n_jobs += found
        return n_jobs

    async def save_setup(self, name: str, text: str) -> Answer:
        """Save the file of a production line. Only for operators."""
        path = f"/v1/setups/{segment(name, 'setup')}"
        return Answer(
            decode(
                await self._session.request(
                    "PUT", path, body=text.encode(), content_type="application/toml"
                )
            )
        )

    async def begin_login(self, **document: Any) -> Answer:  # noqa: ANN401 (fields of a document)
        """Return where a browser begins to log in: `issuer, url`. Raise `IssuerNotFound`."""
        return await self._post("/v1/logins", document)

    async def end_login(self, **document: Any) -> Answer:  # noqa: ANN401
        """Exchange a code: `tenant, user, token_id, token, expires_at`. Raise `LoginRefused`."""
        return await self._post("/v1/logins/finish", document)

    async def begin_device_login(self, **document: Any) -> Answer:  # noqa: ANN401
        """Make a code to be typed in elsewhere: `issuer, device_code, user_code,
        verification_uri, verification_uri_complete, expires_in_s, interval_s`. Raise
        `IssuerNotFound`, `NoDeviceLogin`.
        """
        return await self._post("/v1/device-logins", document)

    async def poll_device_login(self, **document: Any) -> Answer:  # noqa: ANN401
        """Ask whether it was typed in: `is_too_fast, login`. Raise `LoginRefused`."""
        return await self._post("/v1/device-logins/poll", document)

    async def get_graph(
        self,
        batch_id: int,
        *,
        group: int | str | None = None,
        level: Literal["groups", "jobs"] | None = None,
        apart: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Return the dependencies between the groups directly below a group, or between its jobs:
        `nodes` and `edges`. `group`: None: the batch; `level`: None: groups if there are some;
        `apart`: jobs with the same parents and the same children are nodes of their own, too;
        `cursor`: of the page before.
        """
        query = {"group": group, "level": level, "apart": apart or None, "limit": limit}
        return await self._get(f"/v1/batches/{batch_id}/graph", {**query, "cursor": cursor})
