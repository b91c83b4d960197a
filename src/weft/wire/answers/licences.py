"""The answers about licences."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count


class LicenceRemoved(Struct, kw_only=True):
    """A licence that is forgotten."""

    licence: str


class Licence(Struct, kw_only=True):
    """Something that all pools share, such as a floating licence of a program."""

    licence: str
    n: Count
    n_used: Annotated[int, Meta(ge=0, description="by jobs that run or start next")]
    set_at: datetime
    set_by: str
