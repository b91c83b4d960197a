"""Which running jobs make room for jobs of queues of higher priority."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from weft.core.scheduling.preemption import (
    Host,
    Preemption,
    Round,
    RunningJob,
    WaitingJob,
    key_of,
    plan_preemptions,
    plan_round,
    without_room,
)

LOSSES_MAX = 3
IDS = iter(range(1, 10_000_000))


def waiting(cpu: int = 1, priority: int = 9, **more: Any) -> WaitingJob:  # noqa: ANN401 (fields)
    return WaitingJob(
        batch_id=1, job_id=next(IDS), cpu_m=cpu, memory_mib=1, priority=priority,
        **{"tenant_id": 1, **more},
    )  # fmt: skip


def running(cpu: int = 1, priority: int | None = None, **more: Any) -> RunningJob:  # noqa: ANN401 (fields)
    return RunningJob(
        batch_id=2, job_id=next(IDS), attempt=1, cpu_m=cpu, memory_mib=1, priority=priority,
        **{"tenant_id": 1, "may_be_stopped": True, **more},
    )  # fmt: skip


def host(*jobs: RunningJob, cpu: int = 4, name: str = "", **more: Any) -> Host:  # noqa: ANN401 (fields)
    name = name or f"w{next(IDS)}"
    return Host(name=name, cpu_m=cpu, memory_mib=100, running=jobs, **more)


def stopped(jobs: list[WaitingJob], hosts: list[Host]) -> list[RunningJob]:
    plans = plan_preemptions(jobs, hosts, losses_max=LOSSES_MAX)
    return [one for plan in plans for one in plan.stopped]


def test_job_that_fits_stops_nobody() -> None:
    assert stopped([waiting()], [host(running(3))]) == []


def test_fewest_jobs_are_stopped_and_of_these_the_youngest() -> None:
    old, young = running(2, runs_s=900), running(2, runs_s=5)

    assert stopped([waiting(2)], [host(old, young)]) == [young]
    small = host(*(running(1, runs_s=1) for _ in range(4)))
    assert len(stopped([waiting(2)], [small, host(old, young)])) == 1


def test_the_lowest_queue_makes_room_first() -> None:
    low, middle = running(2, runs_s=900), running(2, 5)

    assert stopped([waiting(2)], [host(middle, low)]) == [low]


def test_others_are_never_stopped() -> None:
    others = [
        running(4, may_be_stopped=False),
        running(4, tenant_id=2),
        running(4, 9),
        running(4, losses=LOSSES_MAX),
    ]

    for one in others:
        assert stopped([waiting()], [host(one)]) == []


def test_nobody_is_stopped_in_vain() -> None:
    """The worker is too small, or lacks what the job asks, or cannot be emptied far enough."""
    assert stopped([waiting(8)], [host(running(4))]) == []
    assert stopped([waiting(asks={"gpu": 1})], [host(running(4))]) == []
    assert stopped([waiting(4)], [host(running(2), running(2, may_be_stopped=False))]) == []


def test_two_waiting_jobs_do_not_count_on_the_same_room() -> None:
    one, two = running(4), running(4)

    assert len(stopped([waiting(4), waiting(4)], [host(one), host(two)])) == 2
    assert len(stopped([waiting(4), waiting(4)], [host(one)])) == 1


def test_amounts_and_slots_are_freed() -> None:
    gpu = running(1, asks={"gpu": 1})

    assert stopped([waiting(asks={"gpu": 1})], [host(gpu, running(1), offers={"gpu": 1})]) == [gpu]
    assert len(stopped([waiting()], [host(running(1), running(1), offers={"slots": 2})])) == 1


def test_a_job_that_a_worker_has_claimed_has_its_room_there() -> None:
    """It gets none elsewhere, and others are stopped there only; then nothing more is needed."""
    lease = waiting(4, worker="full")
    full = host(running(3), name="full", leases=(lease,))
    free = host(running(1), cpu=9)
    since = {key_of(lease): 0.0}

    def look(now: float, *hosts: Host) -> Round:
        return plan_round([], hosts, since, now=now, after_s=10, losses_max=LOSSES_MAX)

    assert look(9, full, free) == Round(since=since, plans=[])
    assert look(10, full, free).plans == [
        Preemption(waiting=lease, worker="full", stopped=full.running)
    ]
    assert look(10, host(name="full", leases=(lease,)), free) == Round(since={}, plans=[])


JOBS = st.builds(
    lambda cpu, priority, may, losses, tenant, runs: running(
        cpu, priority, may_be_stopped=may, losses=losses, tenant_id=tenant, runs_s=runs
    ),
    st.integers(1, 4), st.none() | st.integers(0, 5), st.booleans(), st.integers(0, 4),
    st.integers(1, 2), st.integers(0, 100),
)  # fmt: skip
HOSTS = st.lists(
    st.builds(
        lambda jobs, spare: host(*jobs, cpu=sum(one.cpu_m for one in jobs) + spare),
        st.lists(JOBS, max_size=4), st.integers(0, 2),
    ),
    max_size=3,
)  # fmt: skip
QUEUED = st.lists(
    st.builds(
        lambda cpu, priority, tenant: waiting(cpu, priority, tenant_id=tenant),
        st.integers(1, 5), st.integers(0, 6), st.integers(1, 2),
    ),
    max_size=5,
)  # fmt: skip


@given(QUEUED, HOSTS)
def test_each_is_stopped_once_for_a_higher_job_that_then_fits(
    jobs: list[WaitingJob], hosts: list[Host]
) -> None:
    plans = plan_preemptions(jobs, hosts, losses_max=LOSSES_MAX)
    names = Counter(one.job_id for plan in plans for one in plan.stopped)

    assert all(count == 1 for count in names.values())
    assert max(Counter(plan.waiting.job_id for plan in plans).values(), default=1) == 1
    assert {plan.waiting.job_id for plan in plans} <= {
        one.job_id for one in without_room(jobs, hosts)
    }
    for plan in plans:
        assert plan.stopped
        for one in plan.stopped:
            assert one.may_be_stopped
            assert one.losses < LOSSES_MAX
            assert one.tenant_id == plan.waiting.tenant_id
            assert one.priority is None or one.priority < plan.waiting.priority


@given(QUEUED, HOSTS)
def test_what_was_stopped_is_room_for_those_that_wait(
    jobs: list[WaitingJob], hosts: list[Host]
) -> None:
    """A second round, in which the stopped jobs are gone and the others run, stops nobody."""
    plans = plan_preemptions(jobs, hosts, losses_max=LOSSES_MAX)
    gone = {one.job_id for plan in plans for one in plan.stopped}
    after = [
        host(*(one for one in old.running if one.job_id not in gone), cpu=old.cpu_m)
        for old in hosts
    ]
    served = {plan.waiting.job_id for plan in plans}
    fitting = {one.job_id for one in jobs} - {one.job_id for one in without_room(jobs, hosts)}
    again = [one for one in jobs if one.job_id in served | fitting]

    assert sum(one.cpu_m for one in again) <= sum(
        one.cpu_m - sum(job.cpu_m for job in one.running) for one in after
    )
