"""The asynchronous client: what `weft.aio` shows."""

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar, Unpack, overload

from msgspec import UNSET, UnsetType

from weft.client.answer import Answer
from weft.client.api import Api, LogEvent
from weft.client.generated.calls import Calls
from weft.client.http.calls import Document, Listing, without_none, without_unset
from weft.client.http.client_routes import ClientRoutes
from weft.client.http.session import Patience
from weft.client.objects.batch import Batch, JobTree
from weft.client.objects.builder import (
    Builder,
    BuilderSource,
    Draft,
    GroupBuilder,
    JobTreeBuilder,
    group_options,
)
from weft.client.objects.counted import Counted
from weft.client.objects.crate_calls import CrateCalls
from weft.client.objects.group import JobGroup
from weft.client.objects.job import Job
from weft.client.objects.names import batch_called, job_called
from weft.client.objects.operation import end_of
from weft.client.progress_bar import Progress
from weft.client.submission.refs import JobRef, NotSubmitted, ref_of
from weft.core.errors import WeftError

__all__ = [
    "Batch",
    "BatchBuilder",
    "Client",
    "Counted",
    "Document",
    "GroupBuilder",
    "Job",
    "JobGroup",
    "JobTree",
    "JobTreeBuilder",
    "Listing",
    "LogEvent",
    "NotSubmitted",
]

if TYPE_CHECKING:
    from weft.client.functions.executor import Executor

P = ParamSpec("P")
Result = TypeVar("Result")


class BatchBuilder(Builder[Job]):
    """A batch under construction, or an update of one: nothing is sent before `submit`."""

    def __init__(self, api: Api, draft: Draft) -> None:
        super().__init__(draft, self.make_job)
        self.draft = draft
        self._api = api

    def make_job(self, ref: JobRef) -> Job:
        """Return the job at a position of this builder."""
        return Job(self._api, ref)

    async def submit(self, *, progress: bool | None = None) -> Batch:
        """Send all jobs and groups, and commit: then they run. Return the batch.

        Few jobs go in one request, many in bunches, six at a time. When the server goes away in
        the middle, `submit` may be called again: it goes on where it was, and no job is there
        twice. After it the builder is empty and collects a further update.

        Args:
            progress: Show a bar while jobs are sent; default: only if a person can see it.
        """
        with Progress("submit", shown=progress, total=self.draft.n_jobs) as shown:
            number = await self.draft.submit(shown.advance)
            return Batch(self._api, number, answer=self.draft.answer)


