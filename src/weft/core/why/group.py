"""Why jobs of a batch or a group wait: by its counters, and by a few of its jobs."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from weft.core.deliveries.sinks import unsent_why
from weft.core.ends.end_words import explain_end
from weft.core.text.amounts import counted
from weft.core.why.facts import GroupFacts
from weft.core.why.sentences import (
    Cause,
    GateSentence,
    at_limit,
    command,
    group_of,
    in_engine,
    name_of,
    waits_on,
)
from weft.core.why.waiting import causes_of_wait


def causes_of_group(
    group: GroupFacts, sentences: Mapping[str, GateSentence], now: datetime
) -> list[Cause]:
    """Return why jobs wait, what is first to change first; then what runs and what failed."""
    found = [] if group.complete else [*_waiting(group, sentences, now)]
    waiting = group.claimed
    if waiting is not None:
        cause = waits_on(waiting.worker)
        if waiting.elsewhere:
            cause = in_engine(waiting.worker, waiting.message)
        found.append(msgspec.structs.replace(cause, job_id=waiting.job_id))
    n_running = group.n_running - (0 if waiting is None else waiting.n)
    if n_running > 0:
        text = f"runs {n_running:,} of {counted(group.n_jobs, 'job')}"
        found.append(Cause("running", text, _list(group, "running")))
    if group.n_failed:
        found.append(_failed(group))
    if group.complete and not group.n_failed:
        text = f"has ended: {group.state}" if group.n_jobs else "has no jobs"
        found.append(Cause("ended", text, command("status", group.name) if group.n_jobs else None))
    return [*found, *map(_of_messages, group.messages)]


def _of_messages(counts: Mapping[str, Any]) -> Cause:
    text = f"has messages for sink {counts['sink']} that have not arrived, {unsent_why(counts)}"
    if counts["n_given_up"]:
        return Cause("message", text, command("line", "redeliver", counts["sink"], "--given-up"))
    return Cause("message", text, command("line", "deliveries", counts["sink"]))


def _waiting(
    group: GroupFacts, sentences: Mapping[str, GateSentence], now: datetime
) -> Iterator[Cause]:
    said: set[str] = set()
    for path in group.held:
        held = group_of(group.batch_id, path)
        cause = Cause("hold", f"waits: {held} is held", command("release", held))
        said.add(cause.text)
        yield cause
    if group.limit is not None:
        cause = at_limit(group.limit, group.batch_id)
        said.add(cause.text)
        yield cause
    for job in group.ready:
        for cause in causes_of_wait(job, sentences, now):
            if cause.text not in said:
                said.add(cause.text)
                yield msgspec.structs.replace(cause, job_id=job.job_id)
    has_ready = any(facts.state != "blocked" for facts in group.ready)
    if group.n_ready and not has_ready:
        yield Cause(
            "ready", f"has {counted(group.n_ready, 'job')} that are ready", _list(group, "ready")
        )
    elif group.n_ready and not said:
        yield Cause("ready", f"has {counted(group.n_ready, 'job')} that will start in a moment")
    if group.n_pending:
        whose = "its" if group.n_pending == 1 else "their"
        text = f"has {counted(group.n_pending, 'job')} waiting for {whose} parents"
        yield Cause("parent", text, _list(group, "pending"))
    if group.n_blocked:
        text = f"has {counted(group.n_blocked, 'job')} waiting to be tried again"
        yield Cause("retry", text, _list(group, "blocked"))


def _failed(group: GroupFacts) -> Cause:
    text = f"has {counted(group.n_failed, 'job')} that failed"
    if group.failed is None:
        return Cause("failed", text, _list(group, "failed"))
    name = name_of(group.failed)
    how = explain_end(msgspec.to_builtins(group.failed))
    return Cause("failed", f"{text}, as {name}: {how}", command("why", name))


def _list(group: GroupFacts, state: str) -> str:
    return command("jobs", group.name, "--state", state)
