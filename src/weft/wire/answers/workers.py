"""What the api answers about workers."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct


class WorkerJob(Struct, kw_only=True):
    """A job that a worker runs."""

    batch_id: int
    job_id: int
    name: str | None
    index: Annotated[int | None, Meta(description="in an array")]
    user: str


_UNCOUNTED = "null: its jobs come and go too fast to count them"


class KeptFor(Struct, kw_only=True):
    """A job that waited long, for which a worker is kept."""

    batch_id: Annotated[int | None, Meta(description="null: it belongs to another tenant")]
    job_id: int | None
    since: datetime
    fill_until: Annotated[
        datetime | None,
        Meta(description="jobs that end before this may start there meanwhile; null: none may"),
    ]


class AvoidedNode(Struct, kw_only=True):
    """A node behind a gateway on which it begins nothing for now."""

    node: str
    until: datetime
    reason: str


class LinkState(Struct, kw_only=True):
    """What a worker outside has said last."""

    delay_ms: Annotated[float, Meta(ge=0, description="of its last heartbeat, there and back")]
    unshipped_bytes: Annotated[int, Meta(ge=0, description="of output that the api does not have")]
    input_cache_bytes: Annotated[int, Meta(ge=0, description="of inputs that it keeps for jobs")]


class Worker(Struct, kw_only=True):
    """A worker."""

    worker: str
    pool: str
    host: str
    state: Literal["active", "silent", "cordoned", "draining", "lost", "deleted"]
    cpu: Annotated[float, Meta(description="cores")]
    memory: Annotated[int, Meta(description="bytes")]
    registered_at: datetime
    heartbeat_at: datetime
    ended_at: Annotated[datetime | None, Meta(description="null: it lives")]
    draining: bool
    waiting: bool
    version: Annotated[str, Meta(description="its release")]
    linked: Annotated[
        bool, Meta(description="it reaches the database by the link of the api, with a token")
    ]
    link: Annotated[
        LinkState | None, Meta(description="null: it is not linked, or to another api")
    ]
    offers: Annotated[
        dict[str, int | str | list[str]],
        Meta(description="what jobs may ask of it beside cpu and memory: amounts and labels"),
    ]
    slots: Annotated[
        int | None, Meta(description="jobs at a time, whatever they ask for; null: as many as fit")
    ]
    cordoned_at: datetime | None
    cordoned_by: str | None
    cordon_reason: str | None
    n_running: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description=f"jobs; {_UNCOUNTED}")
    ]
    cpu_used: Annotated[
        float | None, Meta(description=f"cores that its jobs have reserved; {_UNCOUNTED}")
    ]
    memory_used: Annotated[
        int | None, Meta(description=f"bytes that its jobs have reserved; {_UNCOUNTED}")
    ]
    jobs: Annotated[
        list[WorkerJob], Meta(description="at most ten of the caller's jobs, oldest first")
    ]
    kept_for: Annotated[
        KeptFor | None, Meta(description="the large job that is to start there next; null: none")
    ]
    avoids: Annotated[
        list[AvoidedNode],
        Meta(description="nodes behind this gateway on which attempts failed at once"),
    ]


class WorkerChange(Struct, kw_only=True):
    """A state that somebody gave a worker."""

    at: datetime
    state: Literal["active", "cordoned", "draining", "lost", "deleted"]
    actor: str
    reason: str | None


class ShownWorker(Worker, kw_only=True):
    """A worker, with the latest changes of its state."""

    history: Annotated[list[WorkerChange], Meta(description="newest first")]


class ChangedWorker(ShownWorker, kw_only=True):
    """A worker after a request."""

    changed: Annotated[bool, Meta(description="false: it was so before")]
