"""The answers about updates of batches."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.answers.field_types import Count, JobIds


class Update(Struct, kw_only=True):
    """The contiguous numbers that an update has reserved."""

    batch_id: int
    update_id: int
    first_job: int
    first_group: int
    n_jobs: Count
    n_groups: Count
    committed: bool


class UpdateCreated(Update, kw_only=True):
    """An update that a request created; one with jobs or groups is committed."""

    id: Annotated[int | UnsetType, Meta(description="the batch")] = UNSET
    trace_id: str | UnsetType = UNSET
    job_ids: JobIds = UNSET


class JobsAdded(Struct, kw_only=True):
    """The number of jobs in a bunch."""

    n_jobs: Count


class PayloadPart(Struct, kw_only=True):
    """A part of a payload that is stored now."""

    part: Count
    n_parts: Annotated[int, Meta(ge=1, description="parts of the whole payload")]


class GroupsAdded(Struct, kw_only=True):
    """The number of groups in a bunch."""

    n_groups: Count
