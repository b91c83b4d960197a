"""The answers about what attempts used."""

from typing import Annotated

from msgspec import Meta, Struct


class AttemptSample(Struct, kw_only=True):
    """What an attempt had used at some moment."""

    at_ms: Annotated[int, Meta(description="since its start")]
    cpu_ms: Annotated[int, Meta(description="CPU time of all its processes since its start")]
    memory_bytes: Annotated[int, Meta(description="what its processes have in memory then")]


class AttemptUsage(Struct, kw_only=True):
    """What an attempt used while it ran."""

    batch_id: int
    job_id: int
    attempt: int
    samples: Annotated[
        list[AttemptSample],
        Meta(description="oldest first; empty: it was too short, or its runner measures nothing"),
    ]
