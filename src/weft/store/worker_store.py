"""`WorkerStore` on asyncpg."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any
from uuid import UUID

import asyncpg

from weft.core.attempt_key import AttemptKey, Command
from weft.core.ends.conditions import Ask
from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.scheduling.offers import Offer
from weft.ports.store import (
    Claimed,
    ClaimRequest,
    EndReport,
    HeartbeatAnswer,
    JobUser,
    PhaseReport,
    ProgressReport,
    Registered,
    StartReport,
    StoredSecret,
)
from weft.ports.worker_link import Beat, Ends, LinkTerms
from weft.store.database import Database, columns, open_database
from weft.store.end_columns import ends_of, growing
from weft.store.machines import Looks
from weft.store.notices import PostgresNotices
from weft.store.offered_jobs import OfferedJobs, claimed_of
from weft.store.schema_range import check_schema
from weft.store.worker_files import WorkerFiles
from weft.wire.sealed import SecretRow

WORKER_TIMEOUT_S = 60.0
GRACE_S = 30.0


class PostgresWorkerStore(OfferedJobs, WorkerFiles, Looks):
    """A worker agent's calls to its database. The methods are documented at the port."""

    def __init__(
        self, database: Database, notices: PostgresNotices, *, grace_s: float = GRACE_S
    ) -> None:
        self._database = database
        self.notices = notices
        self._grace_s = grace_s

    async def check_schema(self) -> None:
        """Return if this program may use the database."""
        await check_schema(self._database, "weft_worker")

    async def database_id(self) -> str:
        """Return which database this is."""
        found: UUID = await self._database.value("database_id")
        return found.hex

    async def list_removed(self, batch_ids: Sequence[int]) -> Sequence[int]:
        """Return which of these batches are removed."""
        rows = await self._database.call("list_removed", batch_ids=list(batch_ids))
        return [row[0] for row in rows]

    async def list_commands(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> tuple[Sequence[Command], bool]:
        """Return what these attempts are to be told."""
        (row,) = await self._database.call(
            "list_commands", incarnation_id=incarnation_id, **_attempts(attempts)
        )
        keys = zip(row["of_batch_ids"], row["of_job_ids"], row["of_attempts"], strict=True)
        columns = (row[name] for name in ("signals", "extensions_ms", "messages"))
        commands = [
            Command(number, AttemptKey(*key), signal, extra_ms or 0, message)
            for number, key, signal, extra_ms, message in zip(
                row["command_ids"], keys, *columns, strict=True
            )
        ]
        return commands, row["asks_again"]

    async def list_time_limits(
        self, attempts: Sequence[tuple[int, int, int]]
    ) -> Mapping[tuple[int, int, int], int]:
        """Return the time limits in ms that rules of `retry_with` lead to."""
        rows = await self._database.call("list_time_limits", **_attempts(attempts))
        return {(row["batch_id"], row["job_id"], row["attempt"]): row["limit_ms"] for row in rows}

    async def note_avoided(self, incarnation_id: int, nodes: Sequence[AvoidedNode]) -> None:
        """Record which nodes a gateway avoids."""
        await self._database.call(
            "note_avoided",
            incarnation_id=incarnation_id,
            nodes=[node.node[:100] for node in nodes],
            seconds=[node.seconds for node in nodes],
            reasons=[node.reason[:500] for node in nodes],
        )

    async def list_choices(
        self, batch_ids: Sequence[int]
    ) -> Mapping[int, Mapping[str, Sequence[str]]]:
        """Return what tenants let their jobs choose, by batch and kind."""
        rows = await self._database.call("list_choices", batch_ids=batch_ids)
        return {row["batch_id"]: row["allowed"] for row in rows}

    async def acknowledge_commands(
        self, incarnation_id: int, obeyed: Sequence[tuple[int, AttemptKey, str]]
    ) -> None:
        """Record what came of commands."""
        await self._database.call(
            "acknowledge_commands",
            incarnation_id=incarnation_id,
            command_ids=[number for number, _, _ in obeyed],
            attempts=[key.attempt for _, key, _ in obeyed],
            outcomes=[refusal for _, _, refusal in obeyed],
        )

    async def list_ended_jobs(self, jobs: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """Return which of these have ended."""
        rows = await self._database.call(
            "list_ended_jobs", batch_ids=[job[0] for job in jobs], job_ids=[job[1] for job in jobs]
        )
        return [(row["batch_id"], row["job_id"]) for row in rows]

    async def register_worker(
        self,
        *,
        name: str,
        host: str,
        pool: str,
        incarnation: str,
        cpu_m: int,
        memory_mib: int,
        storage_mib: int,
        gpu: int,
        offers: Mapping[str, Offer],
        version: str,
        same_host_proved_gone: bool,
        log_place: str | None = None,
        log_directory: str | None = None,
        outlives: bool = False,
        by_token: int | None = None,
    ) -> Registered:
        """Say that this worker is here."""
        (row,) = await self._database.call(
            "register_worker",
            name=name,
            host=host,
            pool=pool,
            incarnation=incarnation,
            cpu_m=cpu_m,
            memory_mib=memory_mib,
            storage_mib=storage_mib,
            gpu=gpu,
            offers=dict(offers),
            version=version,
            proved_gone=same_host_proved_gone,
            grace_s=self._grace_s,
            log_place=log_place,
            log_directory=log_directory,
            outlives=outlives,
            by_token=by_token,
        )
        return Registered(
            worker_id=row["worker_id"],
            incarnation_id=row["incarnation_id"],
            pool_id=row["pool_id"],
            live=await self.list_live(row["incarnation_id"]),
        )

    async def register_linked(self, by_token: int, facts: Mapping[str, Any]) -> Registered:
        """Register a worker for a token."""
        return await self.register_worker(**facts, by_token=by_token)

    async def list_live(self, incarnation_id: int) -> Sequence[Claimed]:
        """Return the live attempts of an incarnation."""
        rows = await self._database.call("list_live", incarnation_id=incarnation_id)
        return [claimed_of(row) for row in rows]

    async def list_run_at(
        self, log_place: str, jobs: Sequence[tuple[int, int]]
    ) -> Sequence[tuple[int, int]]:
        """Return jobs."""
        rows = await self._database.call(
            "list_run_at",
            log_place=log_place,
            batch_ids=[one for one, _ in jobs],
            job_ids=[one for _, one in jobs],
        )
        return [(row[0], row[1]) for row in rows]

    async def get_link(self, incarnation_id: int, by_token: int) -> LinkTerms | None:
        """Return what a linked worker may be told of."""
        rows = await self._database.call(
            "get_link", incarnation_id=incarnation_id, by_token=by_token
        )
        return LinkTerms(*rows[0]) if rows else None

    async def claim_jobs(self, incarnation_id: int, request: ClaimRequest) -> Sequence[Claimed]:
        """Take ready jobs."""
        rows = await self._database.call(
            "claim_jobs", incarnation_id=incarnation_id, **_asked(request)
        )
        return _all_claimed(rows)

    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        """Return spec chunks."""
        rows = await self._database.call(
            "get_chunks", batch_ids=batch_ids, first_jobs=chunk_firsts
        )
        return {(row["batch_id"], row["first_job"]): row["body"] for row in rows}

    async def list_job_users(self, jobs: Sequence[tuple[int, int]]) -> Sequence[JobUser]:
        """Return whose these jobs are."""
        rows = await self._database.call(
            "list_job_users",
            batch_ids=[batch_id for batch_id, _ in jobs],
            job_ids=[job_id for _, job_id in jobs],
        )
        return [JobUser(*row) for row in rows]

    async def home_tenant(self) -> str | None:
        """Return what the installation's own tenant is called."""
        ((name,),) = await self._database.call("home_tenant")
        return None if name is None else str(name)

    async def get_secrets(
        self, incarnation_id: int, wanted: Sequence[tuple[AttemptKey, str]]
    ) -> Sequence[StoredSecret | None]:
        """Return secrets for attempts."""
        names = [name for _, name in wanted]
        rows = await self._database.call(
            "get_secrets",
            incarnation_id=incarnation_id,
            names=names,
            **_attempts([(key.batch_id, key.job_id, key.attempt) for key, _ in wanted]),
        )
        return [
            StoredSecret(SecretRow(row["tenant_id"], row["user_id"], name), row["body"])
            if row["is_owner"]
            else None
            for name, row in zip(names, rows, strict=True)
        ]

    async def wait_for_work(self, incarnation_id: int) -> bool:
        """Say that this worker waits."""
        return bool(await self._database.value("wait_for_work", incarnation_id=incarnation_id))

    async def start_attempts(
        self, incarnation_id: int, reports: Sequence[StartReport]
    ) -> Sequence[str]:
        """Record starts."""
        batch_ids, job_ids, attempts, ages = columns(
            reports, "batch_id", "job_id", "attempt", "age_us"
        )
        verdicts: Sequence[str] = await self._database.value(
            "start_attempts",
            incarnation_id=incarnation_id,
            batch_ids=batch_ids,
            job_ids=job_ids,
            attempts=attempts,
            ages_us=growing(ages),
        )
        return verdicts

    async def record_phases(
        self, incarnation_id: int, reports: Sequence[PhaseReport]
    ) -> Sequence[str]:
        """Record the phases of attempts."""
        batch_ids, job_ids, attempts, phases, messages = columns(
            reports, "batch_id", "job_id", "attempt", "phase", "message"
        )
        verdicts: Sequence[str] = await self._database.value(
            "record_phases",
            incarnation_id=incarnation_id,
            batch_ids=batch_ids,
            job_ids=job_ids,
            attempts=attempts,
            phases=phases,
            messages=messages,
        )
        return verdicts

    async def record_progress(
        self, incarnation_id: int, reports: Sequence[ProgressReport]
    ) -> None:
        """Record how far attempts are."""
        batch_ids, job_ids, attempts, percents, texts = columns(
            reports, "batch_id", "job_id", "attempt", "percent", "text"
        )
        await self._database.call(
            "record_progress",
            incarnation_id=incarnation_id,
            batch_ids=batch_ids,
            job_ids=job_ids,
            attempts=attempts,
            percents=percents,
            texts=texts,
        )

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        """Record ends."""
        verdicts: Sequence[str] = await self._database.value(
            "complete_attempts", incarnation_id=incarnation_id, **ends_of(reports)
        )
        return verdicts

    async def ask_block(self, incarnation_id: int, key: AttemptKey, ask: Ask) -> bool:
        """Note what an attempt asks to wait for."""
        return bool(
            await self._database.value(
                "ask_block", incarnation_id=incarnation_id, batch_id=key.batch_id,
                job_id=key.job_id, attempt=key.attempt, kind=ask.condition, tester=ask.tester,
                parameters=ask.parameters,
            )
        )  # fmt: skip

    async def claim_reserved(
        self, incarnation_id: int, request: ClaimRequest
    ) -> tuple[Sequence[Claimed], bool]:
        """Take the job that this worker is kept for, or others that may run before it."""
        rows = await self._database.call(
            "claim_reserved",
            incarnation_id=incarnation_id,
            budget_cpu_m=request.budget_cpu_m,
            budget_memory_mib=request.budget_memory_mib,
            limit_jobs=request.limit_jobs,
            call=request.call,
            passed_batch=None if request.passes is None else request.passes[0],
            passed_job=None if request.passes is None else request.passes[1],
        )
        return _all_claimed(rows), bool(rows) and rows[0]["fills"]

    async def complete_and_claim(
        self, incarnation_id: int, reports: Sequence[EndReport], request: ClaimRequest
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        """Record ends and take ready jobs."""
        first, *rows = await self._database.call(
            "complete_and_claim",
            incarnation_id=incarnation_id,
            **ends_of(reports),
            **_asked(request),
        )
        return first["verdicts"], _all_claimed(rows)

    async def list_to_stop(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> Sequence[tuple[int, int, int]]:
        """Return which of these must be stopped."""
        rows = await self._database.call(
            "list_to_stop", incarnation_id=incarnation_id, **_attempts(attempts)
        )
        return [tuple(row) for row in rows]

    async def heartbeat(
        self,
        incarnation_id: int,
        attempts: Sequence[tuple[int, int, int]],
        *,
        draining: bool,
        claiming: bool = False,
        heard: Sequence[int] = (),
    ) -> HeartbeatAnswer:
        """Say that the worker lives."""
        (row,) = await self._database.call(
            "heartbeat",
            incarnation_id=incarnation_id,
            **_attempts(attempts),
            draining=draining,
            claiming=claiming,
            heard=list(heard),
        )
        return _beat_answer(row)

    async def heartbeats(self, beats: Sequence[Beat]) -> Sequence[HeartbeatAnswer | None]:
        """Say that workers live."""
        rows = await self._database.call(
            "heartbeats",
            incarnation_ids=[beat.incarnation_id for beat in beats],
            draining=[beat.draining for beat in beats],
            claiming=[beat.claiming for beat in beats],
            n_attempts=[len(beat.attempts) for beat in beats],
            **_attempts([key for beat in beats for key in beat.attempts]),
            n_heard=[len(beat.heard) for beat in beats],
            heard=[number for beat in beats for number in beat.heard],
        )
        answers = {row["n"]: _beat_answer(row) for row in rows}
        return [answers.get(n) for n in range(1, len(beats) + 1)]

    async def complete_together(self, ends: Sequence[Ends]) -> Sequence[Sequence[str] | None]:
        """Record ends that several workers report."""
        verdicts: Sequence[str] = await self._database.value(
            "complete_attempts",
            incarnation_id=ends[0].incarnation_id,
            **ends_of([report for end in ends for report in end.reports]),
            incarnation_ids=[end.incarnation_id for end in ends for _ in end.reports],
        )
        left = iter(verdicts)
        parts = [list(islice(left, len(end.reports))) for end in ends]
        return [None if "stale" in part else part for part in parts]

    async def finish_drain(self, incarnation_id: int) -> bool:
        """End this worker if nothing runs there."""
        return bool(await self._database.value("finish_drain", incarnation_id=incarnation_id))

    async def leave(self, incarnation_id: int) -> None:
        """Say that the worker goes."""
        await self._database.call("leave", incarnation_id=incarnation_id)


def _beat_answer(row: asyncpg.Record) -> HeartbeatAnswer:
    stops = zip(row["stop_batch_ids"], row["stop_job_ids"], row["stop_attempts"], strict=True)
    return HeartbeatAnswer(
        alive=row["alive"],
        to_stop=list(stops),
        has_work=row["has_work"],
        drains=row["drains"],
        kept=row["kept"],
    )


def _asked(request: ClaimRequest) -> dict[str, Any]:
    return {
        "budget_cpu_m": request.budget_cpu_m,
        "budget_memory_mib": request.budget_memory_mib,
        "limit_jobs": request.limit_jobs,
        "hint_runnable": list(request.hints),
        "hint_job": list(request.hints.values()),
        "call": request.call,
    }


def _all_claimed(rows: Sequence[asyncpg.Record]) -> list[Claimed]:
    return [claimed_of(row, row["chunk"], row["runnable_id"] or 0) for row in rows]


def _attempts(attempts: Sequence[tuple[int, int, int]]) -> dict[str, list[int]]:
    return {
        "batch_ids": [attempt[0] for attempt in attempts],
        "job_ids": [attempt[1] for attempt in attempts],
        "attempts": [attempt[2] for attempt in attempts],
    }


@asynccontextmanager
async def open_worker_store(
    dsn: str, *, grace_s: float = GRACE_S, connections_max: int = 4
) -> AsyncIterator[PostgresWorkerStore]:
    """Open the store of a worker's agent, as role `weft_worker`."""
    async with open_database(
        dsn, connections_max=connections_max, timeout_s=WORKER_TIMEOUT_S
    ) as database:
        yield PostgresWorkerStore(database, PostgresNotices(dsn), grace_s=grace_s)
