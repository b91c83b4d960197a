"""What a job does, or what became of it, in two lines."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from weft.core.ends.end_words import explain_end, over_memory
from weft.core.states import Phase
from weft.core.text.amounts import counted, duration
from weft.core.why.facts import EndFacts, OpenMessage
from weft.core.why.sentences import Cause, command, in_engine, name_of, waits_on

_PARENT = "parent j"
_STARTS_WITHIN = timedelta(seconds=2)
"""If there is room."""
_ELSEWHERE = {Phase.SUBMITTING.word, Phase.QUEUED_REMOTE.word}


def causes_of_end(job: EndFacts, now: datetime) -> list[Cause]:
    """Return what a job does that runs, or how it ended."""
    return list(_running(job, now) if job.state == "running" else _ended(job))


def _running(job: EndFacts, now: datetime) -> Iterator[Cause]:
    on = f" on {job.worker}" if job.worker else ""
    if job.silent_since and job.worker:
        yield Cause(
            "silent",
            f"may run on: {job.worker}, which has it in an engine, was last heard of "
            f"{_between(job.silent_since, now)} ago",
            command("worker", "lose", job.worker),
        )
        return
    if job.reconnects_since and job.worker:
        yield Cause(
            "silent",
            f"may run on: its worker {job.worker} reconnects since "
            f"{_between(job.reconnects_since, now)}",
            command("worker", "show", job.worker),
        )
    if job.started_at is None and job.kept:
        show = command("worker", "show", job.kept)
        yield Cause("kept", f"starts on {job.kept}, which is kept for it, when it has room", show)
        return
    is_late = job.claimed_at is not None and now - job.claimed_at > _STARTS_WITHIN
    if job.started_at is None and job.worker and job.phase in _ELSEWHERE:
        yield in_engine(job.worker, job.message)
        return
    if job.started_at is None and job.worker and job.phase == Phase.STAGING_INPUTS.word:
        said = f": it {job.message}" if job.message else ""
        yield Cause(
            "files",
            f"gets what it needs on {job.worker}{said}",
            command("worker", "show", job.worker),
        )
        return
    if job.started_at is None and job.worker and is_late:
        yield waits_on(job.worker)
        return
    if job.started_at is None:
        yield Cause("starting", f"is being started{on}")
        return
    since = f"{job.started_at:%Y-%m-%d %H:%M:%S} UTC, for {_between(job.started_at, now)}"
    where = f": {job.message}" if job.message else ""
    yield Cause("running", f"runs{on} since {since}{where}", command("logs", "-f", name_of(job)))
    if job.service is not None:
        yield Cause("service", f"is a service, {_started(job)}", command("status", name_of(job)))
    elif job.timeout_s is None:
        yield Cause("time_limit", "has no time limit", command("cancel", name_of(job)))
    if job.timeout_s is None:
        return
    limit, end = duration(job.timeout_s * 1000), job.started_at + timedelta(seconds=job.timeout_s)
    left = f"{_between(now, end)} are left" if end > now else "it is being stopped"
    yield Cause(
        "time_limit", f"has a time limit of {limit}: {left}", command("cancel", name_of(job))
    )


def _ended(job: EndFacts) -> Iterator[Cause]:
    yield from _end(job)
    yield from map(_of_message, job.messages)
    if over := over_memory(job.memory_peak, job.memory):
        yield Cause("memory", over, command("usage", name_of(job)))


def _end(job: EndFacts) -> Iterator[Cause]:
    if job.state == "cancelled" and job.started_at is None:
        yield _cancelled(job)
        return
    where = f" on {job.worker}" if job.worker else ""
    took = (
        f" after {_between(job.started_at, job.ended_at)}"
        if job.started_at and job.ended_at
        else ""
    )
    tries = f" (attempt {job.attempt} of {job.max_attempts})" if job.max_attempts > 1 else ""
    if job.service is not None:
        tries = f" (a service, {_started(job)})"
    if job.state == "success":
        how, other = explain_end(msgspec.to_builtins(job)), job.outputs_of or name_of(job)
        yield Cause("success", f"{how}{where}{took}{tries}", command("logs", other))
        return
    how = explain_end(msgspec.to_builtins(job))
    by = f" by {job.actor}" if job.actor and job.state == "cancelled" else ""
    word = {"error": "ended in an error", "cancelled": "was cancelled"}.get(job.state, job.state)
    text = f"{word}{by}{where}{took}{tries}" + (f": {how}" if how != job.state else "")
    yield Cause(job.state, text, command("status", name_of(job)))
    if job.stderr:
        yield Cause("stderr", f"wrote last to stderr: {job.stderr}", command("logs", name_of(job)))
    elif job.stderr is not None:
        yield Cause("stderr", "wrote nothing to stderr", command("logs", name_of(job)))


def _of_message(message: OpenMessage) -> Cause:
    has, number = f"has a message for sink {message.sink} that", str(message.delivery_id)
    why = message.last_error or f"it answered {message.last_status}"
    if message.state == "held":
        act = command("line", "decide", message.sink, number, "pass")
        return Cause("check", f"{has} waits for a person: {why}", act)
    if message.state == "pending":
        told = "is to be sent"
        if message.n_attempts and message.next_at:
            told = f"is tried again at {message.next_at:%Y-%m-%d %H:%M:%S} UTC: {why}"
        return Cause("message", f"{has} {told}", command("line", "deliveries", message.sink))
    tries = counted(message.n_attempts, "try")
    again = command("line", "redeliver", message.sink, number)
    return Cause("message", f"{has} was given up after {tries}: {why}", again)


def _started(job: EndFacts) -> str:
    """Say how often a service was started again, and why it was last."""
    n = job.attempt - 1
    if n < 1:
        return "not started again yet"
    why = f", last because {job.again}" if job.again else ""
    return f"started again {'once' if n == 1 else f'{n:,} times'}{why}"


def _cancelled(job: EndFacts) -> Cause:
    """Say why a job was cancelled that never ran."""
    message = job.message or ""
    if message.startswith(_PARENT):
        parent = f"b{job.batch_id}.{message.removeprefix('parent ').partition(':')[0]}"
        state = message.partition(": ")[2]
        text = f"was cancelled, because its parent {parent} did not succeed: {state}"
        return Cause("cancelled", text, command("why", parent))
    by = f" by {job.actor}" if job.actor else ""
    return Cause(
        "cancelled", f"was cancelled{by} before it started", command("status", name_of(job))
    )


def _between(start: datetime, end: datetime) -> str:
    return duration(max((end - start).total_seconds(), 0) * 1000)
