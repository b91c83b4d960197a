"""What is true of every trace: each job runs once, nothing is used twice, nobody is overtaken."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simulator.traces import job, pool
from weft.core.pools import Pool
from weft.core.swf import TraceJob
from weft.extensions.simulator.model import (
    MachineTime,
    Options,
    QueueLimits,
    TraceOutcome,
    run_easy,
    run_fifo,
    run_pool,
)

traces = st.lists(
    st.builds(
        job, st.integers(0, 500), st.integers(0, 300), st.integers(1, 8), st.integers(1, 4),
        st.integers(0, 400), st.sampled_from([-1, 1, 2]),
    ),
    min_size=1, max_size=25,
).map(lambda jobs: sorted(jobs, key=lambda one: one.submit_s))  # fmt: skip
pools = st.builds(
    lambda small, kept, more, idle_s: pool(
        small, 8, at_least=kept, at_most=kept + 1 + more, idle_s=idle_s
    ),
    st.integers(1, 7), st.integers(0, 2), st.integers(0, 2), st.sampled_from([0.0, 30.0, 400.0]),
)  # fmt: skip
limits = st.builds(
    QueueLimits,
    max_running=st.none() | st.integers(1, 5), max_running_per_user=st.none() | st.integers(1, 3),
    max_running_per_application=st.none() | st.integers(1, 3),
)  # fmt: skip
options = st.builds(
    Options, seed=st.integers(0, 9), boot_s=st.sampled_from([0.0, 7.0, 60.0]), limits=limits
)
losses = st.builds(
    Options, seed=st.integers(0, 9), losses_per_hour=st.sampled_from([1.0, 10.0, 60.0]),
    losses_max=st.integers(0, 4), spot_losses_max=st.integers(1, 3), limits=limits,
)  # fmt: skip


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
