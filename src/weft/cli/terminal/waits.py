"""Say what a job, a batch or a group waits for if it does not start."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from weft.cli.terminal.names import group_name
from weft.cli.terminal.report import note
from weft.client.api import Api
from weft.client.http.blocking import asyncio, need_loop
from weft.core.errors import WeftError
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.states import ENDED_WORDS

Document = Mapping[str, Any]
FIRST_LOOK_S = 1.0
LOOKS_S_MAX = 30.0
_NOT_WAITING = frozenset({*ENDED_WORDS, "running"})
_WORKER = "waits for a worker"
_SPAN = re.compile(r"\b\d+(\.\d)? (ms|s|min|h|d)\b|\b\d+(:\d\d)+\b")


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
    await need_loop()
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
    reason = await reason_of(client, document)
    return reason and f"{_name_of(document)} {reason}"


async def reason_of(client: Api, document: Document) -> str | None:
    """Return words that follow its name; None: it runs or has ended, or soon will run."""
    with suppress(WeftError):  # it only explains
        if "job_id" in document:
            return await _of_job(client, document)
        return await _of_group(client, document)
    return None


async def messages_of(client: Api, job: Document) -> str | None:
    """Return which messages of an ended job for sinks have not arrived; None: all have."""
    if not job.get("status") or job["state"] not in ENDED_WORDS:
        return None
    with suppress(WeftError):  # it only explains
        causes = (await client.why_job(job["batch_id"], job["job_id"]))["causes"]
        texts = (one["text"] for one in causes if one["kind"] in {"message", "check"})
        return "; ".join(text.removeprefix("has ") for text in texts) or None
    return None


async def _of_job(client: Api, job: Document) -> str | None:
    if job["state"] in _NOT_WAITING:
        return None
    answer = await client.why_job(job["batch_id"], job["job_id"])
    if answer["state"] in _NOT_WAITING or not answer["causes"]:
        return None
    from weft.core.why import Cause, sentence  # noqa: PLC0415 (few wait so long)

    return sentence(msgspec.convert(answer["causes"][0], Cause))


async def _of_group(client: Api, group: Document) -> str | None:
    """Return the first cause that keeps all its jobs waiting, as far as one of them tells."""
    if group["n_running"] or group["complete"]:
        return None
    from weft.core.why import Cause, sentence  # noqa: PLC0415 (as above)

    of = (group["batch_id"], group["group_id"]) if "group_id" in group else (group["id"], None)
    for each in (await client.why_group(*of))["causes"]:
        cause = msgspec.convert(each, Cause)
        if cause.kind == "hold" and cause.job_id is None:
            return sentence(cause)
        if cause.job_id is not None:
            is_of_all = cause.text.startswith(_WORKER)
            job = "" if is_of_all else f"waits: {format_job_ref(of[0], cause.job_id)} "
            return job + sentence(cause)
    return None


def _without_time_left(reason: str) -> str:
    """Return what stays the same while time passes."""
    return _SPAN.sub("", re.split(r" \(in | in about ", reason)[0])


def _name_of(document: Document) -> str:
    if "job_id" in document:
        return format_job_ref(document["batch_id"], document["job_id"])
    if "group_id" in document:
        return group_name(document)
    return format_batch_id(document["id"])
