"""Say what a job, a batch or a group waits for if it does not start."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any

from weft.cli.terminal.names import group_name, number_ranges
from weft.cli.terminal.plain import one_line, plain
from weft.cli.terminal.report import note
from weft.client.api import Api
from weft.core.amounts import coming, size
from weft.core.errors import WeftError
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.states import ENDED_WORDS

Document = Mapping[str, Any]
FIRST_LOOK_S = 1.0
LOOKS_S_MAX = 30.0
WORKERS_SHOWN = 5
_WORKER = "waits for a worker"


@asynccontextmanager
async def waits_told(
    client: Api,
    look: Callable[[], Awaitable[Document | None]],
    *,
    say: Callable[[str], None] = note,
    first_look_s: float = FIRST_LOOK_S,
) -> AsyncIterator[None]:
    """Meanwhile look again and again, less and less often, and say what is waited for.

    `look` returns the document of a job, batch or group, None if there is none now. The same is
    not said twice.
    """
    telling = asyncio.ensure_future(_tell(client, look, say, first_look_s))
    try:
        yield
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling


async def _tell(
    client: Api,
    look: Callable[[], Awaitable[Document | None]],
    say: Callable[[str], None],
    delay_s: float,
) -> None:
    said: str | None = None
    # Whoever waits for the end hears of every error; this only explains.
    with suppress(WeftError):
        while True:
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, LOOKS_S_MAX)
            document = await look()
            if document is None:
                continue
            if document.get("complete") or document["state"] in ENDED_WORDS:
                return
            reason = await waited_for(client, document)
            # A date stays the same, and how long it is until then does not.
            if reason is not None and _without_time_left(reason) != said:
                say(reason)
            said = reason and _without_time_left(reason)


async def waited_for(client: Api, document: Document) -> str | None:
    """Say what a job, batch or group waits for; None: it runs or has ended, or soon will run."""
    reason = await Waits(client).reason(document)
    return reason and f"{_name_of(document)} {reason}"


class Waits:
    """What jobs, batches and groups wait for at one moment: nothing is asked for twice."""

    def __init__(self, client: Api) -> None:
        self._client = client
        self._batches: dict[int, Document] = {}
        self._groups: dict[tuple[int, int], Document] = {}
        self._holders: dict[str, Sequence[Document]] = {}
        self._overview: Document | None = None
        self._queues: Mapping[str, Document] | None = None

    async def reason(self, document: Document) -> str | None:
        """Return words that follow its name; None: it runs or has ended, or soon will run."""
        with suppress(WeftError):  # it only explains
            return await self._reason(document)
        return None

    async def _reason(self, document: Document) -> str | None:
        if "job_id" in document:
            return await self._of_job(document)
        if document["n_running"] or document["complete"]:
            return None
        if document["held"]:
            return f"is held; `weft release {_name_of(document)}` lets its jobs start"
        return await self._of_first_ready(document) if document["n_ready"] else None

    async def _of_first_ready(self, document: Document) -> str | None:
        batch_id = document["id"] if "group_id" not in document else document["batch_id"]
        ready = self._client.list_jobs(
            batch_id, group=document.get("group_id"), states=("ready",), page_rows=1
        )
        for job in await ready.next_page():
            reason = await self._of_job(await self._client.get_job(batch_id, job["job_id"]))
            is_of_all = reason is None or reason.startswith(_WORKER)
            return reason if is_of_all else f"waits: {_name_of(job)} {reason}"
        return None

    async def _of_job(self, job: Document) -> str | None:
        if job["state"] == "running" or job["state"] in ENDED_WORDS:
            return None
        if job["held"]:
            holder = await self._hold_of(job)
            return f"waits: {holder} is held; `weft release {holder}` lets it start"
        if job["state"] == "pending":
            return f"waits for its parents {number_ranges(job.get('parents') or ())}".rstrip()
        if job["state"] != "ready":
            return f"is {job['state']}"
        return _date_of(job) or await self._key(job) or await self._place_or_worker(job)

    async def _hold_of(self, job: Document) -> str:
        """Return what is held: the batch, one of the job's groups, or the job."""
        batch_id = job["batch_id"]
        batch = await self._batch(batch_id)
        if batch["held"]:
            return _name_of(batch)
        for group_id in (job["group_id"], *job["groups"]):
            if (batch_id, group_id) not in self._groups:
                group = await self._client.get_group(batch_id, group_id)
                self._groups[batch_id, group_id] = group
            if self._groups[batch_id, group_id]["held"]:
                return _name_of(self._groups[batch_id, group_id])
        return _name_of(job)

    async def _key(self, job: Document) -> str | None:
        """Return who has the job's concurrency key, if it waits for that."""
        if not job.get("concurrency_key"):
            return None
        key = job["concurrency_key"]["key"]
        if "parents" in job:  # all its details
            holders = job.get("key_holders") or ()
        elif (holders := self._holders.get(key, ())) == ():
            detail = await self._client.get_job(job["batch_id"], job["job_id"])
            holders = self._holders[key] = detail.get("key_holders") or []
        if not holders:
            return None
        first, *others = holders
        more = f" and {len(others)} more, which have" if others else ", which has"
        return f'waits for {_name_of(first)}{more} the key "{one_line(key, width=60)}"'

    async def _place_or_worker(self, job: Document) -> str | None:
        batch = await self._batch(job["batch_id"])
        places = batch.get("max_running")
        if places is not None and batch["n_running"] >= places:
            return f"waits: {_name_of(batch)} runs at most {places} at a time"
        return await self._full_queue(job) or await self._worker(job)

    async def _full_queue(self, job: Document) -> str | None:
        """Return that the job's queue runs as many jobs as it may; None: it does not."""
        queue = await self._queue(job)
        most = queue and queue.get("max_running")
        if queue is None or most is None or queue["n_running"] < most:
            return None
        return f"waits: queue {plain(queue['name'])} runs {queue['n_running']} of {most} jobs"

    async def _worker(self, job: Document) -> str | None:
        """Return which worker is missing; None: one has room, so the job starts soon."""
        if self._overview is None:
            self._overview = await self._client.overview()
        overview, queue = self._overview, await self._queue(job)
        pools = queue and queue["pools"]
        found = [one for one in overview["workers"] if pools is None or one["pool"] in pools]
        if not found:
            of = f" of pool {' or '.join(pools)}" if pools and overview["workers"] else ""
            return f"{_WORKER}{plain(of)}: none is connected"
        wanted = job.get("resources") or {}
        cpu, memory = wanted.get("cpu", 0), wanted.get("memory", 0)
        found = [one for one in found if cpu <= one["cpu"] and memory <= one["memory"]]
        if not found:
            return f"{_WORKER} that is large enough: it needs {cpu:g} cores, {size(memory)} memory"
        active = [one for one in found if one.get("state", "active") == "active"]
        if not active:
            return _out_of_service(found)
        if any(_has_room(one, cpu, memory) for one in active):
            return None
        return f"{_WORKER} with room: {overview['running']:,} running, {overview['ready']:,} ready"

    async def _queue(self, job: Document) -> Document | None:
        if self._queues is None:
            self._queues = {one["name"]: one for one in await self._client.list_queues()}
        return self._queues.get(job["queue"])

    async def _batch(self, batch_id: int) -> Document:
        if batch_id not in self._batches:
            self._batches[batch_id] = await self._client.get_batch(batch_id)
        return self._batches[batch_id]


