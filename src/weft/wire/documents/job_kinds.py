"""Services, which are started again whenever they end and asked whether they are healthy; and jobs
that wait for a person, an event or a date, with what they are answered.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from weft.wire.description import EVALUATED, says


class HealthDocument(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How a service is asked whether it is healthy: by `command` or `http`."""

    command: Annotated[
        tuple[str, ...] | None,
        says("A program beside it, which says by exit code 0 that it is.", ["./check"]),
    ] = None
    http: Annotated[
        str | None,
        says("An address that answers with 2xx or 3xx if it is.", "http://127.0.0.1:8080/ready"),
    ] = None
    every_s: Annotated[
        float, says("How often it is asked, from 0.1 to 86400.", 10, unit="seconds")
    ] = 10.0
    timeout_s: Annotated[
        float, says("How long an answer may take, from 0.1 to 86400.", 5, unit="seconds")
    ] = 5.0
    failures: Annotated[
        int, says("After that many bad answers in a row it is started again, 1 to 1000.", 3)
    ] = 3


class ServiceDocument(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What makes a job a service."""

    restart: Annotated[
        Literal["always", "on_failure"], says("`on_failure`: an exit with 0 is its end.", "always")
    ] = "always"
    first_s: Annotated[
        float,
        says(
            "The wait before the first restart, also after a run longer than `longest_s`; each "
            "one doubles it.",
            1,
            unit="seconds",
        ),
    ] = 1.0
    longest_s: Annotated[float, says("No wait is longer.", 60, unit="seconds")] = 60.0
    health: Annotated[HealthDocument | None, says("How it is asked whether it is healthy.")] = None


JobService = Annotated[
    ServiceDocument | None,
    says(
        "Makes it a service: it is started again whenever it ends, until it is cancelled. One of "
        "a name runs at a time.",
        {"restart": "always", "health": {"http": "http://127.0.0.1:8080/ready"}},
    ),
]


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
