"""The part of `ApiStore` for those who administer the site: processes, trail, transports and
causes of failures.
"""

from collections.abc import Sequence
from datetime import datetime

from weft.ports.store import ACTION, Action, Caller, FailedLogin, LoginOwner, Row, TrailQuery
from weft.store.database import StorePart
from weft.store.declared import Made, actor, calls, documents, number, tenant_id, truth, value
from weft.store.documents import all_with_words, with_words


def _of_last(n: int) -> Made:
    """Return what sends a part of the place of the last row of the page before."""
    return lambda after: after and after[n]


class System(StorePart):
    """What runs for all tenants, and on what; the trail of what users have changed, as the driver
    has sealed it; what is known of the connections over which queues travel.

    Failed jobs of batches. A retried job is none any more; an acknowledged one is not listed.

    The number of a cause is made of how and with which message jobs failed, so a cause has the
    same number in all batches. Its name is that number as 12 digits of hex.
    """

    @calls(value, limit="limit_rows")
    async def get_system(self, *, limit: int) -> Row:
        """Return `at`, `processes` (at most `limit`, drivers and apis first), `programs` (how many
        processes by role and version), `database`, `audit` (what the last one has found, or None)
        and `driver_settings` (what the leading driver has handed over).

        It reads catalogues and statistics: its cost does not depend on how many jobs there are.
        """

    async def record_request(self, action: Action) -> None:
        """Add a request to the trail that was refused, or acts outside the database."""
        ACTION.set(None)  # it has its entry
        await self._database.call("record_request", request=action.row(), n_rows=None)

    @calls(lambda rows: LoginOwner(**rows[0]) if rows else None, digest="of_hash")
    async def login_owner(self, digest: bytes) -> LoginOwner | None:
        """Return whose token, session or login code has this SHA-256, also if it has expired,
        and whether it has; None: nobody's.
        """

    async def record_failed_login(self, failed: FailedLogin) -> None:
        """Add a login that failed to the trail: of its tenant, or of none."""
        ACTION.set(None)  # a pipelined request has no other
        await self._database.call("record_request", request=failed.row(), n_rows=None)

    async def list_trail(
        self,
        caller: Caller,
        query: TrailQuery,
        *,
        before: int | None,
        limit: int,
        all_tenants: bool = False,
    ) -> Sequence[Row]:
        """Return sealed entries of the tenant, or of all, newest first: `number, at, tenant, user,
        token_id, address, trace_id, action, path, batch_id, refused, times, sealed_at, digest`.
        """
        whose = {} if all_tenants else {"tenant_id": caller.tenant_id}
        rows = await self._database.call(
            "list_whole_trail" if all_tenants else "list_trail",
            **whose,
            of_user=query.user,
            of_action=query.action,
            of_batch_id=query.batch_id,
            of_number=query.number,
            since=query.since,
            before=before,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

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

    async def list_causes(
        self, caller: Caller, batch_id: int, *, show_all: bool, limit: int
    ) -> Row:
        """Return why jobs of a batch failed: `n_jobs`, `n_acknowledged`, `n_causes`, and the
        `causes`, the most frequent first.

        `show_all`: also causes of which all jobs are acknowledged. Raise `BatchNotFound`.
        """
        (row,) = await self._database.call(
            "list_causes", caller=caller, batch_id=batch_id, show_all=show_all, limit_rows=limit
        )
        counts = {name: row[name] for name in ("n_jobs", "n_acknowledged", "n_causes")}
        return {**counts, "causes": [with_words(one) for one in row["items"]]}

    @calls(
        all_with_words,
        batch_id="of_batch_id",
        cause_id="of_cause_id",
        reason="of_reason",
        acknowledged="of_acknowledged",
        limit="limit_rows",
        **{f"after_{name}": _of_last(n) for n, name in enumerate(("batch", "cause", "job"))},
    )
    async def list_dead_letters(
        self,
        caller: Caller,
        *,
        limit: int,
        batch_id: int | None = None,
        cause_id: int | None = None,
        reason: int | None = None,
        acknowledged: bool = False,
        after: tuple[int, int, int] | None = None,
    ) -> Sequence[Row]:
        """Return failed jobs, of the newest batch first, then by cause and number; after the job
        with this batch, cause and number.

        `acknowledged`: those that are, instead of those that are not. Raise `BatchNotFound`.
        """

    @calls(number, cause_id="of_cause_id", job_ids="of_job_ids", limit="limit_jobs", actor=actor)
    async def acknowledge_failures(
        self,
        caller: Caller,
        batch_id: int,
        *,
        cause_id: int | None,
        job_ids: Sequence[int] | None,
        note: str,
        until: datetime | None,
        limit: int,
    ) -> int:
        """Note that a person has seen to failed jobs of a cause, those of these numbers, or any;
        return how many, at most `limit`.

        `until`: only those that failed by then. A repeat takes the next ones. Raise
        `BatchNotFound`.
        """
