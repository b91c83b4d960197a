"""The answers about files and products of jobs, and what they used."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.notes import NoteKind


class JobFile(Struct, kw_only=True):
    """A file that a job has left, or has at the moment."""

    path: str
    attempt: int
    bytes: Annotated[int, Meta(ge=0)]
    sha256: Annotated[str | None, Meta(description="null: the job runs and may change it")]
    address: Annotated[str | None, Meta(description="where it is kept; null: weft keeps it")]
    kept_at: Annotated[datetime | None, Meta(description="null: the job runs")]
    changed_at: datetime | UnsetType = UNSET
    """Of a file of a job that runs."""


class FoundLine(Struct, kw_only=True):
    """A line of output that has a text, or why the output of a job could not be searched."""

    job_id: int
    attempt: int
    stream: Literal["stdout", "stderr"] | None
    number: Annotated[int | None, Meta(description="of the line, from 1")]
    line: Annotated[str | None, Meta(description="its first 4,096 bytes")]
    problem: Annotated[str | None, Meta(description="why the output cannot be read")]


class ProductCheck(Struct, kw_only=True):
    """A check that has stopped the delivery of a product."""

    state: Annotated[
        Literal["held", "passed", "dropped"],
        Meta(description="`held`: it waits for a person, who lets it pass or drops it"),
    ]
    sink: str
    delivery_id: int
    error: str | None


class Product(Struct, kw_only=True):
    """What a job that ended well says that it has made."""

    id: Annotated[int, Meta(ge=1)]
    batch_id: Annotated[int, Meta(ge=1, description="of its job, which may be deleted")]
    job_id: Annotated[int, Meta(ge=1)]
    attempt: Annotated[int, Meta(ge=1)]
    line: Annotated[int, Meta(ge=1, description="among the products of its job")]
    product: Annotated[dict[str, Any], Meta(description="what the job has written")]
    inputs: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="the files that its job got, as its document names them; null: none"),
    ]
    name: Annotated[str | None, Meta(description="of its job, as `attributes`, at its end")]
    attributes: dict[str, str]
    user: str
    billing_project: str
    kept_at: Annotated[datetime, Meta(description="when its job ended")]
    check: Annotated[
        ProductCheck | None, Meta(description="what stopped its delivery; null: nothing did")
    ]


class ProductRemoved(Struct, kw_only=True):
    """A product that was forgotten."""

    id: Annotated[int, Meta(ge=1)]


class Progress(Struct, kw_only=True):
    """How far an attempt says that it is."""

    percent: Annotated[float, Meta(ge=0, le=100)]
    text: str
    at: Annotated[datetime, Meta(description="since when it says this")]
    attempt: Annotated[int, Meta(ge=1, description="the one that said it")]


class JobProgress(Progress, kw_only=True):
    """How far a running job says that it is."""

    job_id: Annotated[int, Meta(ge=1)]


ProgressOfJob = Annotated[
    Progress | UnsetType, Meta(description="as it says itself; missing if it says nothing")
]
ProgressOfJobs = Annotated[
    list[JobProgress] | UnsetType,
    Meta(description="what running jobs say, the newest 10; missing in lists, and if none"),
]


NoteTitles = Annotated[
    list[str] | UnsetType, Meta(description="of its notes, the newest first; missing: none")
]


class JobNote(Struct, kw_only=True):
    """What a job says about itself."""

    title: str
    kind: NoteKind
    attempt: Annotated[int, Meta(ge=1, description="which said it last")]
    told_at: datetime
    n_bytes: Annotated[int, Meta(ge=0)]
    body: Annotated[str | None, Meta(description="null: it is a picture")]


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
