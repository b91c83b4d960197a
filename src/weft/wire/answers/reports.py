"""The documents about reports that the API replies with (see `answers.py`)."""

import datetime as dt
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.patterns import END

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
    """What billing projects cost in a period, or a page of it. The costs of the rows add up to the
    cost.
    """

    by: Annotated[str, Meta(examples=["user", "attribute=cohort"])]
    project: Annotated[str | None, Meta(description="null: all that the caller may see")]
    first_day: Annotated[dt.date | None, Meta(description="UTC; null: from the beginning")]
    last_day: Annotated[dt.date | None, Meta(description="UTC; null: until now")]
    cost: ExactMoney
    items: list[ReportRow]
    cursor: Annotated[str | None, Meta(description="null: this is the last page")]
