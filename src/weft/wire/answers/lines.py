"""The documents about setups, lifecycles and statuses that the API replies with."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.states import JobStateWord
from weft.wire.answers.batches import Count, JobNumber
from weft.wire.answers.sources import Source, SourceItem, SourceTried, UnsentMessages
from weft.wire.answers.why import Sent

Words = list[str]
GIVEN_UP_MAX: Final = 10_000
"""Messages that a call settles."""


class Setup(Struct, kw_only=True):
    """The file of a production line."""

    setup: str
    document: Annotated[str, Meta(description="TOML, as it came")]
    saved_at: datetime
    saved_by: str
    lifecycles: Annotated[Words, Meta(description="the names of those that it has")]


class SetupSaved(Struct, kw_only=True):
    """A setup that was saved."""

    setup: str
    changed: Annotated[
        Words,
        Meta(
            description="its lifecycles that are new or changed, `source NAME`, `sink NAME`, "
            "`parameter NAME`"
        ),
    ]


class SetupChange(Struct, kw_only=True):
    """A part of a setup that would be another one."""

    kind: Literal["create", "change", "delete"]
    part: Annotated[str, Meta(description="such as `source scenes`")]
    fields: Annotated[
        dict[str, list[Any]], Meta(description="before and after; null: it has no such field")
    ]


class TriedMessage(Struct, kw_only=True):
    """What a sink would be told."""

    sink: str
    to: Annotated[dict[str, str], Meta(description="where it would go")]
    message: str | None
    error: Annotated[str | None, Meta(description="why there would be none")]


class LineSourceTried(SourceTried, kw_only=True):
    """What would become of one item of a source."""

    messages: Annotated[list[TriedMessage], Meta(description="if its job ended well")]


class SetupTried(Struct, kw_only=True):
    """What a setup would change and make."""

    setup: str
    changes: list[SetupChange]
    sources: list[LineSourceTried]


class SetupRemoved(Struct, kw_only=True):
    """A setup that is forgotten."""

    setup: str


class LifecycleExit(Struct, kw_only=True):
    """What a range of exit codes means."""

    codes: str
    status: str | UnsetType = UNSET
    subtype: str | UnsetType = UNSET
    tries: Annotated[int, Meta(description="ends of this kind, after which it is not tried again")]
    products: bool


class LifecyclePath(Struct, kw_only=True):
    """What a job goes through when it had a status for too long, or its attempt is lost."""

    path: Words
    subtype: str
    rounds: Annotated[int | UnsetType, Meta(description="after them it is an error")] = UNSET
    after: Annotated[str | UnsetType, Meta(description="how long nobody names it")] = UNSET


class Lifecycle(Struct, kw_only=True):
    """The statuses that jobs have, and which may follow which."""

    lifecycle: str
    setup: str
    statuses: Words
    first: Words
    next: dict[str, Words]
    core: Annotated[dict[str, Words], Meta(description="the states that statuses belong to")]
    phase: Annotated[dict[str, str], Meta(description="the status of a phase")]
    exit: Annotated[list[LifecycleExit], Meta(description="what exit codes mean")] = []
    limits: Annotated[
        dict[str, str] | UnsetType, Meta(description="how long a job may have a status")
    ] = UNSET
    on_limit: LifecyclePath | UnsetType = UNSET
    lost: LifecyclePath | UnsetType = UNSET
    saved_at: datetime
    saved_by: str


class JobStatus(JobNumber, kw_only=True):
    """The status of a job, and its state."""

    status: str
    state: JobStateWord


class Message(Sent, kw_only=True):
    """What a sink is told of a job that ended well."""

    sink: str
    job_id: int
    file: Annotated[str | None, Meta(description="of its job, if each of them is a message")]
    order: Annotated[str | None, Meta(description="those that have the same one are sent in turn")]
    state: Annotated[
        Literal["pending", "delivered", "given_up", "held", "dropped"],
        Meta(description="`held`: a check stops it, until somebody decides"),
    ]


class LineSource(Source, kw_only=True):
    """A source, how far it is, and what it found last."""

    cursor: Annotated[dict[str, Any] | None, Meta(description="where the next reading begins")]
    n_waiting: Annotated[
        int, Meta(ge=0, le=10_000, description="items without a job; 10000: more")
    ]
    last_items: Annotated[list[SourceItem], Meta(description="the newest three")]


class LineSink(UnsentMessages, kw_only=True):
    """A sink, and what of up to 10,000 of its messages has not arrived."""

    setup: Annotated[str, Meta(description="the line that has it")]
    removed: Annotated[bool, Meta(description="no line has it now")]
    oldest_at: Annotated[
        datetime | None, Meta(description="the date of the oldest that is still to be sent")
    ]


class GivenUpSettled(Struct, kw_only=True):
    """Messages of a sink that were given up."""

    sink: str
    n_messages: Annotated[
        int, Meta(ge=0, le=GIVEN_UP_MAX, description="10000: a repeat settles further ones")
    ]


class StatusCount(Struct, kw_only=True):
    """How many jobs have a status."""

    lifecycle: str
    status: str
    n_jobs: Count


class Lines(Struct, kw_only=True):
    """How production lines are."""

    sources: Annotated[list[LineSource], Meta(description="at most 1000, by name")]
    sinks: Annotated[
        list[LineSink],
        Meta(description="the same; those of others only for who sees the whole tenant"),
    ]
    statuses: Annotated[
        list[StatusCount],
        Meta(description="of up to 50,000 jobs of the newest 1,000 batches with a lifecycle"),
    ]
