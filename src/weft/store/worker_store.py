"""`WorkerStore` on asyncpg."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Final
from uuid import UUID

import asyncpg

from weft.core.errors import DiskFull
from weft.core.states import AttemptKey, Command
from weft.ports.store import (
    Claimed,
    ClaimRequest,
    EndReport,
    GivingStore,
    HeartbeatAnswer,
    JobUser,
    ParentAnswer,
    Registered,
    StoredSecret,
    WorkerStore,
)
from weft.ports.worker_link import Beat, Ends, LinkedStore, LinkTerms
from weft.store.database import Database, open_database
from weft.store.declared import (
    Made,
    calls,
    column,
    documents,
    filled,
    nothing,
    pairs,
    parts,
    truth,
    value,
)
from weft.store.end_columns import ends_of, growing
from weft.store.looks import Looks
from weft.store.notices import PostgresNotices
from weft.store.offered_jobs import OfferedJobs, claimed_of
from weft.store.schema_range import check_schema
from weft.store.worker_files import ATTEMPT, WorkerFiles
from weft.wire.sealed import SecretRow

WORKER_TIMEOUT_S = 60.0
GRACE_S = 30.0

_ATTEMPTS: Final[Mapping[str, Made]] = {
    name: column("attempts", n) for n, name in enumerate(("batch_ids", "job_ids", "attempts"))
}
_JOBS: Final[Mapping[str, Made]] = {
    name: column("jobs", n) for n, name in enumerate(("batch_ids", "job_ids"))
}
_OF_REPORTS: Final[Mapping[str, Made]] = {
    f"{name}s": column("reports", name) for name in ("batch_id", "job_id", "attempt")
}
_ASKED: Final[Mapping[str, Made]] = {
    **parts("request", "budget_cpu_m", "budget_memory_mib", "limit_jobs", "call"),
    "hint_runnable": lambda request: [*request.hints],
    "hint_job": lambda request: [*request.hints.values()],
}


def _attempts(attempts: Sequence[tuple[int, int, int]]) -> dict[str, object]:
    return {name: made(attempts) for name, made in _ATTEMPTS.items()}


def _all_claimed(rows: Sequence[asyncpg.Record]) -> list[Claimed]:
    return [claimed_of(row, row["chunk"], row["runnable_id"] or 0) for row in rows]


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

    list_removed = calls(documents)(WorkerStore.list_removed)

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

    list_time_limits = calls(
        lambda rows: {tuple(row[:3]): row["limit_ms"] for row in rows}, **_ATTEMPTS
    )(WorkerStore.list_time_limits)
    list_answers = calls(lambda rows: [ParentAnswer(*row) for row in rows], **_ATTEMPTS)(
        WorkerStore.list_answers
    )
    note_avoided = calls(
        nothing,
        nodes=lambda nodes: [one.node[:100] for one in nodes],
        seconds=column("nodes", "seconds"),
        reasons=lambda nodes: [one.reason[:500] for one in nodes],
    )(WorkerStore.note_avoided)
    list_choices = calls(lambda rows: dict(map(tuple, rows)))(WorkerStore.list_choices)
    acknowledge_commands = calls(
        nothing,
        command_ids=column("obeyed", 0),
        attempts=lambda obeyed: [key.attempt for _, key, _ in obeyed],
        outcomes=column("obeyed", 2),
    )(WorkerStore.acknowledge_commands)
    list_ended_jobs = calls(pairs, **_JOBS)(WorkerStore.list_ended_jobs)

    async def register_worker(self, **facts: Any) -> Registered:  # noqa: ANN401 (as the port says)
        """Say that this worker is here."""
        return await self.register_linked(None, facts)

    async def register_linked(self, by_token: int | None, facts: Mapping[str, Any]) -> Registered:
        """Register a worker for a token."""
        sent = {"log_place": None, "log_directory": None, "outlives": False, **facts}
        sent["proved_gone"] = sent.pop("same_host_proved_gone")
        (row,) = await self._database.call(
            "register_worker", **sent, grace_s=self._grace_s, by_token=by_token
        )
        if by_token is None:
            self._database.registered_at[row["incarnation_id"]] = self._database.server
        live = await self.list_live(row["incarnation_id"])
        return filled(Registered, row, live=live)

    list_live = calls(lambda rows: [claimed_of(row) for row in rows])(LinkedStore.list_live)
    list_run_at = calls(pairs, **_JOBS)(LinkedStore.list_run_at)
    get_link = calls(lambda rows: LinkTerms(*rows[0]) if rows else None)(LinkedStore.get_link)
    claim_jobs = calls(_all_claimed, **_ASKED)(WorkerStore.claim_jobs)
    get_chunks = calls(
        lambda rows: {(row["batch_id"], row["first_job"]): row["body"] for row in rows},
        chunk_firsts="first_jobs",
    )(WorkerStore.get_chunks)
    list_job_users = calls(lambda rows: [JobUser(*row) for row in rows], **_JOBS)(
        WorkerStore.list_job_users
    )
    home_tenant = calls(value)(WorkerStore.home_tenant)

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

    wait_for_work = calls(truth)(WorkerStore.wait_for_work)
    wait_to_be_given = calls(truth)(GivingStore.wait_to_be_given)
    list_given = calls(
        lambda rows: [(row["call"], claimed_of(row, row["chunk"])) for row in rows]
    )(GivingStore.list_given)
    start_attempts = calls(
        value, **_OF_REPORTS, ages_us=lambda reports: growing([one.age_us for one in reports])[0]
    )(WorkerStore.start_attempts)
    record_phases = calls(
        value,
        **_OF_REPORTS,
        phases=column("reports", "phase"),
        messages=column("reports", "message"),
        ages_us=lambda reports: growing([one.age_us for one in reports])[0],
    )(WorkerStore.record_phases)
    record_progress = calls(
        nothing,
        **_OF_REPORTS,
        percents=column("reports", "percent"),
        texts=column("reports", "text"),
    )(WorkerStore.record_progress)
    record_note = calls(truth, **ATTEMPT, **parts("note", "title", "kind", "body"))(
        WorkerStore.record_note
    )

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        """Record ends."""
        verdicts: Sequence[str] = await self._database.value(
            "complete_attempts", incarnation_id=incarnation_id, **ends_of(reports)
        )
        return verdicts

    ask_block = calls(
        truth,
        **ATTEMPT,
        kind=lambda ask: ask.condition,
        tester=lambda ask: ask.tester,
        parameters=lambda ask: ask.parameters,
    )(WorkerStore.ask_block)

    claim_reserved = calls(
        lambda rows: (_all_claimed(rows), bool(rows) and rows[0]["fills"]),
        **parts("request", "budget_cpu_m", "budget_memory_mib", "limit_jobs", "call"),
        passed_batch=lambda request: request.passes and request.passes[0],
        passed_job=lambda request: request.passes and request.passes[1],
    )(WorkerStore.claim_reserved)

    async def complete_and_claim(
        self, incarnation_id: int, reports: Sequence[EndReport], request: ClaimRequest
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        """Record ends and take ready jobs."""
        first, *rows = await self._database.call(
            "complete_and_claim",
            incarnation_id=incarnation_id,
            **ends_of(reports),
            **{name: made(request) for name, made in _ASKED.items()},
        )
        return first["verdicts"], _all_claimed(rows)

    list_to_stop = calls(pairs, **_ATTEMPTS)(WorkerStore.list_to_stop)

    _whole_heartbeat = calls(lambda rows: _beat_answer(rows[0]), **_ATTEMPTS)(
        WorkerStore.heartbeat
    )

    async def heartbeat(
        self,
        incarnation_id: int,
        attempts: Sequence[tuple[int, int, int]],
        *,
        draining: bool,
        claiming: bool = False,
        heard: Sequence[int] = (),
    ) -> HeartbeatAnswer:
        """Say that a worker lives, if the disk of the database has no room for more: else it would
        be taken for lost, with jobs that run. The numbers in `heard` only spare the database to
        read what it has of these claims: that it does not note them loses nothing.
        """
        try:
            return await self._whole_heartbeat(
                incarnation_id, attempts, draining=draining, claiming=claiming, heard=heard
            )
        except DiskFull:
            none = dict.fromkeys(_ATTEMPTS)
            rows = await self._database.call(
                "heartbeat", incarnation_id=incarnation_id, draining=draining, **none
            )
            return _beat_answer(rows[0])

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

    finish_drain = calls(truth)(WorkerStore.finish_drain)
    leave = calls(nothing)(WorkerStore.leave)


def _beat_answer(row: asyncpg.Record) -> HeartbeatAnswer:
    stops = zip(row["stop_batch_ids"], row["stop_job_ids"], row["stop_attempts"], strict=True)
    return HeartbeatAnswer(
        alive=row["alive"],
        to_stop=list(stops),
        has_work=row["has_work"],
        drains=row["drains"],
        kept=row["kept"],
    )


@asynccontextmanager
async def open_worker_store(
    dsn: str, *, grace_s: float = GRACE_S, connections_max: int = 4, pooler: str | None = None
) -> AsyncIterator[PostgresWorkerStore]:
    """Open the store of a worker's agent, as role `weft_worker`."""
    async with open_database(
        dsn, connections_max=connections_max, timeout_s=WORKER_TIMEOUT_S, pooler=pooler
    ) as database:
        yield PostgresWorkerStore(database, PostgresNotices(dsn), grace_s=grace_s)
