"""Which machines a pool keeps for large jobs, and which are made for one job."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.test_pool_decisions import JOB, POOL, SMALL, machine, told
from weft.core.pools import Machine, OwnJob, decide_all
from weft.core.pools.keep import (
    KEPT_MAX,
    LARGE,
    KeptJob,
    LongWaiting,
    Room,
    Running,
    fill_gaps,
    keep_workers,
)

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

KEPT = st.builds(
    KeptJob,
    batch_id=st.just(9),
    job_id=st.integers(1, 50),
    user_id=st.integers(1, 4),
    cpu_m=st.integers(1, 8000),
    memory_mib=st.integers(1, 8000),
)
SECONDS = st.integers(0, 100).map(float)
RUNNING = st.lists(
    st.builds(
        Running,
        cpu_m=st.integers(1, 3000),
        memory_mib=st.integers(1, 3000),
        started=st.sampled_from([True, True, False]),
        at_least_s=st.none() | SECONDS,
        at_most_s=st.none() | SECONDS,
    ),
    max_size=5,
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
                lanes=tuple(draw(st.sets(st.integers(0, 2)))),
                running=tuple(draw(RUNNING)),
                kept_for=draw(st.none() | st.none() | KEPT),
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

    users = [one.kept_for.user_id for one in workers if one.kept_for is not None]
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
        LongWaiting(1, n, user, 4000, 1, 0, waited)
        for n, user, waited in ((1, 1, 20.0), (2, 1, 30.0), (3, 2, 40.0))
    ]
    workers = [
        Room(n, 4000, 100, (0,), (Running(used, 0),))
        for n, used in ((1, 4000), (2, 1000), (3, 3000), (4, 4000))
    ]

    assert keep_workers(jobs, workers, after_s=AFTER_S) == [(2, 1, 3, None), (3, 1, 2, None)]


def test_a_job_gets_the_worker_where_time_limits_make_room_first() -> None:
    job = LongWaiting(1, 1, 1, 4000, 1, 0, AFTER_S)
    late, soon = Running(1000, 0, True, 50, 60), Running(4000, 0, True, 20, 30)  # noqa: FBT003
    known = [Room(1, 4000, 100, (0,), (late,)), Room(2, 4000, 100, (0,), (soon,))]
    unknown = Room(3, 4000, 100, (0,), (Running(2000, 0),))

    assert keep_workers([job], known, after_s=AFTER_S) == [(2, 1, 1, 20)]
    assert keep_workers([job], [*known, unknown], after_s=AFTER_S) == [(1, 1, 1, 50)]


def test_nothing_fills_the_gap_while_its_end_is_unknown() -> None:
    job = KeptJob(1, 1, 1, 4000, 1)
    ends, endless = Running(2000, 0, True, 50, 60), Running(1000, 0)  # noqa: FBT003
    new = Running(1000, 0, started=False, at_least_s=5, at_most_s=5)

    def filled(*running: Running) -> list[float | None]:
        return [one.fill_s for one in fill_gaps([Room(1, 4000, 100, (0,), running, job)])]

    assert filled(ends) == [50]
    assert filled(ends, endless) == []
    assert filled(ends, new) == []


@given(st.data(), RUNNING, KEPT)
def test_what_fills_the_gap_delays_no_large_job(
    data: st.DataObject, running: list[Running], job: KeptJob
) -> None:
    """Limits are known as ranges; the large job starts by the ends that they really are."""
    limited = [Running(one.cpu_m, one.memory_mib, at_least_s=one.at_least_s) for one in running]
    ends_s = [
        None if one.at_least_s is None else one.at_least_s + data.draw(SECONDS) for one in limited
    ]
    exact = [
        Running(o.cpu_m, o.memory_mib, at_least_s=e) for o, e in zip(limited, ends_s, strict=True)
    ]

    def fill_s(attempts: list[Running]) -> float | None:
        found = fill_gaps([Room(1, 8000, 8000, (0,), tuple(attempts), job)])
        return found[0].fill_s if found else None

    may_s, starts_s = fill_s(limited), fill_s(exact)
    if may_s is None or starts_s is None:
        assert starts_s is None
        return
    room = Room(1, 8000, 8000, (0,), tuple(exact))
    short = data.draw(RUNNING)
    fits = [
        Running(one.cpu_m, one.memory_mib, at_least_s=may_s)
        for one in short
        if sum(x.cpu_m for x in short) <= room.cpu_m_free
        and sum(x.memory_mib for x in short) <= room.memory_mib_free
    ]

    assert may_s <= starts_s
    assert fill_s([*exact, *fits]) == starts_s


replace = msgspec.structs.replace
LIMITED = replace(POOL, regions=("a", "b"), quota_cpu_m=6000)


def job(number: int = 1, **more: object) -> OwnJob:
    """Return a job that wants a small machine."""
    usual = OwnJob(
        batch_id=1, job_id=number, cpu_m=1000, memory_mib=512, asks={"machine": "small"}
    )
    return replace(usual, **more)


def own(name: str, **more: object) -> Machine:
    """Return a machine on which its job runs."""
    return machine(name, **{"is_own": True, "is_needed": True, "n_running": 1, **more})


def test_each_job_gets_a_machine_of_its_flavour() -> None:
    large = job(2, asks={"machine": "large"}, cpu_m=3000)
    decisions = decide_all(POOL, [], [job(), large], [machine("idle")])

    assert [(one.flavour, one.job) for one in decisions] == [
        ("small", (1, 1)),
        ("large", (1, 2)),
    ]


def test_a_job_that_no_machine_could_hold_gets_none() -> None:
    wrong = [
        job(asks={"machine": "none"}),
        job(cpu_m=3000),
        job(memory_mib=5000),
        job(asks={"machine": "small", "rack": "1"}),
    ]

    assert decide_all(POOL, [], wrong, []) == []
    assert decide_all(LIMITED, [], [job()], [], ["a", "b"]) == []


def test_no_other_job_is_placed_on_them() -> None:
    there = [own("busy"), own("waits", n_running=0), own("new", state="creating", n_running=0)]

    assert told(decide_all(POOL, [JOB], [], there)) == [("create", "small")]


def test_machines_go_with_their_job_or_if_they_do_not_come() -> None:
    there = [
        own("needed"),
        own("over", is_needed=False, n_running=0),
        own("unused", n_running=0, state_s=901),
        own("late", state="creating", has_worker=False, n_running=0, state_s=901),
        own("coming", state="creating", has_worker=False, n_running=0, state_s=899),
        own("lost", has_worker=False, n_running=0),
        own("going", state="deleting", is_needed=False, n_running=0),
        own("held", is_held=True, is_needed=False, n_running=0),
    ]
    decisions = decide_all(replace(POOL, max_workers=9), [], [], there)

    assert [(one.kind, one.machine, one.reason) for one in decisions] == [
        ("delete", "over", "its job needs it no more"),
        ("delete", "unused", "its job did not start there within 900 s"),
        ("delete", "late", "no worker came within 900 s"),
        ("delete", "lost", "its worker is gone"),
    ]


def test_regions_with_fewest_machines_come_first_within_the_quota() -> None:
    found = decide_all(LIMITED, [], [job(n) for n in range(4)], [machine("x", region="a")])

    assert [one.region for one in found] == ["b", "a"]


def test_both_kinds_of_machines_get_their_part() -> None:
    many, jobs = [replace(JOB, n_jobs=99)], [job(n) for n in range(9)]

    assert [one.job is None for one in decide_all(POOL, many, jobs, [])] == [
        False,
        False,
        True,
        True,
    ]
    assert [one.job is None for one in decide_all(POOL, [JOB], jobs, [])].count(False) == 3
    assert [one.job is None for one in decide_all(POOL, many, jobs[:1], [])].count(False) == 1
    busy = [machine(f"m{n}", used_cpu_m=2000, n_running=1) for n in range(3)]
    assert [one.job for one in decide_all(POOL, many, jobs, busy)] == [(1, 0)]
    alone = [own(f"m{n}") for n in range(3)]
    assert [one.job for one in decide_all(POOL, many, jobs, alone)] == [None]


@given(
    n_jobs=st.integers(0, 12),
    n_demand=st.integers(0, 12),
    n_own=st.integers(0, 6),
    n_shared=st.integers(0, 6),
    most=st.integers(0, 8),
    each_round=st.integers(1, 5),
)
def test_there_are_never_too_many(
    n_jobs: int, n_demand: int, n_own: int, n_shared: int, most: int, each_round: int
) -> None:
    """Of the maximum, of one round and of the quota; and no room is left while jobs want it."""
    pool = replace(POOL, max_workers=most, creates_per_round=each_round)
    there = [own(f"o{n}") for n in range(n_own)]
    there += [machine(f"s{n}", used_cpu_m=2000, n_running=1) for n in range(n_shared)]
    demand = [replace(JOB, cpu_m=SMALL.cpu_m, n_jobs=n_demand)] if n_demand else []
    found = decide_all(pool, demand, [job(n) for n in range(n_jobs)], there)
    made = [one for one in found if one.kind == "create"]
    room = max(min(each_round, most - n_own - n_shared), 0)

    assert len(made) == min(room, n_jobs + n_demand)
    assert len({one.job for one in made if one.job}) == sum(one.job is not None for one in made)
