"""What weft and programs that are not weft's tell each other about the jobs of a queue (ADR 116).

Such a program gets a job's command, and answers how it went with the `offer` of its message. Bytes
that come in may be anybody's.
"""

from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Meta

from weft.core.bounded import read_json
from weft.core.ids import format_batch_id
from weft.core.states import Reason
from weft.wire.documents.jobs import JobDocument
from weft.wire.spec import INDEX_VARIABLE, VALUE_VARIABLE, JobSpec

BODY_BYTES_MAX: Final = 65_536
MESSAGE_LENGTH_MAX: Final = 1000
_BEYOND: Final = (
    "script",
    "env",
    "stdin",
    "secrets",
    "function",
    "simulation",
    "container",
    "app",
    "inputs",
    "outputs",
)


CommandWord = Literal["cancel", "signal", "message", "extend"]


class Malformed(Exception):
    """A message that says nothing that weft knows; the text says why."""


class ForeignJob(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A job that a foreign program may run."""

    tenant: str
    batch: str
    job: int
    offer: str
    """What it answers with; nobody else knows it."""
    command: tuple[str, ...]
    until: int
    """Seconds since 1970: who has not begun it by then leaves it."""
    trace: str
    """The trace id of the batch."""
    timeout_s: float | None = None


class Command(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a foreign program is told of a job that it has."""

    command: CommandWord
    batch: str
    job: int
    offer: int
    """The number before the dot of the `offer` that the program got."""
    signal: int | None = None
    message: str | None = None
    extend_s: float | None = None
    """By how much longer than its `timeout_s` the job may run."""


class _Outcome(msgspec.Struct, frozen=True, kw_only=True):
    offer: Annotated[str, Meta(max_length=64)]
    outcome: Literal["started", "ended"]
    exit_code: Annotated[int, Meta(ge=-(2**31), lt=2**31)] | None = None
    reason: str | None = None


class Answer(NamedTuple):
    """What a foreign program tells of an offer."""

    offer_id: int
    fence: UUID
    is_ended: bool
    reason: Reason | None
    """None: it succeeded, or has not ended."""
    exit_code: int | None
    message: str | None


def foreign_job(
    tenant: str,
    batch_id: int,
    job_id: int,
    offer: tuple[int, UUID],
    until: datetime,
    spec: JobSpec,
    trace_id: str = "",
) -> bytes:
    """Return the message of a job of which `beyond_command` says nothing."""
    assert spec.command is not None
    return msgspec.json.encode(
        ForeignJob(
            tenant=tenant,
            batch=format_batch_id(batch_id),
            job=job_id,
            offer=f"{offer[0]}.{offer[1]}",
            command=spec.command,
            until=int(until.timestamp()),
            trace=trace_id,
            timeout_s=spec.timeout_s,
        )
    )


def beyond_command(job: JobDocument | JobSpec) -> str | None:
    """Return the first field of a job for which a command alone will not do; None: it does."""
    if job.command is None:
        return "script" if job.script is not None else "command"
    if job.network is False:
        return "network"
    return next(
        (name for name in _BEYOND if (_env(job) if name == "env" else getattr(job, name))), None
    )


def _env(job: JobDocument | JobSpec) -> set[str]:
    """Return the variables of a job but those of arrays, which its command says."""
    return set(job.env or ()) - {INDEX_VARIABLE, VALUE_VARIABLE}


def read_answer(body: bytes) -> Answer:
    """Read what a foreign program says. Raise `Malformed`."""
    try:
        if len(body) > BODY_BYTES_MAX:
            raise Malformed(f"it has {len(body)} bytes")
        found = read_json(body, _Outcome)
        number, _, fence = found.offer.partition(".")
        if not (number.isascii() and number.isdigit() and 0 < int(number) < 2**63):
            raise Malformed("its `offer` is none of weft's")
        key = int(number), UUID(fence)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Malformed(str(error)[:500]) from error
    if found.outcome == "started":
        return Answer(*key, is_ended=False, reason=None, exit_code=None, message=None)
    message = None if found.reason is None else _plain(found.reason)
    if message is not None:
        return Answer(*key, True, Reason.EXIT, found.exit_code or None, message)  # noqa: FBT003
    if found.exit_code is None:
        raise Malformed("it has neither `exit_code` nor `reason`")
    reason = Reason.EXIT if found.exit_code else None
    return Answer(*key, True, reason, found.exit_code, None)  # noqa: FBT003


def _plain(text: str) -> str:
    """Return a text that the database can store and a terminal show."""
    return "".join(one if one.isprintable() else " " for one in text[:MESSAGE_LENGTH_MAX])
