"""The answers about costs and prices."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.answers.field_types import Money
from weft.wire.description import END


class ResourceCost(Struct, kw_only=True):
    """The usage of one resource, and its cost."""

    resource: str
    usage: Annotated[int, Meta(ge=0, description="in the unit")]
    unit: str
    cost: Money


class ResourcePrice(Struct, kw_only=True):
    """The price of one resource."""

    resource: str
    unit: Annotated[str, Meta(description="for an hour", examples=["mCPU*h"])]
    price: Annotated[float, Meta(ge=0, description="of one unit")]


class RateValues(Struct, kw_only=True):
    """What a correction changed: prices of a unit for an hour, and the time of their start."""

    cpu: float | UnsetType = UNSET
    memory: float | UnsetType = UNSET
    storage: float | UnsetType = UNSET
    gpu: float | UnsetType = UNSET
    valid_from: datetime | UnsetType = UNSET


class RateCorrection(Struct, kw_only=True):
    """A correction of prices. What was used at these prices costs the corrected ones."""

    at: datetime
    by: str
    reason: str | None
    old: RateValues
    new: RateValues


class RateCard(Struct, kw_only=True):
    """Prices and the time from which they apply."""

    version: int
    valid_from: Annotated[datetime | None, Meta(description="null: from the beginning")]
    rates: list[ResourcePrice]
    corrections: Annotated[list[RateCorrection], Meta(description="newest first")]


ExactMoney = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]+(\.[0-9]+)?" + END,
        description="in the deployment's currency, as a decimal",
        examples=["0.012345"],
    ),
]


class ReportedResource(Struct, kw_only=True):
    """The usage of one resource, and its cost."""

    resource: str
    usage: Annotated[int, Meta(ge=0, description="in the unit")]
    unit: str
    cost: ExactMoney


class ReportRow(Struct, kw_only=True):
    """What one project, user, day, resource or value of the attribute cost."""

    name: Annotated[str | None, Meta(description="null unless `kind` is `value`")]
    kind: Annotated[
        Literal["value", "none", "unknown"],
        Meta(
            description="none: of batches that lack the attribute; unknown: of batches that were "
            "removed, or used before these sums were kept"
        ),
    ]
    cost: ExactMoney
    cost_by_resource: list[ReportedResource]


class BillingReport(Struct, kw_only=True):
    """What billing projects cost in a period, or a page of it. The rows add up to the cost."""

    by: Annotated[str, Meta(examples=["user", "attribute=cohort"])]
    project: Annotated[str | None, Meta(description="null: all that the caller may see")]
    first_day: Annotated[dt.date | None, Meta(description="UTC; null: from the beginning")]
    last_day: Annotated[dt.date | None, Meta(description="UTC; null: until now")]
    cost: ExactMoney
    items: list[ReportRow]
    cursor: Annotated[str | None, Meta(description="null: this is the last page")]
