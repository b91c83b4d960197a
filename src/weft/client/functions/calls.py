"""The calls of one executor: sent in bunches, followed by events, their results fetched in sets.

Everything here runs in the event loop of the executor. A call that is accepted is sent as soon as
a request is free, together with all that were accepted meanwhile: a few requests carry thousands
of calls of one function. The first job that uses a function brings it; the others name that job.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import msgspec

from weft.client.api import Api, ResultRow
from weft.client.functions.pickles import PYTHON, Function
from weft.client.objects.growing_batch import Ends
from weft.client.submission.ahead import Ahead, sent_ahead
from weft.client.submission.upload import ONE_REQUEST_BYTES, ONE_REQUEST_JOBS
from weft.core.billing.resources import MIB as _MIB
from weft.core.billing.resources import parse_bytes, parse_cpu_m
from weft.core.errors import (
    Conflict,
    InvalidDocument,
    NotFound,
    PayloadTooLarge,
    QuotaExceeded,
    TooLarge,
)
from weft.core.text.amounts import size
from weft.ports.patience import end_tasks
from weft.wire.documents.apps import RequirementsDocument
from weft.wire.documents.jobs import FunctionDocument, JobDocument

REQUESTS: Final = 3
CANCELS: Final = 4
ARGUMENTS_BYTES: Final = 1 << 20
"""Longer arguments go ahead of the job, in parts."""


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """One job: a call, or several of one function."""

    function: Function
    arguments: bytes
    payload: str | None = None
    """The digest under which the server has the arguments, if they are large; then they are not
    kept here.
    """
    calls: int = 1
    each: bool = False
    on_claimed: Callable[[], None]
    on_end: Callable[[ResultRow], None]
    on_failure: Callable[[BaseException], None]
    """Called instead of `on_end` if the call could not be sent or followed."""
    cancel: Callable[[], bool]
    """Cancels it if no worker has taken it."""
    job_id: int = 0
    """0: it has not been sent."""
    is_dropped: bool = False
    """The caller no longer waits for it."""


class FunctionLost(Exception):
    """The job that should have brought a function was refused."""


@dataclass(frozen=True, kw_only=True)
class JobPlan:
    """Fields shared by all jobs of an executor."""

    name: str | None
    max_running: int | None
    resources: Mapping[str, Any] | None
    timeout_s: float | None
    env: Mapping[str, str] | None
    path: tuple[str, ...]
    interpreter: str | None
    directory: str | None = None
    """Where calls run, on hosts that have it."""
    inherit_env: Mapping[str, str] | None = None
    """The environment of the caller; None: it stays here."""
    retries: Mapping[str, Any] = field(default_factory=dict)
    """Those of `RetryKeywords` that were given."""
    requirements: Ahead | None = None
    encoded_resources: msgspec.Raw = field(init=False)

    def __post_init__(self) -> None:
        encoded = msgspec.msgpack.encode(self.resources)
        object.__setattr__(self, "encoded_resources", msgspec.Raw(encoded))


class Calls:
    """All calls of one executor, in one batch, which is made with the first of them."""

    def __init__(self, api: Api, plan: JobPlan, *, on_idle: Callable[[], None]) -> None:
        self._api = api
        self._on_idle = on_idle
        self._sources: set[object] = set()
        """Maps that may still send calls on their own."""
        self._plan = plan
        variables = plan.inherit_env
        self._environment = {} if variables is None else {"inherit_env": variables}
        self.batch_id: int | None = None
        self._live: set[Call] = set()
        """All that were accepted and have not ended."""
        self._waiting: deque[Call] = deque()
        self._something = asyncio.Event()
        self._free = asyncio.Semaphore(REQUESTS)
        self._functions: dict[bytes, asyncio.Future[int]] = {}
        self._payloads: set[str] = set()
        """Digests of those that the server has."""
        self._unsent = 0
        self._ends: Ends[Call] = Ends(api, on_end=self._end, is_sending=lambda: self._unsent > 0)
        self._cancels: asyncio.Queue[int] = asyncio.Queue()
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    @property
    def n_live(self) -> int:
        """Return how many jobs have not ended."""
        return len(self._live)

    # ---- from the executor

    def accept(self, calls: Iterable[Call]) -> None:
        """Take calls to be sent."""
        for call in calls:
            if self._failure is not None:
                call.on_failure(self._failure)
                continue
            self._live.add(call)
            self._waiting.append(call)
            self._unsent += 1
        if not self._tasks and self._waiting:
            self._start(self._send_all())
        self._idle.clear()
        self._something.set()
        self._look_whether_idle()

    def drop(self, call: Call) -> None:
        """Cancel a call: nobody wants its result any more."""
        call.is_dropped = True
        self._live.discard(call)
        if call.job_id:
            self._ends.drop(call.job_id)
            self._cancels.put_nowait(call.job_id)
            self._look_whether_idle()

    def enter(self, source: object) -> None:
        """Note that this map will send more calls."""
        self._sources.add(source)
        self._idle.clear()

    def leave(self, source: object) -> None:
        """Note that this map has sent all its calls."""
        self._sources.discard(source)
        self._look_whether_idle()

    def cancel_unclaimed(self) -> None:
        """Cancel what no worker has taken."""
        for call in list(self._live):
            call.cancel()

    async def until_idle(self) -> None:
        """Wait until all calls have ended and all that were dropped are cancelled."""
        await self._idle.wait()
        await self._cancels.join()

    async def break_off(self, error: BaseException) -> None:
        """Fail all calls, and cancel their jobs."""
        if self._failure is not None:
            return
        self.enter(error)  # so that nobody closes the connections meanwhile
        try:
            self._fail(error)
            await self.cancel_all()
        finally:
            self.leave(error)

    async def cancel_all(self) -> None:
        """Cancel all jobs, those that run included."""
        if self.batch_id is not None:
            await self._api.cancel_batch(self.batch_id)

    async def close(self) -> None:
        """End everything here; jobs go on."""
        await end_tasks(self._tasks)
        await self._api.close()

    async def slots(self) -> int:
        """Return how many jobs of this executor the workers can run side by side."""
        overview = await self._api.overview()
        cpu_m = _cpu_m((self._plan.resources or {}).get("cpu", 1))
        memory = _memory_bytes((self._plan.resources or {}).get("memory", 1))
        active = [
            worker
            for worker in overview["workers"]
            # A worker of simulations has no memory for anything else.
            if worker.get("state", "active") == "active" and worker["memory"] > max(memory, _MIB)
        ]
        slots = sum(int(1000 * worker["cpu"]) // cpu_m for worker in active) or 1
        return min(slots, self._plan.max_running or slots)

    # ---- sending

    async def _send_all(self) -> None:
        said = {"name": self._plan.name, "max_running": self._plan.max_running}
        batch = {key: value for key, value in said.items() if value}
        self.batch_id = int((await self._api.create_batch(batch))["id"])
        for digest, body in sent_ahead([{"requirements": self._plan.requirements}]).items():
            await self._api.send_payload(self.batch_id, digest, body)
        for loop in self._ends.loops(self.batch_id):
            self._start(loop)
        await self._ends.is_followed.wait()  # so that no event is missed
        for _ in range(CANCELS):
            self._start(self._cancel_all())
        while True:
            while not self._waiting:
                self._something.clear()
                await self._something.wait()
            await self._free.acquire()
            self._start(self._send_one())
            await asyncio.sleep(0)

    async def _send_one(self) -> None:
        try:
            await self._send(
                [call for call in self._next_bunch() if await self._is_sent_ahead(call)]
            )
        finally:
            self._free.release()

    def _next_bunch(self) -> list[Call]:
        bunch: list[Call] = []
        n_bytes = 0
        while self._waiting and len(bunch) < ONE_REQUEST_JOBS:
            call = self._waiting[0]
            n_bytes += len(call.arguments)
            if bunch and n_bytes > ONE_REQUEST_BYTES:
                break
            self._waiting.popleft()
            if call.is_dropped:
                self._unsent -= 1
            else:
                bunch.append(call)
        return bunch

    async def _is_sent_ahead(self, call: Call) -> bool:
        """Send large arguments; return False if the server does not take them."""
        if len(call.arguments) <= ARGUMENTS_BYTES:
            return True
        assert self.batch_id is not None
        digest = sha256(call.arguments).hexdigest()
        try:
            if digest not in self._payloads:
                await self._api.send_payload(self.batch_id, digest, call.arguments)
        except PayloadTooLarge as error:
            self._fail_one(call, error)
            return False
        self._payloads.add(digest)
        call.payload, call.arguments = digest, b""
        return True

    async def _send(self, bunch: list[Call]) -> None:
        if not bunch:
            self._look_whether_idle()
            return
        brought: dict[bytes, int] = {}
        try:
            jobs = [
                self._job(call, await self._source(call.function, position, brought))
                for position, call in enumerate(bunch, 1)
            ]
            assert self.batch_id is not None
            answer = await self._api.create_update(
                self.batch_id, {"jobs": jobs, **self._environment}
            )
        except FunctionLost:
            self._lose(brought)
            self._waiting.extendleft(reversed(bunch))
            self._something.set()
        except InvalidDocument as error:
            self._lose(brought)
            self._refuse(bunch, brought, error)
        except TooLarge as error:
            self._lose(brought)
            await self._send_apart(bunch, error)
        except QuotaExceeded as error:  # there may be room for the next ones
            self._lose(brought)
            for call in bunch:
                self._fail_one(call, error)
            self._look_whether_idle()
        except BaseException:
            self._lose(brought)
            raise
        else:
            first = int(answer["first_job"])
            for digest, position in brought.items():
                self._functions[digest].set_result(first + position - 1)
            self._take_numbers(bunch, first)

    async def _send_apart(self, bunch: list[Call], error: TooLarge) -> None:
        """Send the halves of a bunch that is too large; fail a call that is so alone."""
        if len(bunch) > 1:
            half = len(bunch) // 2
            await self._send(bunch[:half])
            await self._send(bunch[half:])
            return
        (call,) = bunch
        self._fail_one(call, _too_large(call, error))
        self._look_whether_idle()

    def _fail_one(self, call: Call, error: BaseException) -> None:
        self._unsent -= 1
        self._live.discard(call)
        call.on_failure(error)

    async def _source(
        self, function: Function, position: int, brought: dict[bytes, int]
    ) -> int | str | None:
        """Return the job that brings a function; None: the one at this position does."""
        if function.digest in brought:
            return brought[function.digest]
        known = self._functions.get(function.digest)
        if known is not None:
            return f"j{await asyncio.shield(known)}"
        brought[function.digest] = position
        self._functions[function.digest] = asyncio.get_running_loop().create_future()
        return None

    def _lose(self, brought: Iterable[bytes]) -> None:
        """Let others bring these functions."""
        for digest in brought:
            promised = self._functions.pop(digest)
            promised.set_exception(FunctionLost())
            promised.exception()  # nobody may wait for it

    def _job(self, call: Call, source: int | str | None) -> JobDocument:
        plan = self._plan
        function = FunctionDocument(
            pickle=call.function.pickle if source is None else None,
            of=source,
            arguments=call.arguments if call.payload is None else None,
            arguments_digest=call.payload,
            each=call.each,
            python=PYTHON if source is None else None,
            path=plan.path if source is None else (),
            interpreter=plan.interpreter,
            directory=plan.directory,
        )
        return JobDocument(
            name=call.function.name,
            function=function,
            resources=plan.encoded_resources,
            timeout_s=None if plan.timeout_s is None else plan.timeout_s * call.calls,
            env=dict(plan.env) if plan.env else None,
            requirements=RequirementsDocument(**plan.requirements) if plan.requirements else None,
            **plan.retries,
        )

    def _take_numbers(self, bunch: list[Call], first: int) -> None:
        self._unsent -= len(bunch)
        for job_id, call in enumerate(bunch, first):
            call.job_id = job_id
            if call.is_dropped:
                self._cancels.put_nowait(job_id)
        self._ends.add({call.job_id: call for call in bunch if not call.is_dropped})
        self._look_whether_idle()

    def _refuse(
        self, bunch: list[Call], brought: Mapping[bytes, int], error: InvalidDocument
    ) -> None:
        """Tell those calls that the server refuses, and send the others again."""
        parts = [one.pointer.split("/") for one in error.errors]
        # What is wrong with anything but a function is wrong with all jobs of this executor.
        is_single = all(part[1] == "jobs" and part[3:4] == ["function"] for part in parts)
        wrong = {int(part[2]) for part in parts} if is_single else set()
        lost = {digest for digest, position in brought.items() if position - 1 in wrong}
        again: list[Call] = []
        for index, call in enumerate([*bunch, *self._waiting]):
            if not is_single or index in wrong or call.function.digest in lost:
                self._fail_one(call, error)
            else:
                again.append(call)
        self._waiting = deque(again)
        self._something.set()
        self._look_whether_idle()

    def _end(self, call: Call, row: ResultRow) -> None:
        self._live.discard(call)
        call.on_end(row)
        self._look_whether_idle()

    async def _cancel_all(self) -> None:
        while True:
            job_id = await self._cancels.get()
            try:
                assert self.batch_id is not None
                await self._api.cancel_job(self.batch_id, job_id)
            except (NotFound, Conflict):
                pass  # already gone
            finally:
                self._cancels.task_done()

    # ---- ends

    def _look_whether_idle(self) -> None:
        if not self._unsent and not self._ends.by_job and not self._sources:
            self._idle.set()
            self._on_idle()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)
            if self.batch_id is None:  # it was refused: the next call asks for one again
                self._failure = None

    def _fail(self, error: BaseException) -> None:
        """Tell all calls that they cannot be sent or followed any more."""
        self._failure = self._failure or error
        calls, self._live = self._live, set()
        self._waiting.clear()
        self._ends.by_job.clear()
        self._unsent = 0
        for call in calls:
            call.on_failure(error)
        for task in self._tasks:
            task.cancel()
        while not self._cancels.empty():
            self._cancels.get_nowait()
            self._cancels.task_done()
        self._look_whether_idle()


def _too_large(call: Call, error: TooLarge) -> TooLarge:
    """Return a refusal in words of who made the call."""
    n_bytes = len(call.function.pickle)
    if n_bytes <= len(call.arguments):
        return error
    return PayloadTooLarge(
        f"the function {call.function.name} is too large to travel",
        detail=f"With what it refers to it has {size(n_bytes)}. The server says: {error.detail}",
        hint="Give large data as an argument of the call, which may be much larger, or read it "
        "from a file in the function.",
    )


def _memory_bytes(memory: float | str) -> int:
    try:
        return parse_bytes(memory)
    except ValueError:  # the server will say so
        return 1


def _cpu_m(cpu: float | str) -> int:
    try:
        return max(1, parse_cpu_m(cpu))
    except ValueError:  # the server will say so
        return 1000
