"""The answers about when jobs end."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count, Money
from weft.wire.answers.why import WaitCause


class Forecast(Struct, kw_only=True):
    """When a job or a batch starts and ends, and what it costs: from and to, about nine times in
    ten if jobs go on as like ones did; each null if that is not known.
    """

    batch_id: int
    job_id: Annotated[int | None, Meta(description="null: the batch")]
    unknown: Annotated[str | None, Meta(description="why nothing is known; null: something is")]
    starts: Annotated[list[datetime] | None, Meta(description="null, too, if it has started")]
    ends: list[datetime] | None
    costs: Annotated[list[Money] | None, Meta(description="with what has run already")]
    n_like: Annotated[Count, Meta(description="of how many jobs that ended it is known")]
    causes: Annotated[list[WaitCause], Meta(description="as of why: what would change it")]
