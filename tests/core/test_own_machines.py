"""Which machines are made for one job each, and which of them go."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.test_pool_decisions import JOB, POOL, SMALL, machine, told
from weft.core.pools import Machine, OwnJob, decide_all

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
        ("small", (1, 1)), ("large", (1, 2)),
    ]  # fmt: skip


def test_a_job_that_no_machine_could_hold_gets_none() -> None:
    wrong = [
        job(asks={"machine": "none"}), job(cpu_m=3000), job(memory_mib=5000),
        job(asks={"machine": "small", "rack": "1"}),
    ]  # fmt: skip

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
        False, False, True, True,
    ]  # fmt: skip
    assert [one.job is None for one in decide_all(POOL, [JOB], jobs, [])].count(False) == 3
    assert [one.job is None for one in decide_all(POOL, many, jobs[:1], [])].count(False) == 1
    busy = [machine(f"m{n}", used_cpu_m=2000, n_running=1) for n in range(3)]
    assert [one.job for one in decide_all(POOL, many, jobs, busy)] == [(1, 0)]
    alone = [own(f"m{n}") for n in range(3)]
    assert [one.job for one in decide_all(POOL, many, jobs, alone)] == [None]


@given(
    n_jobs=st.integers(0, 12), n_demand=st.integers(0, 12), n_own=st.integers(0, 6),
    n_shared=st.integers(0, 6), most=st.integers(0, 8), each_round=st.integers(1, 5),
)  # fmt: skip
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
