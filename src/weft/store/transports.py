"""The transports of queues, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import (
    Caller,
    Row,
)
from weft.store.database import StorePart
from weft.store.declared import (
    actor,
    calls,
    documents,
    tenant_id,
    truth,
    value,
)


class Transports(StorePart):
    """What is known of the connections over which queues travel."""

    @calls(documents, caller=None, of_tenant_id=tenant_id)
    async def list_transports(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return these connections by name: `transport`, `looked_at`, `away_since`, `error` (None
        each: the driver has not looked, or it answers), and of the caller's tenant the number of
        `dead_messages`, and `queues`.
        """

    @calls(
        documents,
        caller=None,
        acknowledged="of_acknowledged",
        limit="limit_rows",
        tenant_id=tenant_id,
    )
    async def list_dead_messages(
        self, caller: Caller, *, before: int | None, acknowledged: bool, limit: int
    ) -> Sequence[Row]:
        """Return messages that nobody wants and that a person has acknowledged, or the others, the
        newest first, from before a number on.
        """

    @calls(value, caller=None, dead_id="of_dead_id", tenant_id=tenant_id)
    async def get_dead_message(self, caller: Caller, dead_id: int) -> Row | None:
        """Return one with its `body` in base64; None: there is none."""

    @calls(truth, caller=None, dead_id="of_dead_id", tenant_id=tenant_id)
    async def remove_dead_message(self, caller: Caller, dead_id: int) -> bool:
        """Forget one; return whether there was one."""

    @calls(value, caller=None, dead_id="of_dead_id", tenant_id=tenant_id, actor=actor)
    async def acknowledge_dead_message(
        self, caller: Caller, dead_id: int, note: str
    ) -> Row | None:
        """Note that somebody has seen to one, the first time; return it. None: there is none."""

    @calls(value, caller=None, dead_id="of_dead_id", tenant_id=tenant_id)
    async def resend_dead_message(self, caller: Caller, dead_id: int) -> Row | None:
        """Let one be sent again, unless not `can_resend`; return it. None: there is none."""

    @calls(value, job_id="of_job", limit="limit_rows")
    async def list_topic_runs(
        self, caller: Caller, job_id: str, *, first_row: int, limit: int
    ) -> Row:
        """Return the runs of a job that records of others asked for: `total`, and `runs`, a page
        of their documents, the newest first.
        """