class Client(BuilderSource[BatchBuilder], CrateCalls, ClientRoutes, Calls):
    """The client of a weft server, for asyncio.

        async with Client() as client:
            bb = client.create_batch(name="hello")
            job = bb.create_job(["echo", "hello"])
            b = await bb.submit()
            await b.wait()
            print(await job.log())

    It takes what `weft.Client` takes.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        home: Path | None = None,
        visit: str | None = None,
        **patience: Unpack[Patience],
    ) -> None:
        self.api = Api(url, token, home=home, visit=visit, **patience)
        self._place: dict[str, Any] = {"url": url, "token": token, "home": home}
        self._session = self.api._session  # noqa: SLF001 (both have its connections)
        super().__init__(self.api, lambda draft: BatchBuilder(self.api, draft))

    def __repr__(self) -> str:
        try:
            return f"<Client of {self.api.url}>"
        except WeftError as error:
            return f"<Client: {error.message}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; wait for the functions that run."""
        if (executor := self.__dict__.get("_executor")) is not None:
            await asyncio.to_thread(executor.shutdown)
        await self.api.close()

    @functools.cached_property
    def _executor(self) -> "Executor":
        from weft.client.functions.executor import Executor  # noqa: PLC0415 (few call functions)

        return Executor(**self._place)

    async def get_batch(self, batch_id: int | str) -> Batch:
        """Return a batch. Raise `BatchNotFound`, `NoBatchOfName`.

        Args:
            batch_id: Its number, `"b42"`, or its name: then the newest batch of that name.
        """
        seen = await self.api.get_batch(await batch_called(self.api, batch_id))
        return Batch(self.api, int(seen["id"]), seen=seen)

    async def get_job(self, job: str) -> Job:
        """Return the job that is written `b42.j7`, `nightly.j7` or `nightly.align`. Raise
        `JobNotFound`, `NoBatchOfName`, `NoJobOfName`.
        """
        batch_id, job_id = await job_called(self.api, job)
        await self.api.get_job(batch_id, job_id)
        return Job(self.api, ref_of(batch_id, job_id))

    async def pause_schedule(self, schedule_id: int) -> Answer:
        """Let a schedule submit nothing until it is resumed; return it."""
        return await self.api.change_schedule(schedule_id, paused=True)

    async def resume_schedule(self, schedule_id: int) -> Answer:
        """Let a schedule go on at its next time from now; return it."""
        return await self.api.change_schedule(schedule_id, paused=False)

    async def run_schedule(self, schedule_id: int) -> Batch:
        """Submit the batch of a schedule now, beside its due times; return the batch."""
        return Batch(self.api, int((await self.api.run_schedule(schedule_id))["batch_id"]))

    async def create_job_group(
        self,
        batch_id: int,
        name: str,
        *,
        cancel_after_n_failures: int | None = None,
        attributes: Mapping[str, str] | None = None,
        callback: str | None = None,
    ) -> JobGroup:
        """Make an empty set in a batch, to be filled by `add_job` and `update`.

        The same call again returns the same set. Raise `GroupExists` if there is another one of
        this name.

        Args:
            batch_id: The batch.
            name: Unique among the sets of the batch.
            cancel_after_n_failures: The number of failures after which its jobs are cancelled.
            attributes: Your own keys and values.
            callback: URL to which its status is posted when it is complete.
        """
        options = group_options(cancel_after_n_failures, attributes, callback)
        document = {"name": name, "kind": "set", **options}
        return JobGroup(self.api, await self.api.create_group(batch_id, document))

    async def check_files(self, document: Document) -> Answer:
        """Look for the files that the jobs of a batch document will need, as far as the server
        sees them; nothing is submitted. Keys: `looked_at`, `not_looked_at`, `problems`, each with
        `pointer`, `file` and `problem`. Raise `msgspec.ValidationError`.
        """
        from weft.client.submission.wanted_files import look_for_files  # noqa: PLC0415 (5 ms)

        return Answer(await look_for_files(self.api, document))

    @overload
    async def submit(self, document: Document, *, progress: bool | None = None) -> Batch: ...
    @overload
    async def submit(
        self, document: Callable[P, Result], *args: P.args, **kwargs: P.kwargs
    ) -> "asyncio.Future[Result]": ...
    async def submit(self, document: Any, *args: Any, **kwargs: Any) -> Any:
        """Create a batch from a document, or call a function on a worker.

        Args:
            document: That of `POST /v1/batches`, however large, with parents named in any order;
                or a function: then its future is returned, and `await future` is what it returns.
            *args: Arguments of the function.
            **kwargs: The same; of a document: `progress`, whether to show a bar (None: if seen).
        """
        if callable(document):
            return asyncio.wrap_future(self._executor.submit(document, *args, **kwargs))
        return await self._submit_document(document, *args, **kwargs)

    async def _submit_document(self, document: object, *, progress: bool | None = None) -> Batch:
        if not isinstance(document, Mapping):
            form = "pass a mapping such as {'jobs': [...]}, or what a YAML reader makes of a file"
            raise TypeError(f"{str(document)[:80]!r} is no document: {form}")
        with Progress("submit", shown=progress) as shown:
            answer = await self.api.submit(document, on_sent=shown.advance)
        return Batch(self.api, int(answer["id"]), answer=answer)

    async def act_on_batches(self, action: str, q: str, *, shown: bool | None = None) -> Answer:
        """Change the batches that a query finds, one after the other, and wait for the end.

        What one may not change is skipped. Return `n_changed`, `n_idle` batches in which there was
        nothing to do, `n_skipped`, and `skipped`: how often for which code of an error. Raise
        `BadQuery`.

        Args:
            action: `cancel`, `retry`, `hold` or `release`.
            q: A query; an empty one finds all.
            shown: Whether to show the progress; None: on a terminal.
        """
        operation = await self.api.begin_batch_action(action, query=q)
        return await end_of(self.api, operation, f"{action} batches", shown=shown)

    async def set_tenant(
        self,
        name: str,
        *,
        on_user_removal: Literal["finish", "cancel"] | None = None,
        allowed: Mapping[str, Sequence[str] | None] | None = None,
        output_keep_s: int | None = None,
        output_keep_bytes: int | None = None,
    ) -> Answer:
        """Change what holds in a tenant, and return it. Raise `RightMissing`, `TenantNotFound`.

        Args:
            name: Name of the tenant.
            on_user_removal: Whether batches of users who are removed go on to their end or are
                cancelled, where `remove_user` does not say it.
            allowed: What its jobs may choose, `{"image": ["docker://registry.example/*"],
                "partition": ["long"]}`; None for a kind: whatever workers and gateways allow.
            output_keep_s: Seconds after the end of a batch for which its output and files are
                kept; 0: as long as the batch.
            output_keep_bytes: What the tenant may store before the oldest output and files are
                removed; 0: any number of bytes.
        """
        changes = {
            "on_user_removal": on_user_removal,
            "allowed": allowed,
            "output_keep_s": output_keep_s,
            "output_keep_bytes": output_keep_bytes,
        }
        return await self.api.set_tenant(name, without_none(changes))

    async def limit_project(
        self,
        name: str,
        cost_max: float | UnsetType | None = UNSET,
        *,
        cost_soft_max: float | UnsetType | None = UNSET,
        on_limit: Literal["pause", "cancel"] | UnsetType = UNSET,
    ) -> Answer:
        """Set what a billing project may cost, from where on its jobs weigh half, and whether its
        batches are paused or cancelled at the limit; None: no limit. Return it. Raise
        `RightMissing`, `ProjectNotFound`, `SoftLimitAboveLimit`.
        """
        given = {"cost_max": cost_max, "cost_soft_max": cost_soft_max, "on_limit": on_limit}
        return await self.api.change_project(name, without_unset(given))

    async def close_project(self, name: str) -> Answer:
        """Let a billing project take no new batches and schedules; return it. Raise
        `RightMissing`, `ProjectNotFound`.
        """
        return await self.api.change_project(name, {"closed": True})

    async def reopen_project(self, name: str) -> Answer:
        """Let a closed billing project take new batches again; return it. Raise `RightMissing`,
        `ProjectNotFound`.
        """
        return await self.api.change_project(name, {"closed": False})
