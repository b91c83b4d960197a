"""Batches, groups and jobs that the api submits, and the numbers reserved for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.wire.keys import Unique


class Gate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What jobs must pass before they are offered: places, a date, or both.

    What a kind is, such as who shares its gates, says the function `_gate_kinds` of the database.
    """

    kind: str
    key: str | None = None
    """Tells apart gates of one kind. None: the one of the batch, shown in its document."""
    max_places: int | None = None
    opens_at: datetime | None = None
    cost: int = 1
    """How many places a job takes."""


@dataclass(frozen=True, kw_only=True)
class OfDoor:
    """What a door says of a batch that comes through it. Of one job, most of it."""

    door: str | None = None
    """Through which it came; None: none."""
    foreign_trace: str | None = None
    """The trace id of the door's client; None: it has none, or the door keeps none."""
    foreign_id: str | None = None
    """The id that the door's clients know; None: the batch's number."""
    foreign_document: Mapping[str, Any] | None = None
    """Its first job in the words of the door; None: the door keeps nothing."""
    foreign_kind: str | None = None
    """What the door's clients search for beside names, exactly; None: nothing."""
    subscriptions: Sequence[Mapping[str, Any]] = ()
    """Who is told of what happens to its first job: `name`, `url`, `event`, `persistent` and
    `policy`, as its door fills and reads them.
    """
    output_keep_s: int | None = None
    """For how long its output and files are kept after its end; None: as its tenant says."""
    created_at: datetime | None = None
    """When it was made in another system, of which it is a record without jobs; None: now."""
    ended_at: datetime | None = None
    """When that ended; None: it is no record."""


@dataclass(frozen=True, kw_only=True)
class NewBatch(OfDoor):
    """A batch to create. All limits were already checked."""

    name: str | None = None
    billing_project: str = "default"
    attributes: Mapping[str, str] = field(default_factory=dict)
    callback: str | None = None
    cancel_after_n_failures: int | None = None
    gates: Sequence[Gate] = ()
    lifecycle: str | None = None
    """The name of the lifecycle of its jobs; None: they have no statuses."""
    sink: str | Sequence[str] | None = None
    """The name of the sink, or of each, that is told of jobs that end well; None: nobody is."""
    unique: Unique | None = None
    """Whose key it has; None: it has none."""


@dataclass(frozen=True, kw_only=True)
class Origin(OfDoor):
    """What identifies a request: a repeat has the same key and digest. With a door, what that says
    of the batch; the keys of a door are `stored_key`s.
    """

    digest: bytes = b""
    """Of everything that was asked, in the format of the door; empty: it has no key."""
    trace_id: str
    key: str | None = None
    """The idempotency key; None: no repeat is recognised."""


UNKEYED: Final = Origin(trace_id="")
"""That of requests of this program, which are not repeated."""


@dataclass(frozen=True)
class GroupLimits:
    """Limits on groups. Settings of the same names, apart from the prefix."""

    depth_max: int = 16
    """Levels of the tree."""
    batch_groups_max: int = 1_000_000
    job_sets_max: int = 64


class NewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group to create in an update: in the tree, with its parent's number, or a set."""

    group_id: int
    parent_id: int = 0
    """Ignored for a set."""
    name: str
    is_set: bool = False
    attributes: Mapping[str, str] = {}
    cancel_after_n_failures: int | None = None
    callback: str | None = None


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A distinct request for resources.

    Jobs refer to shapes because many jobs request the same resources.
    """

    cpu_m: int = 1000
    memory_mib: int = 512
    storage_mib: int = 0
    gpu: int = 0
    countables: tuple[tuple[str, int], ...] = ()
    """Amounts of other resources, such as licences; sorted by name, none is 0."""
    words: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    """Words that a worker must offer, such as its executor unless that is `process`; of several
    words one.
    """


class ArrayRow(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that the jobs of an array share, besides their spec."""

    first_job: int
    n_jobs: int
    first_index: int
    name: str | None = None
    attributes: dict[str, str] | None = None


