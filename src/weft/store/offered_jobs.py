"""The part of the worker's store for jobs of which messages of transports tell."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID

from weft.core.consumer_limits import LEDGER_CALLS_MAX
from weft.ports.store import Claimed, ClaimRequest, OfferAnswer, OfferedStore
from weft.ports.topics import RunAnswer
from weft.store.database import Database, StorePart, open_database
from weft.store.declared import calls, pairs

_LEDGER_TIMEOUT_S: Final = 60.0


class OfferedJobs(StorePart):
    """The calls of `OfferedStore`. The methods are documented at the port."""

    list_consumed = calls(pairs)(OfferedStore.list_consumed)

    async def claim_offered(
        self,
        incarnation_id: int,
        transport: str,
        tenant: str,
        queue: str,
        offers: Sequence[tuple[int, int, int]],
        request: ClaimRequest,
    ) -> Sequence[OfferAnswer]:
        """Take offered jobs."""
        rows = await self._database.call(
            "claim_offered",
            incarnation_id=incarnation_id,
            transport=transport,
            tenant=tenant,
            queue=queue,
            batch_ids=[batch_id for batch_id, _, _ in offers],
            job_ids=[job_id for _, job_id, _ in offers],
            offer_ids=[offer_id for _, _, offer_id in offers],
            budget_cpu_m=request.budget_cpu_m,
            budget_memory_mib=request.budget_memory_mib,
            call=request.call,
        )
        return [
            OfferAnswer(
                row["answer"], row["batch_id"], row["job_id"], row["offer_id"], row["attempt"],
                claimed_of(row[2:], row["chunk"], row["runnable_id"] or 0)
                if row["answer"] == "yours"
                else None,
            )
            for row in rows
        ]  # fmt: skip


class TopicRuns:
    """The ledger `RunLedger`, whose methods are documented at the port. Calls wait here for their
    turn, however long: one that waits for a connection gives up, as if the database were away.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turns = asyncio.Semaphore(LEDGER_CALLS_MAX)

    async def begin_run(
        self,
        event_id: UUID,
        owner: str,
        *,
        keep_s: float,
        tenant: str = "",
        record: Mapping[str, Any] | None = None,
    ) -> RunAnswer:
        async with self._turns:
            (row,) = await self._database.call(
                "begin_topic_run",
                of_event_id=event_id,
                owner=owner,
                keep_s=keep_s,
                of_tenant=tenant,
                record=record,
            )
        return RunAnswer(row["answer"], row["error"])

    async def end_run(self, event_id: UUID, owner: str, *, is_failed: bool, error: str) -> None:
        async with self._turns:
            await self._database.call(
                "end_run", of_event_id=event_id, owner=owner, failed=is_failed, error=error
            )


@asynccontextmanager
async def open_topic_runs(dsn: str, pooler: str | None = None) -> AsyncIterator[TopicRuns]:
    """Open the ledger on connections of its own, so that runs keep nobody else waiting."""
    async with open_database(
        dsn, connections_max=LEDGER_CALLS_MAX, timeout_s=_LEDGER_TIMEOUT_S, pooler=pooler
    ) as database:
        yield TopicRuns(database)


def claimed_of(row: Sequence[Any], chunk: bytes | None = None, runnable_id: int = 0) -> Claimed:
    """Return what was claimed, from a row that begins with the columns of `list_live`."""
    batch_id, job_id, attempt, cpu_m, memory_mib, storage_mib, gpu, spec_first = row[:8]
    return Claimed(
        batch_id=batch_id,
        job_id=job_id,
        attempt=attempt,
        cpu_m=cpu_m,
        memory_mib=memory_mib,
        storage_mib=storage_mib,
        gpu=gpu,
        chunk_first=spec_first,
        chunk=chunk,
        runnable_id=runnable_id,
    )
