"""The part of the worker's store for jobs of which messages of transports tell."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID

import asyncpg

from weft.core.consumer_limits import LEDGER_CALLS_MAX
from weft.ports.store import Claimed, OfferAnswer, OfferedStore
from weft.ports.topics import RunAnswer
from weft.store.database import Database, StorePart, open_database
from weft.store.declared import calls, column, pairs, parts

_LEDGER_TIMEOUT_S: Final = 60.0


def _offer_answer(row: asyncpg.Record) -> OfferAnswer:
    is_claimed = row["answer"] == "yours"
    return OfferAnswer(
        row["answer"],
        row["batch_id"],
        row["job_id"],
        row["offer_id"],
        row["attempt"],
        claimed_of(row[2:], row["chunk"], row["runnable_id"] or 0) if is_claimed else None,
    )


class OfferedJobs(StorePart):
    """The calls of `OfferedStore`. The methods are documented at the port."""

    list_consumed = calls(pairs)(OfferedStore.list_consumed)

    claim_offered = calls(
        lambda rows: [_offer_answer(row) for row in rows],
        batch_ids=column("offers", 0),
        job_ids=column("offers", 1),
        offer_ids=column("offers", 2),
        **parts("request", "budget_cpu_m", "budget_memory_mib", "call"),
    )(OfferedStore.claim_offered)


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
