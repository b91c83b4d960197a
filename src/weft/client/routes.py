"""One method per route of the api. Documents are plain mappings, as the api
sends them.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import quote

import msgspec

from weft.client.answer import Answer
from weft.client.generated.api_calls import ApiCalls
from weft.client.http.api_routes import ApiRoutes
from weft.client.http.calls import PAGE_ROWS, Document, Listing, Requests, encode, group_segment
from weft.client.http.client_routes import BatchSort, ClientRoutes
from weft.client.http.session import new_key

if TYPE_CHECKING:
    from weft.client.generated import answers
    from weft.client.http.exec_calls import Exec

Stream = Literal["stdout", "stderr", "both"]


class Routes(ClientRoutes, ApiRoutes, ApiCalls, Requests):
    """The HTTP api, one method per route."""

    async def begin_exec(
        self,
        batch_id: int,
        job_id: int,
        command: Sequence[str],
        terminal: "Mapping[str, object] | None" = None,
        port: int | None = None,
    ) -> "Exec":
        """Start a command beside a running job: as its user, in its place, and no longer than it;
        `terminal`: with one that has these `rows`, `columns` and this `name`;
        `port`: no command, but a relay to that port.
        Raise `JobNotRunning`, `ExecElsewhere`, `ExecsFull`.
        """
        from weft.client.http.exec_calls import Exec  # noqa: PLC0415 (3 ms)
        from weft.wire.exec import BEGIN, MEDIA, frame  # noqa: PLC0415

        path = f"/v1/batches/{batch_id}/jobs/{job_id}/exec"
        options = {"command": command, "terminal": terminal, "port": port}
        document = {name: value for name, value in options.items() if value}
        first = frame(BEGIN, encode(document, msgspec.json.encode))
        headers = [("content-type", MEDIA)]
        return Exec(await self._session.stream(path, headers=headers, first=first))

    # ---- batches and updates

    async def create_batch(self, document: Document, *, key: str | None = None) -> Answer:
        """Create a batch; with `jobs` inside it is filled and committed in the same request.

        `key`: calls with the same one create one batch.
        """
        return await self._post("/v1/batches", document, key=key or new_key())

    async def explain_batches(
        self,
        q: str | None = None,
        *,
        name: str | None = None,
        sort: BatchSort | None = None,
        reverse: bool = False,
    ) -> Answer:
        """Return `{sql, plan: [lines]}`: how such a query of batches would be run."""
        query = {"q": q, "name": name, "sort": sort, "reverse": reverse or None, "explain": True}
        return await self._get("/v1/batches", query)

    async def reserve_update(
        self, batch_id: int, *, n_jobs: int, n_groups: int = 0, key: str | None = None
    ) -> Answer:
        """Reserve numbers for jobs and groups, to be filled by bunches and committed."""
        counts = {"n_jobs": n_jobs, "n_groups": n_groups}
        return await self._post(f"/v1/batches/{batch_id}/updates", counts, key=key or new_key())

    async def create_update(
        self, batch_id: int, document: Document, *, key: str | None = None
    ) -> Answer:
        """Add the `jobs` and `groups` of a document to a batch, committed when it returns."""
        return await self._post(f"/v1/batches/{batch_id}/updates", document, key=key or new_key())

    async def add_jobs(
        self,
        batch_id: int,
        update_id: int,
        first: int,
        jobs: Sequence[Document | msgspec.Raw],
        *,
        inherit_env: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one bunch; its first job is number `first` in the update (from 1). Repeatable."""
        path = f"/v1/batches/{batch_id}/updates/{update_id}/jobs"
        env = {} if inherit_env is None else {"inherit_env": inherit_env}
        return await self._post(path, {"first": first, "jobs": jobs, **env})

    # ---- jobs and groups

    def list_jobs(
        self,
        batch_id: int,
        q: str | None = None,
        *,
        group: int | str | None = None,
        states: Iterable[str] = (),
        why: bool = False,
        page_rows: int = PAGE_ROWS,
    ) -> Listing["answers.Job"]:
        """Yield job documents in order of their numbers: those of a group, in `states`, that a
        query finds; each only if given. `why`: with the first cause why each job waits.
        """
        query = {"q": q, "group": group, "state": list(states) or None, "why": why or None}
        query["limit"] = page_rows
        return self._list(f"/v1/batches/{batch_id}/jobs", query)

    async def count_reasons(
        self, batch_id: int, *, group: int | str | None = None, enough: int | None = None
    ) -> Sequence[Answer]:
        """Return for which reasons jobs failed, the most frequent first: `reason, state,
        exit_code, signal, n_jobs` and `first_job`, an example. A million failed jobs take some
        seconds; `enough`: stop at the page with which this number is reached.
        """
        found: dict[tuple[Any, ...], Answer] = {}
        pages = self._list(f"/v1/batches/{batch_id}/reasons", {"group": group, "limit": None})
        n_counted = 0
        while (enough is None or n_counted < enough) and (page := await pages.next_page()):
            for one in page:
                key = tuple(one[name] for name in ("reason", "state", "exit_code", "signal"))
                known = found.setdefault(key, Answer(one, n_jobs=0))
                known["n_jobs"] += one["n_jobs"]
                n_counted += one["n_jobs"]
        return sorted(found.values(), key=lambda one: -int(one["n_jobs"]))

    async def explain_jobs(
        self, batch_id: int, q: str | None = None, *, group: int | str | None = None
    ) -> Answer:
        """Return `{sql, plan: [lines]}`: how such a query of jobs would be run."""
        query = {"q": q, "group": group, "explain": True}
        return await self._get(f"/v1/batches/{batch_id}/jobs", query)

    async def why_group(self, batch_id: int, group: int | str | None = None) -> Answer:
        """Return why jobs of a batch or of a group wait: `causes`, as of a job."""
        of = "" if group is None else f"/groups/{group_segment(group)}"
        return await self._get(f"/v1/batches/{batch_id}{of}/why")

    async def create_group(self, batch_id: int, document: Document) -> Answer:
        """Make one group: a set by `name`, or a tree group by `path`."""
        return await self._post(f"/v1/batches/{batch_id}/groups", document, key=new_key())

    async def create_query_group(
        self, batch_id: int, q: str, *, name: str | None = None
    ) -> Answer:
        """Begin to fill a set with the jobs that a query finds; return the operation."""
        document = {} if name is None else {"name": name}
        path = f"/v1/batches/{batch_id}/groups"
        return await self._post(path, document, query={"q": q}, key=new_key())

    async def redeliver_callback(self, batch_id: int, delivery: int | str) -> Answer:
        """Try a callback that was not delivered again at once, by its `delivery_id` or name;
        return its document. Raise `CallbackNotFound` or `CallbackDelivered`.
        """
        path = f"/v1/batches/{batch_id}/callbacks/{quote(str(delivery), safe='')}/redeliver"
        return await self._post(path, {})

    async def callback_secret(self) -> str:
        """Return the secret with which this tenant's callbacks are signed; for its admins."""
        return str((await self._get("/v1/callbacks/secret"))["secret"])

    # ---- cancel

    async def cancel_job(self, batch_id: int, job_id: int) -> "answers.JobCancelled":
        """Cancel one job."""
        answer = await self._post(f"/v1/batches/{batch_id}/jobs/{job_id}/cancel", {})
        return cast("answers.JobCancelled", answer)

    # ---- output

    async def read_log(
        self,
        batch_id: int,
        job_id: int,
        *,
        stream: Stream = "both",
        attempt: int | None = None,
        last_bytes: int | None = None,
        on_cut: Callable[[], None] | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the output of an attempt (default: the last one) as it is now, in pieces; only its
        end, if `last_bytes` says how much of it. `on_cut` is called before the first piece if the
        middle of one of its streams was not kept.
        """
        reply = await self._session.stream(
            log_path(batch_id, job_id),
            query={"stream": stream, "attempt": attempt},
            headers=[("Range", f"bytes=-{last_bytes}")] if last_bytes else (),
        )
        async with reply:
            if on_cut is not None and reply.headers.get("x-weft-truncated") == "true":
                on_cut()
            async for chunk in reply.chunks():
                yield chunk

    # ---- money

    async def list_project_days(self, name: str, *, limit: int = 30) -> list[Answer]:
        """Return what a billing project cost on each date (UTC), newest first."""
        path = f"/v1/billing-projects/{quote(name, safe='')}/days"
        return await self._items(path, {"limit": limit})

    # ---- the whole

    async def is_ready(self) -> bool:
        """Say whether the server and its database answer."""
        return bool(await self._session.request("GET", "/readyz"))

    async def server_date(self) -> str | None:
        """Return the header `Date` of an answer: the wall clock of the server."""
        async with await self._session.stream("/healthz") as reply:
            await reply.read()
            return reply.headers.get("date")


def log_path(batch_id: int, job_id: int) -> str:
    """Return the path of a job's output."""
    return f"/v1/batches/{batch_id}/jobs/{job_id}/log"
