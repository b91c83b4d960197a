"""Batches, in the api's store."""

from collections.abc import Mapping, Sequence

from weft.ports.store import Caller, Origin, Row
from weft.store.database import StorePart
from weft.store.declared import (
    TRACED,
    actor,
    calls,
    number,
    truth,
    user_id,
    value,
)
from weft.store.documents import batch_document


class Batches(StorePart):
    """The api's calls about whole batches."""

    @calls(lambda rows: batch_document(value(rows)))
    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        """Return the batch document. Raise `BatchNotFound`."""

    @calls(
        lambda rows: [batch_document(row[0]) for row in rows],
        limit="limit_rows",
        name="of_name",
        hidden="with_hidden",
    )
    async def list_batches(
        self,
        caller: Caller,
        *,
        before: int | None,
        limit: int,
        name: str | None,
        hidden: bool = False,
    ) -> Sequence[Row]:
        """Return batch documents, newest first, numbers below `before`.

        `name`: only those of exactly this name. `hidden`: also those that are hidden.
        """

    @calls(lambda rows: {row["batch_id"]: row["idempotency_key"] for row in rows})
    async def list_batch_keys(self, caller: Caller, batch_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the idempotency keys of these batches. One that has none, or that the caller
        does not see, is left out.
        """

    @calls(truth, actor=actor)
    async def hide_batch(self, caller: Caller, batch_id: int, *, hidden: bool) -> bool:
        """Hide a batch from lists, or show it again; return whether anything changed."""

    @calls(number, user_id=user_id, actor=actor, **TRACED)
    async def delete_batch(self, caller: Caller, batch_id: int, origin: Origin) -> int:
        """Begin to remove a batch, and return the operation. From now on there is no such batch;
        its running jobs are stopped.

        A repeat with the same key returns the same operation; another one raises
        `BatchNotFound`.
        """
