"""The answers about products of jobs."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct


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
