"""The overview of workers and jobs, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import (
    calls,
    documents,
    value,
)
from weft.store.pools import pools_of
from weft.store.workers import shown_worker


class Overview(StorePart):
    """What `weft top`, metrics and pages show of all."""

    async def overview(self, caller: Caller) -> Row:
        """Return `workers: [...]`, `running`, `ready`, `pending` for `weft top` and metrics.

        Workers are those of all tenants, counts those of the caller's.
        """
        document: Row = await self._database.value(
            "overview", caller=caller, pools_of_tenant_id=pools_of(caller)
        )
        workers = [shown_worker(one, caller) for one in document["workers"]]
        return {**document, "workers": workers}

    @calls(value)
    async def overview_counts(self, caller: Caller) -> Row:
        """Return what `overview` does but for the workers."""

    @calls(documents)
    async def list_minutes(self, caller: Caller) -> Sequence[Row]:
        """Return `at, n_waiting, n_running, n_succeeded, n_failed, n_cancelled` of each of the
        last 60 minutes, oldest first, for the batches that the caller owns; for the tenant, if the
        caller sees all of it.
        """
