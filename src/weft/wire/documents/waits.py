"""Jobs that wait for an answer or a date."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from weft.wire.description import EVALUATED, says

NOTE_MAX: Final = 1000


class WaitDocument(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a job waits for when its parents have ended. No worker gets it."""

    for_: Annotated[
        Literal["approval", "event", "date"],
        says("`approval` and `event`: an answer; `date`: `until`.", "approval"),
    ] = field(name="for")
    until: Annotated[
        Annotated[datetime, Meta(tz=True)] | None,
        says("The date at which it succeeds (RFC 3339).", "2027-01-01T02:00:00Z"),
    ] = None
    form: Annotated[
        Annotated[dict[str, Any], EVALUATED] | None,
        says(
            "JSON Schema that the values of an answer fit.",
            {"properties": {"dose": {"type": "number"}}, "required": ["dose"]},
        ),
    ] = None
    timeout_s: Annotated[
        Annotated[float, Meta(ge=1, le=31_536_000)] | None,
        says("How long it waits for an answer; without it for ever.", 86400, unit="seconds"),
    ] = None
    on_timeout: Annotated[
        Literal["fail", "succeed"], says("What becomes of it then.", "succeed")
    ] = "fail"


JobWait = Annotated[
    WaitDocument | None,
    says(
        "Makes it a job that runs nothing, and waits for an answer (`weft answer`) or a date.",
        {"for": "approval", "timeout_s": 86400},
    ),
]


class AnswerDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/answer`."""

    approve: Annotated[bool, says("False: the job fails.")] = True
    values: Annotated[dict[str, Any] | None, says("What its form asks for.", {"dose": 2.5})] = None
    note: Annotated[
        Annotated[str, Meta(max_length=NOTE_MAX)], says("For its history.", "seen by Ada")
    ] = ""


class JobAnswered(Struct, kw_only=True):
    """The result of an answer."""

    batch_id: int
    job_id: int
    state: Annotated[str, Meta(description="of the job: `success` or `error`")]


class AnswerLinkDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/answer-links`."""

    valid_s: Annotated[
        Annotated[float, Meta(ge=1, le=31_536_000)],
        says("How long the link counts.", 86400, unit="seconds"),
    ] = 86400.0


class AnswerLink(Struct, kw_only=True):
    """A link that answers one job, once."""

    token_id: Annotated[int, Meta(description="revoke it, and the link counts no more")]
    url: Annotated[str, Meta(description="whoever opens it may answer this job, and nothing else")]
    expires_at: datetime
