"""Traces of a few jobs, whose times one computes by hand, and what is true of every trace: each
job runs once, nothing is used twice, nobody is overtaken.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.traces import job, pool, waits
from weft.core.pools import Pool
from weft.core.swf import TraceJob
from weft.settings import load_settings
from weft_simulator.model import (
    JobNeverStarts,
    MachineTime,
    Options,
    QueueLimits,
    TraceOutcome,
    check_sizes,
    run_easy,
    run_fifo,
    run_pool,
)
from weft_simulator.model.figures import equal_cpu_m, figures_of, users_of

AT_ONCE = Options(boot_s=0)
BLOCKED = [job(0, 100, 3), job(10, 100, 4), job(20, 50, 1, user=2), job(30, 200, 1, user=2)]
"""On four cores the second job cannot start before the first has ended."""


def test_first_come_first_served() -> None:
    assert waits(run_fifo(BLOCKED, 4000), BLOCKED) == [0, 90, 180, 170]


def test_a_job_that_delays_nobody_goes_first_with_easy() -> None:
    """The third ends before the second can start; the fourth would not."""
    assert waits(run_easy(BLOCKED, 4000), BLOCKED) == [0, 90, 0, 170]


def test_easy_believes_what_users_said() -> None:
    unsure = [job(0, 100, 3), job(10, 100, 4), job(20, 50, 1, limit_s=500)]

    assert waits(run_easy(unsure, 4000), unsure) == [0, 90, 180]


def test_easy_uses_what_the_first_job_leaves_free() -> None:
    spare = [job(0, 100, 3), job(10, 100, 2), job(20, 500, 1), job(30, 500, 1)]

    assert waits(run_easy(spare, 4000), spare) == [0, 90, 0, 70]


def test_a_worker_keeps_room_for_the_job_that_it_has_claimed() -> None:
    machine = pool(4, at_least=1)

    assert waits(run_pool(machine, BLOCKED, AT_ONCE), BLOCKED) == [0, 90, 180, 170]


def test_a_job_without_room_is_left_to_a_machine_that_has_it() -> None:
    jobs = [job(0, 100, 1), job(10, 100, 4), job(20, 10, 4)]
    two = pool(4, at_least=2, at_most=2)

    assert waits(run_pool(two, jobs, AT_ONCE), jobs) == [0, 0, 80]


def test_a_machine_is_kept_for_a_large_job_and_short_ones_run_before_it() -> None:
    """Without it the jobs of the other user, who runs less, come first again and again."""
    jobs = [job(0, 600, 3), job(0, 10, 1), job(1, 100, 4)]
    jobs += [job(2, 60, 1, user=2) for _ in range(30)]
    machine = pool(4, at_least=1)
    kept = waits(run_pool(machine, jobs, AT_ONCE), jobs)
    never = waits(run_pool(machine, jobs, Options(boot_s=0, reserve_after_s=10**6)), jobs)

    assert kept[2] == 599
    assert never[2] > kept[2]


def test_users_share_what_is_free() -> None:
    jobs = [*(job(0, 100, 1) for _ in range(4)), job(10, 100, 1, user=2)]

    assert waits(run_pool(pool(2, at_least=1), jobs, AT_ONCE), jobs) == [0, 0, 100, 200, 90]
    assert waits(run_fifo(jobs, 2000), jobs) == [0, 0, 100, 100, 190]


def test_places_go_to_the_user_who_runs_least() -> None:
    """Four cores are free, the queue lets two run, and one of each user."""
    jobs = [*(job(0, 100, 1) for _ in range(3)), job(10, 100, 1, user=2)]

    def found(**limits: int) -> list[float]:
        options = Options(boot_s=0, limits=QueueLimits(**limits))
        return waits(run_pool(pool(4, at_least=1), jobs, options), jobs)

    assert found() == [0, 0, 0, 0]
    assert found(max_running=2) == [0, 0, 100, 90]
    assert found(max_running_per_user=1) == [0, 100, 200, 0]


def test_a_job_whose_key_is_taken_lets_others_pass_and_takes_no_place() -> None:
    jobs = [job(0, 100, 1, application=5) for _ in range(3)]
    jobs += [job(10, 100, 1, user=2, application=6), job(20, 100, 1), job(20, 100, 1)]

    def found(**limits: int) -> list[float]:
        options = Options(boot_s=0, limits=QueueLimits(**limits))
        return waits(run_pool(pool(8, at_least=1), jobs, options), jobs)

    assert found(max_running_per_application=1) == [0, 100, 200, 0, 0, 0]
    assert found(max_running_per_application=2, max_running=3) == [0, 0, 100, 0, 80, 90]


def test_jobs_of_a_queue_with_a_priority_find_room_after_ten_seconds() -> None:
    """Others make it, wait for a minute and begin again. The machine has one core free when the
    last job comes, and claims it before there is room.
    """
    jobs = [job(0, 300, 1), job(0, 300, 3), job(100, 50, 1, user=2)]
    jobs += [job(165, 20, 4, user=2)]
    machine = pool(4, at_least=1)
    found = run_pool(machine, jobs, Options(boot_s=0, priorities={2: 7}))
    stops = [(one.at_s, one.job, one.cause) for one in found.stops]

    assert stops == [(110, 0, 2), (175, 1, 3)]
    assert list(found.starts) == [195, 235, 110, 175]
    assert waits(run_pool(machine, jobs, AT_ONCE), jobs) == [0, 0, 200, 185]
    assert figures_of(found, jobs)["preempted"] == 2


def test_limits_of_losses_and_preemptions_are_those_of_the_driver() -> None:
    settings = load_settings(environ={})

    for name in ("losses_max", "spot_losses_max", "preempt_after_s", "preempted_wait_s"):
        assert getattr(AT_ONCE, name) == getattr(settings, name)


def test_a_job_that_is_lost_again_and_again_goes_to_a_machine_that_stays() -> None:
    """Taken back after six minutes on average, a machine does not run a job of two hours."""
    jobs = [job(0, 7200, 1)]
    options = Options(boot_s=0, losses_per_hour=10)
    stays = run_pool(pool(1, 2, at_most=2, spot=[1]), jobs, options)
    only_spot = run_pool(pool(1, at_most=2, spot=[1]), jobs, options)
    none = run_pool(pool(1, at_most=2, spot=[1]), jobs, AT_ONCE)

    assert (stays.lost, stays.errors) == ({0: 2}, {})
    assert [one.cpu_m for one in stays.machines if one.name == stays.placed[0]] == [2000]
    assert figures_of(stays, jobs)["lost_attempts"] == 2
    assert (only_spot.lost, list(only_spot.errors)) == ({0: 6}, [0])
    assert figures_of(only_spot, jobs)["utilisation"] == 0
    assert (none.lost, waits(none, jobs)) == ({}, [0])


def test_a_pool_grows_and_shrinks() -> None:
    """Idle from 100 on, seen as idle for 30 s at 135, deleted 15 s later."""
    jobs = [job(0, 100, 4), job(1000, 100, 2)]
    found = run_pool(pool(4), jobs, AT_ONCE)

    assert waits(found, jobs) == [0, 0]
    assert [(one.begin_s, one.end_s) for one in found.machines] == [(0, 150), (1000, 1100)]
    figures = figures_of(found, jobs)
    assert figures["machine_hours"] == round(250 / 3600, 2)
    assert figures["core_hours"] == round(1000 / 3600, 2)
    assert figures["cost"] == round(1000 / 3600, 2)
    assert figures["utilisation"] == 0.6
    assert equal_cpu_m(found, jobs) == 4000


def test_a_job_waits_for_its_machine() -> None:
    jobs = [job(0, 100, 2)]
    (wait,) = waits(run_pool(pool(4), jobs, Options(boot_s=60, seed=7)), jobs)

    assert 30 <= wait <= 90


def test_a_job_that_no_free_machine_holds_gets_a_larger_one() -> None:
    jobs = [job(0, 100, 1), job(1, 100, 8)]
    found = run_pool(pool(2, 8, at_most=2), jobs, AT_ONCE)

    assert sorted(one.cpu_m for one in found.machines) == [2000, 8000]
    assert waits(found, jobs) == [0, 14], "it is asked for 15 s after the other"


def test_figures_of_waits() -> None:
    jobs = [job(0, 100, 4), job(0, 5, 4, user=2)]
    found = run_fifo(jobs, 4000)
    figures = figures_of(found, jobs, cost=3.0)

    assert figures["wait_s"] == {"mean": 50, "p50": 0, "p95": 100, "max": 100}
    assert figures["slowdown"]["max"] == 10.5
    assert figures["cost"] == 3.0
    assert [(one["user"], one["wait_s"]["fifo"]["mean"]) for one in users_of([found], jobs)] == [
        (1, 0),
        (2, 100),
    ]


def test_a_job_larger_than_all_machines_is_refused() -> None:
    small = pool(2, 4)

    with pytest.raises(JobNeverStarts, match="asks for 8 cores") as refused:
        check_sizes(small, [job(0, 1, 8)], trace="t.swf")
    assert "largest flavour within the quota has 4" in refused.value.detail
    with pytest.raises(JobNeverStarts, match="makes no machines"):
        check_sizes(pool(8, at_most=0), [job(0, 1, 8)], trace="t.swf")


def test_a_job_for_which_no_place_becomes_free_is_refused() -> None:
    """A small machine that the pool keeps gives way to one that holds the job."""
    large = [job(0, 1, 8)]
    assert waits(run_pool(pool(2, 8, at_least=1), large, AT_ONCE), large)[0] < 60
    closed = Options(boot_s=0, limits=QueueLimits(max_running=0))
    with pytest.raises(JobNeverStarts, match="never starts"):
        run_pool(pool(8), large, closed)


traces = st.lists(
    st.builds(
        job,
        st.integers(0, 500),
        st.integers(0, 300),
        st.integers(1, 8),
        st.integers(1, 4),
        st.integers(0, 400),
        st.sampled_from([-1, 1, 2]),
    ),
    min_size=1,
    max_size=25,
).map(lambda jobs: sorted(jobs, key=lambda one: one.submit_s))
pools = st.builds(
    lambda small, kept, more, idle_s: pool(
        small, 8, at_least=kept, at_most=kept + 1 + more, idle_s=idle_s
    ),
    st.integers(1, 7),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from([0.0, 30.0, 400.0]),
)
limits = st.builds(
    QueueLimits,
    max_running=st.none() | st.integers(1, 5),
    max_running_per_user=st.none() | st.integers(1, 3),
    max_running_per_application=st.none() | st.integers(1, 3),
)
options = st.builds(
    Options, seed=st.integers(0, 9), boot_s=st.sampled_from([0.0, 7.0, 60.0]), limits=limits
)
losses = st.builds(
    Options,
    seed=st.integers(0, 9),
    losses_per_hour=st.sampled_from([1.0, 10.0, 60.0]),
    losses_max=st.integers(0, 4),
    spot_losses_max=st.integers(1, 3),
    limits=limits,
)


urgent = st.builds(
    Options,
    boot_s=st.sampled_from([0.0, 60.0]),
    priorities=st.dictionaries(st.integers(1, 4), st.integers(0, 2), min_size=1, max_size=4),
    preempt_after_s=st.sampled_from([0.0, 10.0, 100.0]),
    preempted_wait_s=st.sampled_from([0.0, 60.0]),
    losses_max=st.integers(1, 3),
    limits=limits,
)


def check(outcome: TraceOutcome, jobs: Sequence[TraceJob]) -> None:
    """Check that each job ran on a machine that was there and had room."""
    machines = {one.name: one for one in outcome.machines}
    assert len(outcome.starts) == len(outcome.placed) == len(jobs)
    changes: dict[str, list[tuple[float, int]]] = {name: [] for name in machines}
    for index, (one, start, name) in enumerate(
        zip(jobs, outcome.starts, outcome.placed, strict=True)
    ):
        assert start >= one.submit_s
        assert machines[name].begin_s <= start
        end = outcome.errors.get(index, start + one.run_s)
        assert start <= end <= machines[name].end_s
        if one.run_s and index not in outcome.errors:
            changes[name] += [(start, one.cpu_m), (start + one.run_s, -one.cpu_m)]
    for stop in outcome.stops:
        if stop.began_s < stop.at_s:
            cpu_m = jobs[stop.job].cpu_m
            changes[stop.machine] += [(stop.began_s, cpu_m), (stop.at_s, -cpu_m)]
    for name, own in changes.items():
        used = 0
        for _, change in sorted(own):
            used += change
            assert used <= machines[name].cpu_m


@given(jobs=traces, pool=pools, options=options)
def test_each_job_runs_once_on_a_machine_with_room(
    jobs: list[TraceJob], pool: Pool, options: Options
) -> None:
    found = run_pool(pool, jobs, options)

    check(found, jobs)
    check_maximum(pool, found.machines)
    assert run_pool(pool, jobs, options) == found


@given(jobs=traces, small=st.integers(1, 7), room=st.integers(0, 2), options=losses)
def test_a_job_that_was_lost_too_often_stays_or_is_an_error(
    jobs: list[TraceJob], small: int, room: int, options: Options
) -> None:
    """Nothing stays that holds more than the small machines do."""
    spot = pool(small, 8, at_most=2 + room, spot=[8])
    found = run_pool(spot, jobs, options)
    cores = {one.name: one.cpu_m for one in found.machines}

    check(found, jobs)
    check_maximum(spot, found.machines)
    assert run_pool(spot, jobs, options) == found
    assert found.errors.keys() == {
        index for index, count in found.lost.items() if count > options.losses_max
    }
    for index, count in found.lost.items():
        assert count <= options.losses_max + 1
        if jobs[index].cpu_m <= small * 1000:
            assert count <= options.spot_losses_max
            is_last = count == options.spot_losses_max and index not in found.errors
            assert not is_last or cores[found.placed[index]] == small * 1000


@given(jobs=traces, pool=pools, options=urgent)
def test_nobody_is_stopped_twice_for_the_same_cause_without_progress(
    jobs: list[TraceJob], pool: Pool, options: Options
) -> None:
    """Between two times at which others were stopped for a job it has begun."""
    found = run_pool(pool, jobs, options)
    begins: dict[int, list[float]] = {index: [at] for index, at in enumerate(found.starts)}
    times: dict[int, set[float]] = {}
    for stop in found.stops:
        begins[stop.job].append(stop.began_s)
        times.setdefault(stop.cause, set()).add(stop.at_s)

    check(found, jobs)
    assert run_pool(pool, jobs, options) == found
    for cause, ats in times.items():
        for before, after in pairwise(sorted(ats)):
            assert any(before <= at < after for at in begins[cause])
        assert min(ats) >= jobs[cause].submit_s + options.preempt_after_s
    for stop in found.stops:
        high = options.priorities[jobs[stop.cause].user]
        assert options.priorities.get(jobs[stop.job].user, -1) < high
    assert max(Counter(stop.job for stop in found.stops).values(), default=0) <= (
        options.losses_max
    )


@given(jobs=traces, pool=pools, options=options)
def test_no_more_jobs_run_than_the_queue_allows(
    jobs: list[TraceJob], pool: Pool, options: Options
) -> None:
    found = run_pool(pool, jobs, options)
    spans = [
        (start, start + one.run_s, one)
        for one, start in zip(jobs, found.starts, strict=True)
        if one.run_s
    ]

    for at, _, _ in spans:
        running = [one for start, end, one in spans if start <= at < end]
        users = Counter(one.user for one in running)
        keys = Counter(one.application for one in running if one.application > 0)
        assert len(running) <= (options.limits.max_running or len(jobs))
        assert max(users.values()) <= (options.limits.max_running_per_user or len(jobs))
        assert max(keys.values(), default=0) <= (
            options.limits.max_running_per_application or len(jobs)
        )


def check_maximum(pool: Pool, machines: Sequence[MachineTime]) -> None:
    for one in machines:
        others = [x for x in machines if x.begin_s <= one.begin_s < x.end_s]
        assert len(others) <= pool.max_workers


@given(jobs=traces, cores=st.integers(8, 20))
def test_first_come_is_first_served(jobs: list[TraceJob], cores: int) -> None:
    found = run_fifo(jobs, cores * 1000)

    check(found, jobs)
    assert list(found.starts) == sorted(found.starts)


@given(jobs=traces, cores=st.integers(8, 20))
def test_easy_keeps_what_it_promised_to_the_first_of_the_queue(
    jobs: list[TraceJob], cores: int
) -> None:
    promises: dict[int, float] = {}
    found = run_easy(jobs, cores * 1000, promises)

    check(found, jobs)
    for index, latest in promises.items():
        assert found.starts[index] <= latest
