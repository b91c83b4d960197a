"""Actions on all batches that a query finds."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.core.batch_actions import BatchAction
from weft.wire.description import says
from weft.wire.documents.field_types import PositiveInt


class BatchActionDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/batch-actions`: what to do to which batches, by a query or by their numbers."""

    action: Annotated[BatchAction, says("What is done to each of them.", "cancel")]
    query: Annotated[
        Annotated[str, Meta(pattern=r"^[^\x00]*$")] | None,
        says("A query for batches; an empty one: all.", "state = running and user = ada"),
    ] = None
    batches: Annotated[
        Annotated[list[PositiveInt], Meta(min_length=1)] | None,
        says("Their numbers, instead of a query.", [12, 13]),
    ] = None


class BatchActionCount(Struct, kw_only=True):
    """What an action would do to the batches that a query finds."""

    action: BatchAction
    n_batches: Annotated[int, Meta(description="that it would change")]
    n_jobs: Annotated[int, Meta(description="of these batches, those that it concerns")]
    n_idle: Annotated[int, Meta(description="batches in which there is nothing to do")]
    has_more: Annotated[
        bool, Meta(description="the query finds more, which are not counted (`bulk_batches_max`)")
    ]
