"""The client for programs without an event loop: the same names, but each call waits.

What waits is the twin of a class of `weft.client.aio`, and made from it method by method; what is
only collected, in builders, is the same code.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, Unpack, overload

from weft.client import aio
from weft.client.answer import Answer
from weft.client.api import LogEvent
from weft.client.card import card_html
from weft.client.generated.twins import (
    BatchWaits,
    ClientWaits,
    CountedT_co,
    CountedWaits,
    JobGroupWaits,
    JobWaits,
)
from weft.client.generated.waiting import Waits
from weft.client.http.calls import Document
from weft.client.http.session import Patience
from weft.client.loop_thread import LoopThread, TimeLimit, Twin, waits_as
from weft.client.objects.builder import Builder, BuilderSource, GroupBuilder, JobTreeBuilder
from weft.client.objects.names import BatchNumber
from weft.client.progress_bar import Progress
from weft.client.submission.refs import JobRef, NotSubmitted
from weft.client.waiting import may_wait_on
from weft.core.errors import WeftError
from weft.core.ids import format_job_ref

__all__ = [
    "Batch",
    "BatchBuilder",
    "Client",
    "Document",
    "GroupBuilder",
    "Job",
    "JobGroup",
    "JobTree",
    "JobTreeBuilder",
    "LogEvent",
    "NotSubmitted",
]

if TYPE_CHECKING:
    from weft.client.functions.futures import WeftFuture
    from weft.client.generated import answers

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
NOTEBOOK_S = 5.0
"""How long a notebook waits for a status that nobody asked for."""


class Job(JobWaits):
    """One job of a batch.

    `create_job` of a builder returns one; its number is known after `submit`.
    """

    @property
    def ref(self) -> JobRef:
        """Return its reference: batch and position."""
        return self._async.ref

    def element(self, index: int) -> "Job":
        """Return one job of an array; the first is 0, whatever its index."""
        return Job(self._loop_thread, self._async.element(index))

    def wait(self, *, timeout_s: float | None = None) -> "answers.JobDetail":
        """Wait until the job has ended; return its document.

        Ctrl-C on a terminal asks whether to cancel it; a second one leaves. Elsewhere it is
        raised as always, and the job runs on.

        Args:
            timeout_s: Raise `TimeoutError` after this time; the job runs on. Default: never.
        """
        limit = TimeLimit(timeout_s)
        while True:
            try:
                return self._loop_thread.wait(self._async.wait(timeout_s=limit.left_s()))
            except KeyboardInterrupt:
                if not may_wait_on(format_job_ref(self.batch_id, self.job_id), self.cancel):
                    raise


class Counted(CountedWaits[CountedT_co]):
    """Jobs that are counted together: a batch or a group."""

    def _repr_html_(self) -> str | None:
        """Return the progress for a notebook, as it is now; None: the server does not say."""

        async def now() -> Answer:
            async with asyncio.timeout(NOTEBOOK_S):
                return await self._async.status()

        try:
            status = self._loop_thread.wait(now())
        except (WeftError, TimeoutError, CancelledError):
            return None
        return card_html(self.title, status)

    def wait(
        self, *, progress: bool | None = None, timeout_s: float | None = None
    ) -> "answers.CountedJobs":
        """Wait until all its jobs have ended; return the status.

        Ctrl-C on a terminal asks whether to cancel them; a second one leaves. Elsewhere it is
        raised as always, and they run on.

        Args:
            progress: Show a bar on standard error or in the notebook; default: if it can be seen.
            timeout_s: Raise `TimeoutError` after this time; the jobs run on. Default: never.
        """
        limit = TimeLimit(timeout_s)
        while True:
            try:
                with Progress(self.title, shown=progress) as shown:
                    return self._wait(shown, limit)
            except KeyboardInterrupt:
                if not may_wait_on(self.title, self.cancel):
                    raise

    def _wait(self, shown: Progress, limit: TimeLimit) -> "answers.CountedJobs":
        watched = self._async.watch(only_end=not shown.is_shown)
        for status in self._loop_thread.iterate(watched, limit):
            shown.update(status)
        return shown.result(status)


class JobGroup(JobGroupWaits, Counted[aio.JobGroup]):
    """A tree group or a set of one batch.

    `Batch.get_job_group`, `Batch.create_job_group` and `JobTree.get_path` return one.
    """

    def add_job(self, job_id: int) -> None:
        """Note a job of the batch to be added to this set by `update`."""
        self._async.add_job(job_id)


class JobTree(Twin[aio.JobTree]):
    """The tree of groups of a batch."""

    get_path = waits_as(JobGroup, aio.JobTree.get_path)


def _batch(loop_thread: LoopThread, batch: aio.Batch) -> "Batch":
    return Batch(loop_thread, batch)


class Batch(BatchWaits, Counted[aio.Batch]):
    """An existing batch.

    `submit` of a builder and `Client.get_batch` return one.
    """

    @property
    def id(self) -> BatchNumber:
        """Return its number, which prints as `b42`."""
        return self._async.id

    resubmit = waits_as(_batch, aio.Batch.resubmit)
    create_job_group = waits_as(JobGroup, aio.Batch.create_job_group)
    get_job_group = waits_as(JobGroup, aio.Batch.get_job_group)

    def job_tree(self) -> JobTree:
        """Return the tree of groups."""
        return JobTree(self._loop_thread, self._async.job_tree())

    def get_job(self, job_id: int) -> Job:
        """Return the job of this number; nothing is asked of the server yet."""
        return Job(self._loop_thread, self._async.get_job(job_id))


class BatchBuilder(Builder[Job], Twin[aio.BatchBuilder]):
    """A batch under construction, or an update of one: nothing is sent before `submit`."""

    def __init__(self, loop_thread: LoopThread, twin: aio.BatchBuilder) -> None:
        Builder.__init__(self, twin.draft, lambda ref: Job(loop_thread, twin.make_job(ref)))
        Twin.__init__(self, loop_thread, twin)

    submit = waits_as(Batch, aio.BatchBuilder.submit)


class Client(BuilderSource[BatchBuilder], ClientWaits, Waits[aio.Client]):
    """The client of a weft server.

        with Client() as client:
            bb = client.create_batch(name="hello")
            job = bb.create_job(["echo", "hello"])
            b = bb.submit()
            b.wait()
            print(job.log())

    One event loop in a thread of its own serves it, so it works in a notebook, too, and several
    threads may share it. It need not be closed.

    Args:
        url: Address of the server; default: `WEFT_URL`, or what `weft up` wrote in the home.
        token: The caller's token; default: `WEFT_TOKEN`, or likewise.
        home: The home to look into, instead of `WEFT_HOME`.
        visit: Look into this tenant, as an administrator of the site, and change nothing;
            default: `WEFT_VISIT`, or one's own tenant.
        patience_s: How long requests are repeated while the server is away; a server that was
            never reached is not waited for.
        wait_patience_s: The same for what waits: `wait`, `watch` and the logs of a job that runs.
        on_outage: Told why, when a request is being repeated.
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
        client = aio.Client(url, token, home=home, visit=visit, **patience)
        loop_thread = LoopThread()
        Twin.__init__(self, loop_thread, client)
        BuilderSource.__init__(
            self,
            client.api,
            lambda draft: BatchBuilder(loop_thread, aio.BatchBuilder(client.api, draft)),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread; wait for the functions that run."""
        if (executor := self._async.__dict__.get("_executor")) is not None:
            executor.shutdown()
        self._loop_thread.close()

    @overload
    def submit(self, document: Document, *, progress: bool | None = None) -> Batch: ...
    @overload
    def submit(
        self, document: Callable[P, ResultT], *args: P.args, **kwargs: P.kwargs
    ) -> "WeftFuture[ResultT]": ...
    def submit(self, document: Any, *args: Any, **kwargs: Any) -> Any:
        """Create a batch from a document, or call a function, as `weft.aio.Client.submit` does."""
        if callable(document):
            return self._async._executor.submit(document, *args, **kwargs)  # noqa: SLF001 (its twin)
        return self._submit_document(document, *args, **kwargs)

    def map(
        self,
        fn: Callable[..., ResultT],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int | None = None,
    ) -> Iterator[ResultT]:
        """Yield `fn(*arguments)` for all arguments, in order, each called on a worker, as `map` of
        a `weft.Executor` does, which takes more options and says what these are.
        """
        return self._async._executor.map(fn, *iterables, timeout=timeout, chunksize=chunksize)  # noqa: SLF001 (its twin)

    get_batch = waits_as(Batch, aio.Client.get_batch)
    get_job = waits_as(Job, aio.Client.get_job)
    create_job_group = waits_as(JobGroup, aio.Client.create_job_group)
    run_schedule = waits_as(Batch, aio.Client.run_schedule)
    _submit_document = waits_as(Batch, aio.Client._submit_document)  # noqa: SLF001 (its twin)
