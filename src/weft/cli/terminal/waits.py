"""Say what a job, a batch or a group waits for if it does not start."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from weft.cli.terminal.names import group_name, number_ranges
from weft.cli.terminal.report import note
from weft.client.api import Api
from weft.core.errors import QueueNotFound, WeftError
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.states import ENDED_WORDS

Document = Mapping[str, Any]
FIRST_LOOK_S = 1.0
LOOKS_S_MAX = 30.0


@asynccontextmanager
async def waits_told(
    client: Api,
    look: Callable[[], Awaitable[Document]],
    *,
    say: Callable[[str], None] = note,
    first_look_s: float = FIRST_LOOK_S,
) -> AsyncIterator[None]:
    """Meanwhile look again and again, less and less often, and say what is waited for.

    `look` returns the document of a job, batch or group. The same is not said twice.
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
    look: Callable[[], Awaitable[Document]],
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
            if document.get("complete") or document["state"] in ENDED_WORDS:
                return
            reason = await waited_for(client, document)
            if reason is not None and reason != said:
                say(reason)
            said = reason


async def waited_for(client: Api, document: Document) -> str | None:
    """Return what a job, batch or group waits for; None: it runs, or soon will."""
    if "job_id" in document:
        return await _job_waits_for(client, document)
    name = _name_of(document)
    if document["n_running"]:
        return None
    if document["held"]:
        return f"{name} is held; `weft release {name}` lets its jobs start"
    worker = await _worker(client) if document["n_ready"] else None
    return worker and f"{name} waits for {worker}"


async def _job_waits_for(client: Api, job: Document) -> str | None:
    name = format_job_ref(job["batch_id"], job["job_id"])
    if job["state"] == "running":
        return None
    if job["held"]:
        holder = await _holder(client, job)
        return f"{name} waits: {holder} is held; `weft release {holder}` lets it start"
    if job["state"] == "pending":
        parents = number_ranges(job.get("parents") or ())
        return f"{name} waits for its parents {parents}".rstrip()
    if job["state"] == "ready":
        return await _place_or_worker(client, job, name)
    return f"{name} is {job['state']}"


async def _holder(client: Api, job: Document) -> str:
    """Return what is held: the batch, one of the job's groups, or the job."""
    batch = await client.get_batch(job["batch_id"])
    if batch["held"]:
        return _name_of(batch)
    for group_id in (job["group_id"], *job["groups"]):
        group = await client.get_group(job["batch_id"], group_id)
        if group["held"]:
            return _name_of(group)
    return format_job_ref(job["batch_id"], job["job_id"])


async def _place_or_worker(client: Api, job: Document, name: str) -> str | None:
    batch = await client.get_batch(job["batch_id"])
    places = batch.get("max_running")
    if places is not None and batch["n_running"] >= places:
        return f"{name} waits: {_name_of(batch)} runs at most {places} at a time"
    if full := await _full_queue(client, job):
        return f"{name} waits: {full}"
    wanted = job.get("resources") or {}
    worker = await _worker(client, wanted.get("cpu", 0), wanted.get("memory", 0))
    return worker and f"{name} waits for {worker}"


async def _full_queue(client: Api, job: Document) -> str | None:
    """Return that the job's queue runs as many jobs as it may; None: it does not."""
    try:
        queue = await client.get_queue(job["queue"])
    except QueueNotFound:
        return None
    most = queue["max_running"]
    if most is None or queue["n_running"] < most:
        return None
    return f"queue {queue['name']} runs {queue['n_running']} of {most} jobs"


async def _worker(client: Api, cpu: float = 0, memory: float = 0) -> str | None:
    """Return which worker is missing; None: one has room, so the job starts soon."""
    overview = await client.overview()
    workers = [one for one in overview["workers"] if one.get("state", "active") == "active"]
    if overview["workers"] and not workers:
        return "a worker: all are cordoned, see `weft worker ls`"
    if not workers:
        return "a worker: none is connected"
    if any(_has_room(one, cpu, memory) for one in workers):
        return None
    running, ready = overview["running"], overview["ready"]
    return f"a worker with room: {running:,} running, {ready:,} ready"


def _has_room(worker: Document, cpu: float, memory: float) -> bool:
    if worker.get("n_running") is None:  # its jobs come and go
        return True
    free_cpu = worker["cpu"] - worker["cpu_used"]
    free_memory = worker["memory"] - worker["memory_used"]
    return bool(cpu <= free_cpu and memory <= free_memory and free_cpu > 0 and free_memory > 0)


def _name_of(document: Document) -> str:
    if "group_id" in document:
        return group_name(document)
    return format_batch_id(document["id"])
