"""The document about the trail that the API replies with, for its description."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct


class TrailEntry(Struct, kw_only=True):
    """A request that changed something, or was refused."""

    number: int
    at: datetime
    tenant: str | None
    user: str
    token_id: Annotated[int | None, Meta(description="null: of another issuer, or a schedule")]
    address: Annotated[str | None, Meta(description="null: from no network, or a schedule")]
    trace_id: str
    action: Annotated[str, Meta(description="an `operationId`, or `run_schedule`")]
    path: str
    batch_id: int | None
    refused: Annotated[str | None, Meta(description="the code of the error; null: it was done")]
    sealed_at: datetime
    digest: Annotated[str, Meta(description="of this entry and all before it, in hex")]
