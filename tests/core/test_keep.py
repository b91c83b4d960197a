"""Which workers are kept for large jobs: on random pools."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.pools.keep import KEPT_MAX, LARGE, LongWaiting, Room, keep_workers

AFTER_S = 10.0
JOBS = st.lists(
    st.builds(
        LongWaiting,
        batch_id=st.integers(1, 3),
        job_id=st.integers(1, 50),
        user_id=st.integers(1, 4),
        lane_id=st.integers(0, 2),
        cpu_m=st.integers(1, 9000),
        memory_mib=st.integers(1, 9000),
        waited_s=st.floats(0, 100),
    ),
    max_size=20,
    unique_by=lambda one: (one.batch_id, one.job_id),
)


@st.composite
def rooms(draw: st.DrawFn) -> list[Room]:
    found = []
    for number in range(1, draw(st.integers(0, 8)) + 1):
        cpu_m, memory_mib = draw(st.integers(1, 8000)), draw(st.integers(1, 8000))
        found.append(
            Room(
                incarnation_id=number,
                cpu_m=cpu_m,
                memory_mib=memory_mib,
                cpu_m_free=draw(st.integers(-1000, cpu_m)),
                memory_mib_free=draw(st.integers(-1000, memory_mib)),
                lanes=tuple(draw(st.sets(st.integers(0, 2)))),
                kept_for=draw(st.none() | st.none() | st.integers(1, 4)),
            )
        )
    return found


@given(JOBS, rooms())
def test_only_large_jobs_that_waited_long_get_workers_that_can_hold_them(
    jobs: list[LongWaiting], workers: list[Room]
) -> None:
    job_of = {(one.batch_id, one.job_id): one for one in jobs}
    room_of = {one.incarnation_id: one for one in workers}
    found = keep_workers(jobs, workers, after_s=AFTER_S)
    for one in found:
        job, room = job_of[one.batch_id, one.job_id], room_of[one.incarnation_id]
        assert job.waited_s >= AFTER_S
        assert job.lane_id in room.lanes
        assert job.cpu_m <= room.cpu_m
        assert job.memory_mib <= room.memory_mib
        assert job.cpu_m > LARGE * room.cpu_m or job.memory_mib > LARGE * room.memory_mib
        assert room.kept_for is None

    users = [one.kept_for for one in workers if one.kept_for is not None]
    new = [job_of[one.batch_id, one.job_id].user_id for one in found]
    assert len(set(new)) == len(new)
    assert not set(new) & set(users)
    assert len({one.incarnation_id for one in found}) == len(found)
    if found:
        assert len(found) + len(users) <= max(1, len(workers) * KEPT_MAX)


@given(JOBS, rooms())
def test_a_job_gets_one_if_nothing_is_kept_and_a_worker_can_hold_it(
    jobs: list[LongWaiting], workers: list[Room]
) -> None:
    able = any(
        job.waited_s >= AFTER_S
        and job.lane_id in room.lanes
        and job.cpu_m <= room.cpu_m
        and job.memory_mib <= room.memory_mib
        and (job.cpu_m > LARGE * room.cpu_m or job.memory_mib > LARGE * room.memory_mib)
        for job in jobs
        for room in workers
    )
    if all(one.kept_for is None for one in workers):
        assert bool(keep_workers(jobs, workers, after_s=AFTER_S)) == able


def test_the_longest_waiting_gets_the_worker_that_lacks_least() -> None:
    jobs = [
        LongWaiting(1, n, user, 0, 4000, 1, waited)
        for n, user, waited in ((1, 1, 20.0), (2, 1, 30.0), (3, 2, 40.0))
    ]
    workers = [
        Room(n, 4000, 100, free, 100, (0,)) for n, free in ((1, 0), (2, 3000), (3, 1000), (4, 0))
    ]

    assert keep_workers(jobs, workers, after_s=AFTER_S) == [(2, 1, 3), (3, 1, 2)]
