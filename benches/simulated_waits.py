"""Why a job of `simulated_tables` waits: what hinders it, and what `weft why` says of that."""

from datetime import UTC, datetime, timedelta
from typing import Final

from benches.simulated_tables import Gate, Job, Tables, User
from weft.core.billing.spending import Stage
from weft.core.pools import Pool
from weft.core.why.facts import (
    BlockedFacts,
    ComingMachine,
    ConditionFacts,
    GateFacts,
    GrowthFacts,
    JobFacts,
    LimitFacts,
    PoolFacts,
    StoppedWorker,
)
from weft.core.why.waiting import causes_of_wait

BEGIN: Final = datetime(2030, 1, 1, tzinfo=UTC)


def check_that_why_is_said(job: Job, tables: Tables, pool: Pool) -> None:
    """Whatever hinders a job is said; if nothing does, room is there or said to lack."""
    hindrances = _hindrances(job, tables)
    said = [one.kind for one in causes_of_wait(_facts(job, tables, pool), {}, _time(tables.now))]
    assert hindrances <= set(said), f"job {job.number} waits for {hindrances}; said is {said}"
    has_room = _has_room(job, tables)
    assert hindrances or bool(said) != has_room, (
        f"job {job.number} waits; said is {said}, and workers {'' if has_room else 'do not '}have"
        " room for it"
    )


def _hindrances(job: Job, tables: Tables) -> set[str]:
    """Return what must be over before any worker may claim it, by the tables alone."""
    found = set[str]()
    if job.opens_s is not None:
        found.add("retry")
    if any(job.number in one.jobs for one in tables.conditions.values()):
        found.add("condition")
    if job.gate is not None and not job.gate.holds(job):
        found.add("max_running")
    if _is_limited(job):
        found.add("limit")
    return found


def _is_limited(job: Job) -> bool:
    return job.user.stage is Stage.REACHED or (job.user.near and not job.user.is_admitted(job))


def _has_room(job: Job, tables: Tables) -> bool:
    return any(
        one.takes and one.cpu_m - one.used_m >= job.cpu_m for one in tables.workers.values()
    )


def _time(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def _facts(job: Job, tables: Tables, pool: Pool) -> JobFacts:
    blocked = _blocked(job, tables)
    return JobFacts(
        batch_id=1,
        job_id=job.number,
        state="queued" if blocked is None else "blocked",
        cpu=job.cpu_m / 1000,
        blocked=blocked,
        limit=_limit(job, job.user),
        gates=() if job.gate is None or job.gate.holds(job) else (_gate(job.gate, job),),
        pool=_pool(job, tables, pool),
    )


def _blocked(job: Job, tables: Tables) -> BlockedFacts | None:
    for one in tables.conditions.values():
        if job.number in one.jobs:
            facts = ConditionFacts(
                condition_id=one.number,
                condition="quota",
                tester="t",
                parameters={},
                since=_time(one.since_s),
                next_test_at=_time(one.next_s),
                n_jobs=len(one.jobs),
            )
            return BlockedFacts(attempt=job.attempt, next_at=facts.next_test_at, condition=facts)
    if job.opens_s is None:
        return None
    return BlockedFacts(attempt=job.attempt, next_at=_time(job.opens_s), reason="exit_code")


def _limit(job: Job, user: User) -> LimitFacts | None:
    if not _is_limited(job):
        return None
    is_near = user.stage is not Stage.REACHED
    return LimitFacts("user", str(user.number), "cpu", float(user.amount), is_near)


def _gate(gate: Gate, job: Job) -> GateFacts:
    return GateFacts(
        kind="max_running",
        key=gate.name,
        max_places=gate.most,
        n_taken=gate.n_taken,
        cost=job.places,
    )


def _pool(job: Job, tables: Tables, pool: Pool) -> PoolFacts:
    rows = [*tables.workers.values()]
    living = [one for one in rows if one.lives and one.state != "creating"]
    large = [one for one in living if one.cpu_m >= job.cpu_m]
    coming = [one for one in rows if one.state == "creating"]
    growth = GrowthFacts(
        machines=len(rows),
        max_workers=pool.max_workers,
        has_room=len(rows) < pool.max_workers,
        coming=ComingMachine(coming[0].name, _time(coming[0].since_s)) if coming else None,
    )
    return PoolFacts(
        pool=pool.name,
        workers=len(living),
        serving=len(living),
        large=len(large),
        active=sum(one.takes for one in large),
        stopped=tuple(StoppedWorker(one.name, one.state) for one in large if not one.takes),
        free=_has_room(job, tables),
        growth=growth,
        cpu=max((one.cpu_m / 1000 for one in living), default=None),
        cpu_active=sum(one.cpu_m for one in large if one.takes) / 1000,
        running=job.user.running_m / 1000,
        ahead=any(one.load < job.user.load and one.ready for one in tables.users),
    )
