"""The documents about batches."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.deliveries.sinks import SINKS_MAX
from weft.wire.description import says
from weft.wire.documents.field_types import (
    ATTRIBUTES,
    CALLBACK,
    CANCEL_AFTER,
    PositiveInt,
    Priority,
)
from weft.wire.documents.groups import GROUPS, GroupDocument
from weft.wire.documents.jobs import INHERIT_ENV, JobDocument
from weft.wire.keys import Rate, Unique


class BatchDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/batches`: a batch, optionally with its first groups and jobs, committed."""

    name: Annotated[str | None, says("For people and for queries.", "nightly")] = None
    billing_project: Annotated[str, says("Project that pays.", "genomics")] = "default"
    attributes: Annotated[dict[str, str], ATTRIBUTES] = {}
    callback: Annotated[str | None, CALLBACK] = None
    cancel_after_n_failures: Annotated[PositiveInt | None, CANCEL_AFTER] = None
    max_running: Annotated[
        PositiveInt | None, says("At most this number of its jobs run at the same time.", 50)
    ] = None
    rate: Annotated[
        Rate | None,
        says("How often its jobs start that use the same thing, such as a web API that counts."),
    ] = None
    unique: Annotated[
        Unique | None, says("Nothing is made while another batch has the key; or that one ends.")
    ] = None
    lifecycle: Annotated[
        str | None,
        says("Its jobs have the statuses of this lifecycle, beside their states.", "hrsi"),
    ] = None
    sink: Annotated[
        str | Annotated[list[str], Meta(min_length=1, max_length=SINKS_MAX)] | None,
        says("This sink, or each of these, is told of each of its jobs that ends well.", "wekeo"),
    ] = None
    groups: Annotated[list[GroupDocument], GROUPS] = []
    jobs: Annotated[list[JobDocument], says("The jobs, in any order if parents are named.")] = []
    inherit_env: Annotated[dict[str, str] | None, INHERIT_ENV] = None


class CancelDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/cancel`."""

    force: Annotated[bool, says("Cancel jobs with `always_run`, too.")] = False


class EditDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PATCH` of a batch, a group or a job: a JSON merge patch (RFC 7396). A missing field stays
    unchanged, null removes.
    """

    name: Annotated[str | UnsetType | None, says("The new name.", "nightly")] = UNSET
    attributes: Annotated[
        dict[str, str | None] | UnsetType | None,
        says("Attributes to set; null removes one.", {"cohort": "scz1", "draft": None}),
    ] = UNSET
    priority: Annotated[
        Priority | UnsetType,
        says(
            "Of a job that has not ended, or of all such jobs that a batch or group has now. Jobs "
            "that are added later have their own.",
            5,
        ),
    ] = UNSET


class Empty(Struct, forbid_unknown_fields=True):
    """A request that needs only its path."""
