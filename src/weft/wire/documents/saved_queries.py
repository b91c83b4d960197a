"""The documents about saved queries."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says


class SavedQueryDocument(Struct, forbid_unknown_fields=True):
    """`PUT /v1/saved-queries/{name}`: a query for batches."""

    query: Annotated[
        Annotated[str, Meta(min_length=1, pattern=r"^[^\x00]+$")],
        says("A query for batches.", "state = running and user = ada"),
    ]


class SavedQuery(Struct, kw_only=True):
    """A query of the caller that has a name."""

    name: str
    query: str
    updated_at: datetime


class SavedQueryRemoved(Struct, kw_only=True):
    """A saved query that there is no more."""

    name: str
