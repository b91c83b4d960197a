"""Which running jobs make room for jobs of queues of higher priority.

`properties/test_simulation.py` checks what is true of every plan.
"""

from typing import Any

from weft.core.scheduling.preemption import (
    Host,
    Preemption,
    Round,
    RunningJob,
    WaitingJob,
    key_of,
    plan_preemptions,
    plan_round,
)

LOSSES_MAX = 3
IDS = iter(range(1, 10_000_000))


def waiting(cpu: int = 1, priority: int = 9, **more: Any) -> WaitingJob:  # noqa: ANN401 (fields)
    return WaitingJob(
        batch_id=1,
        job_id=next(IDS),
        cpu_m=cpu,
        memory_mib=1,
        priority=priority,
        **{"tenant_id": 1, **more},
    )


def running(cpu: int = 1, priority: int | None = None, **more: Any) -> RunningJob:  # noqa: ANN401 (fields)
    return RunningJob(
        batch_id=2,
        job_id=next(IDS),
        attempt=1,
        cpu_m=cpu,
        memory_mib=1,
        priority=priority,
        **{"tenant_id": 1, "may_be_stopped": True, **more},
    )


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
