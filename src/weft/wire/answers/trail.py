"""The answers about the trail."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct


class TrailEntry(Struct, kw_only=True):
    """A request that changed something or was refused, or logins that failed."""

    number: int
    at: datetime
    tenant: str | None
    user: Annotated[str | None, Meta(description="null: a login of nobody knows whom")]
    token_id: Annotated[int | None, Meta(description="null: of another issuer, or a schedule")]
    address: Annotated[
        str | None, Meta(description="null: from no network, a schedule, or several")
    ]
    trace_id: str
    action: Annotated[
        str,
        Meta(
            description="an `operationId`, `run_schedule`, or `authenticate`: a wrong token; of "
            "the owner of the database such as `set_rates` or `audit`"
        ),
    ]
    path: str
    batch_id: int | None
    refused: Annotated[str | None, Meta(description="the code of the error; null: it was done")]
    times: Annotated[int, Meta(description="how many logins that failed it stands for; else 1")]
    sealed_at: datetime
    digest: Annotated[str, Meta(description="of this entry and all before it, in hex")]
