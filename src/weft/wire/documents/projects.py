"""The documents about billing projects."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from weft.wire.description import says
from weft.wire.documents.limits import CostMax, OnLimit
from weft.wire.documents.users import Name


class ProjectDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/billing-projects`: a new billing project."""

    name: Annotated[Name, says("Unique in the tenant without regard to case.", "genomics")]
    cost_max: Annotated[CostMax | None, says("What it may cost; null: no limit.", 500)] = None


class ProjectEdit(Struct, forbid_unknown_fields=True):
    """`PATCH /v1/billing-projects/{p}`: what changes."""

    closed: Annotated[bool | UnsetType, says("Whether it takes no new batches and schedules.")] = (
        UNSET
    )
    cost_max: Annotated[
        CostMax | UnsetType | None, says("What it may cost; null: no limit.", 500)
    ] = UNSET
    cost_soft_max: Annotated[
        CostMax | UnsetType | None,
        says("Beyond this cost, at most `cost_max`, its jobs weigh half; null: never.", 400),
    ] = UNSET
    on_limit: Annotated[
        OnLimit | UnsetType, says("Whether its batches are paused or cancelled at its limit.")
    ] = UNSET