@dataclass(kw_only=True)
class JobRows:
    """The jobs of one bunch in columns, in order of their numbers.

    The first is `first_job`. Positive numbers here are positions in the update.

    Lists of one element stand for "the same in all jobs". Parents are below their children;
    -7 is job 7 of the batch.
    """

    first_job: int
    n_jobs: int
    shapes: list[Shape]
    shape_index: list[int]
    group_id: list[int]
    priority: list[int]
    always_run: list[bool]
    max_attempts: list[int]
    retry_on: list[int]
    """Bit mask over `Reason` (1 << reason)."""
    combo_index: list[int] = field(default_factory=list)
    """Combination of sets that each job is in; 0: in none. Empty: no job is in a set."""
    combo_number: list[int] = field(default_factory=list)
    """With `combo_set` pairs: a combination, from 1 on, and one of its sets."""
    combo_set: list[int] = field(default_factory=list)
    edge_child: list[int] = field(default_factory=list)
    edge_parent: list[int] = field(default_factory=list)
    label_job: list[int] = field(default_factory=list)
    label_name: list[str | None] = field(default_factory=list)
    label_attributes: list[dict[str, str] | None] = field(default_factory=list)
    rare_job: list[int] = field(default_factory=list)
    """With `rare_fields` pairs: a job, of an array the first one, and its fields that few jobs
    have; its document shows them. `gates`: the job's own gates, which it does not show.
    """
    rare_fields: list[dict[str, Any]] = field(default_factory=list)
    chunk_first: list[int] = field(default_factory=list)
    chunk_n: list[int] = field(default_factory=list)
    chunk_body: list[bytes] = field(default_factory=list)
    entry_n: list[int] = field(default_factory=list)
    """Only if there are arrays: the number of jobs of each entry. Then the columns above have
    one element for each entry, and `edge_child` is the first job of one.
    """
    edge_parent_n: list[int] = field(default_factory=list)
    """Only if there are arrays: how many jobs from `edge_parent` on are parents. Also
    without arrays: -count, if their end is enough, 0 for one whose start is enough, and
    one of `SHARE_NEED` for one of those of which a share must succeed.
    """
    arrays: list[ArrayRow] = field(default_factory=list)
    output_keep_s: int | None = None
    """How long after the end of the batch output is kept, the longest of these jobs; None: not
    all say it.
    """


class NewSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set group to create outside an update."""

    name: str | None = None
    """None: the database chooses a name."""
    attributes: Mapping[str, str] = {}
    cancel_after_n_failures: int | None = None
    callback: str | None = None


@dataclass(frozen=True)
class Reserved:
    """The contiguous numbers that an update reserved, starting at `first_*`."""

    update_id: int
    first_job: int
    first_group: int
    n_jobs: int
    n_groups: int
    committed: bool


Patch = Mapping[str, Any]
"""A JSON merge patch (RFC 7396) with some of `name`, `attributes` and
`priority`; null removes."""


@dataclass(frozen=True)
class EditLimits:
    """Settings of the same names."""

    attributes_max: int
    rename_groups_max: int


class JobEntry(Struct, frozen=True, gc=False):
    """Some fields of a job's document, in the same form but for times. The first ones are those of
    a row of `list_job_entries`, in their order.
    """

    job_id: int
    group_id: int
    name: str | None
    """The attribute `name` if there is one, which may be any text."""
    state: str
    reason: str | None
    """Of the attempt that ended the job."""
    exit_code: int | None
    signal: int | None
    always_run: bool
    ended_ms: int | None
    """Milliseconds since 1970."""
    duration_ms: int | None
    """None: its last attempt has not started, or it has none."""
    cost: float | None = None
    """None: no attempt has started."""
    cpu_usage: int | None = None
    """In mCPU * ms."""
    cpu_cost: float | None = None
    """None: it asks for none, as for the others."""
    memory_cost: float | None = None
    storage_cost: float | None = None
    gpu_cost: float | None = None

    @property
    def costs(self) -> tuple[float | None, ...]:
        """Those of cpu, memory, storage and gpu, in this order."""
        return self.cpu_cost, self.memory_cost, self.storage_cost, self.gpu_cost


@dataclass(frozen=True, kw_only=True)
class NewApp:
    """An application whose parts are there."""

    name: str
    for_user: str | None
    """The user who may run it; None: everybody in the tenant."""
    digest: bytes
    n_bytes: int
    description: dict[str, Any]