def _date_of(job: Document) -> str | None:
    """Return when the job may start, if that is later."""
    if not job.get("not_before"):
        return None
    at, now = datetime.fromisoformat(job["not_before"]), datetime.now().astimezone()
    return f"starts at {coming(at, now)}" if at > now else None


def _without_time_left(reason: str) -> str:
    return reason.partition(" (in ")[0]


def _out_of_service(workers: Sequence[Document]) -> str:
    """Say why none of these workers takes a job, and how to change it."""
    states = " or ".join(sorted({one["state"] for one in workers}))
    names = [plain(one["worker"]) for one in workers]
    if len(names) == 1:
        return f"{_WORKER}: {names[0]} is {states}; `weft worker uncordon {names[0]}`"
    shown = ", ".join(names[:WORKERS_SHOWN]) + (", …" if len(names) > WORKERS_SHOWN else "")
    return (
        f"{_WORKER}: those that could take it are {states} ({shown}); "
        f"`weft worker uncordon {names[0]}`"
    )


def _has_room(worker: Document, cpu: float, memory: float) -> bool:
    if worker.get("n_running") is None:  # its jobs come and go
        return True
    free_cpu = worker["cpu"] - worker["cpu_used"]
    free_memory = worker["memory"] - worker["memory_used"]
    return bool(cpu <= free_cpu and memory <= free_memory and free_cpu > 0 and free_memory > 0)


def _name_of(document: Document) -> str:
    if "job_id" in document:
        return format_job_ref(document["batch_id"], document["job_id"])
    if "group_id" in document:
        return group_name(document)
    return format_batch_id(document["id"])
