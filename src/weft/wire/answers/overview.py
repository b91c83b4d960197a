"""The answers about workers and jobs as a whole."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count
from weft.wire.answers.workers import Worker


class Overview(Struct, kw_only=True):
    """The workers, and the numbers of waiting and running jobs."""

    pending: Count
    ready: Count
    queued: Count
    running: Count
    blocked: Count
    conditions: Annotated[Count, Meta(description="what blocked jobs wait for, each once")]
    incidents: Annotated[Count, Meta(description="those, failing sources, sinks and workers")]
    workers: list[Worker]


class Minute(Struct, kw_only=True):
    """What happened in one minute."""

    at: Annotated[datetime, Meta(description="when the minute began")]
    n_waiting: Annotated[int, Meta(description="jobs that had not started at its end")]
    n_running: Annotated[int, Meta(description="jobs that ran at its end")]
    n_succeeded: Count
    n_failed: Annotated[int, Meta(ge=0, description="jobs that failed, or ended by an error")]
    n_cancelled: Count


class Minutes(Struct, kw_only=True):
    """The last 60 minutes, oldest first."""

    items: list[Minute]
