"""One cause: a sentence, and the command that changes it."""

import shlex
from collections.abc import Callable
from datetime import datetime

import msgspec

from weft.core.billing.spending import amount_text
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.why.facts import EndFacts, GateFacts, JobFacts, JobName, LimitFacts


class Cause(msgspec.Struct, frozen=True):
    """Something that would have to change for a job to run, or what became of it."""

    kind: str
    text: str
    """Words that follow the name of the job: `waits: b1 is held`."""
    command: str | None = None
    """Changes it, or shows more; None: nobody needs to do anything, or nobody can."""
    job_id: int | None = None
    """The job of a group of which this is said; None: what was asked for."""


_REMEDIES = frozenset({"hold", "cordoned", "no_worker"})
GateSentence = Callable[[GateFacts, JobFacts, datetime], Cause]
"""What a kind of gate says of a job that it keeps waiting."""


def name_of(job: JobFacts | JobName | EndFacts) -> str:
    """Return `b12.j7`."""
    return format_job_ref(job.batch_id, job.job_id)


def group_of(batch_id: int, path: str) -> str:
    """Return what commands call a group: `b12/stage1`, or `b12` for the root."""
    name = path.lstrip("/")
    return f"{format_batch_id(batch_id)}/{name}" if name else format_batch_id(batch_id)


def at_limit(limit: LimitFacts, batch_id: int) -> Cause:
    """Say that a limit pauses it or lets in what fits, and how to let it use more."""
    amount = amount_text(limit.amount_max or 0, limit.measure)
    if limit.kind in {"project", "user"}:
        noun = "billing project" if limit.kind == "project" else "user"
        what, of = f"{noun} {limit.name}", (f"--{limit.kind}", limit.name)
    else:
        what = group_of(batch_id, limit.name if limit.kind == "group" else "")
        of = ("--batch", what)
    more = command("limit", "set", *of, "--measure", limit.measure)
    if (limit.kind, limit.measure) == ("project", "cost"):
        more = command("billing", "project", "limit", limit.name)
    text = f"waits: {what} is paused at its limit of {amount}"
    if limit.near:
        text = f"waits for room below the limit of {amount} of {what}"
    return Cause("limit", text, f"{more} AMOUNT")


def waits_on(worker: str) -> Cause:
    """Say that a worker has claimed it, and has no room yet."""
    text = f"waits for room on {worker}, which has claimed it"
    return Cause("starting", text, command("worker", "show", worker))


def in_engine(worker: str, said: str | None) -> Cause:
    """Say that it waits in the engine of a gateway, and why."""
    text = f"waits in the engine of {worker}" + (f": {said}" if said else "")
    return Cause("queued", text, command("worker", "show", worker))


def command(*words: str) -> str:
    """Return a command that can be pasted into a shell, whatever the words hold."""
    return shlex.join(("weft", *words))


def sentence(cause: Cause) -> str:
    """Return a cause on one line, with its command if that alone helps at once."""
    return f"{cause.text}; `{cause.command}`" if cause.kind in _REMEDIES else cause.text
