"""Which machines a pool makes, cordons and deletes."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from weft.api.use_cases.pools import pools_of
from weft.core.pools import Decision, Demand, Flavour, Machine, Pool, decide, offers_of, used_share
from weft.core.problems import Problems
from weft.core.scheduling.offers import serves
from weft.wire.documents.pools import PoolDocument

EXAMPLES = Path(__file__).parents[2] / "examples" / "pools"
SMALL = Flavour(name="small", cpu_m=2000, memory_mib=4096)
LARGE = Flavour(name="large", cpu_m=8000, memory_mib=32768, labels={"disk": "fast"})
POOL = Pool(
    name="p", provider="none", max_workers=4, idle_s=60, stale_s=900, flavours=(SMALL, LARGE)
)
JOB = Demand(cpu_m=1000, memory_mib=512)
replace = msgspec.structs.replace


def machine(name: str, **more: object) -> Machine:
    """Return an active machine of the small flavour on which nothing runs."""
    usual = Machine(
        name=name, flavour="small", cpu_m=2000, memory_mib=4096, offers=offers_of("p", SMALL, "")
    )
    return replace(usual, **more)


def told(decisions: Sequence[Decision]) -> list[tuple[str, str]]:
    """Return kind and machine, or the flavour of a new one."""
    return [(one.kind, one.machine or one.flavour) for one in decisions]


def test_a_pool_grows_by_what_has_no_room() -> None:
    jobs = [replace(JOB, n_jobs=5)]
    there = [machine("a", used_cpu_m=1000, n_running=1), machine("b", state="creating")]
    decisions = decide(POOL, jobs, there)

    assert told(decisions) == [("create", "small")]
    assert decisions[0].reason == "no room elsewhere for 2 jobs"
    assert decide(POOL, [JOB], [machine("a")]) == []
    assert decide(POOL, [JOB], [machine("w", flavour=None)]) == []


def test_the_first_flavour_that_holds_a_job_is_made() -> None:
    big = replace(JOB, cpu_m=4000, n_jobs=3)
    fast = replace(JOB, asks={"disk": "fast"})
    never = replace(JOB, asks={"disk": "slow"})

    assert told(decide(POOL, [big], [])) == [("create", "large"), ("create", "large")]
    assert told(decide(POOL, [fast, never], [])) == [("create", "large")]
    assert told(decide(POOL, [big, JOB], [])) == [("create", "large")] * 2
    assert decide(POOL, [replace(JOB, asks={"gpu": 1})], []) == []


def test_short_jobs_follow_each_other_within_the_window() -> None:
    short = replace(JOB, n_jobs=300, runs_s=1.0)

    assert told(decide(POOL, [short], [])) == [("create", "small")]
    assert len(decide(POOL, [replace(short, runs_s=3.0)], [])) == 3
    assert len(decide(POOL, [replace(short, runs_s=150.0)], [])) == 4
    assert len(decide(POOL, [replace(short, n_jobs=1, runs_s=0.0)], [])) == 1


def test_a_new_machine_says_for_how_many_jobs_it_is_made() -> None:
    """Of all that had no room, also of those that follow each other there."""
    short, long = replace(JOB, n_jobs=300, runs_s=1.0), replace(JOB, n_jobs=300)
    few = replace(POOL, max_workers=2, flavours=(SMALL,))

    assert [one.reason for one in decide(POOL, [short], [])] == ["no room elsewhere for 300 jobs"]
    assert [one.reason for one in decide(few, [long], [])] == [
        "no room elsewhere for 2 of 300 jobs"
    ] * 2
    (back, *_) = decide(POOL, [short], [machine("a", state="cordoned")])
    assert (back.kind, back.reason) == ("uncordon", "300 jobs can start on it")


def test_slots_and_amounts_are_used_up() -> None:
    licensed = machine("a", offers={**offers_of("p", SMALL, ""), "matlab": 1})
    slots = machine("a", offers={**offers_of("p", SMALL, ""), "slots": 1})

    assert decide(POOL, [replace(JOB, asks={"matlab": 1})], [licensed]) == []
    assert told(decide(POOL, [replace(JOB, n_jobs=2)], [slots])) == [("create", "small")]


def test_a_machine_is_made_for_gpus_and_amounts_that_its_flavour_has() -> None:
    rich = replace(LARGE, gpus=2, countables={"matlab": 1})
    pool = replace(POOL, flavours=(SMALL, rich))

    assert told(decide(pool, [replace(JOB, asks={"gpu": 2})], [])) == [("create", "large")]
    assert len(decide(pool, [replace(JOB, asks={"gpu": 1}, n_jobs=3)], [])) == 2
    assert told(decide(pool, [replace(JOB, asks={"matlab": 1})], [])) == [("create", "large")]
    assert decide(pool, [replace(JOB, asks={"gpu": 3})], []) == []
    assert decide(pool, [replace(JOB, asks={"matlab": 2})], []) == []


def test_regions_that_are_closed_are_passed_over() -> None:
    pool = replace(POOL, regions=("a", "b"))
    first, second = (decide(pool, [JOB], [], closed) for closed in ((), ("a",)))
    there = [machine("x", region="a", offers=offers_of("p", SMALL, "a"))]
    other = replace(JOB, asks={"region": "b"})

    assert [one.region for one in [*first, *second]] == ["a", "b"]
    assert [one.region for one in decide(pool, [other], there)] == ["b"]
    assert decide(pool, [JOB], [], ("a", "b")) == []


def test_interleaved_regions_do_not_block_each_other() -> None:
    """A job of a region without room is no reason to make machines elsewhere, nor stops others."""
    pool = replace(POOL, regions=("a", "b"), max_workers=2, creates_per_round=1)
    jobs = [replace(JOB, asks={"region": region}) for region in "abab"]
    there: list[Machine] = []
    for _ in range(2):
        (new,) = decide(pool, jobs, there)
        offers = offers_of("p", SMALL, new.region)
        there.append(machine(new.region, state="creating", region=new.region, offers=offers))

    assert [one.region for one in there] == ["a", "b"]
    assert decide(pool, jobs, there) == []


def test_a_job_may_name_several_regions() -> None:
    pool = replace(POOL, regions=("a", "b", "c"))
    wanted = replace(JOB, asks={"region": ["b", "c"]})

    assert [one.region for one in decide(pool, [wanted], [])] == ["b"]
    assert [one.region for one in decide(pool, [wanted], [], ("b",))] == ["c"]


def test_new_machines_are_spread_over_regions() -> None:
    pool = replace(POOL, regions=("a", "b", "c"), max_workers=9, min_workers=6)
    there = [machine("x", region="a", offers=offers_of("p", SMALL, "a"))]
    jobs = [replace(JOB, n_jobs=9)]

    assert [one.region for one in decide(pool, jobs, there)] == ["b", "c", "a", "b", "c"]
    assert [one.region for one in decide(pool, [], there, ("b",))] == ["c", "a", "c", "a", "c"]


def test_limits_of_a_round_and_a_quota() -> None:
    many = [replace(JOB, n_jobs=100)]
    slow = replace(POOL, creates_per_round=3)
    quota = replace(POOL, quota_cpu_m=8000, quota_share=0.9)

    assert len(decide(POOL, many, [])) == 4
    assert len(decide(slow, many, [])) == 3
    assert len(decide(quota, many, [machine("a", used_cpu_m=2000)])) == 2
    assert decide(POOL, many, [machine(f"{n}", used_cpu_m=2000) for n in range(4)]) == []


def test_a_minimum_is_kept_and_a_batch_made() -> None:
    kept = replace(POOL, min_workers=2)
    batch = replace(POOL, create_batch=3)
    idle = [machine(name, idle_s=100) for name in "abc"]

    assert told(decide(kept, [], [])) == [("create", "small")] * 2
    assert told(decide(batch, [JOB], [])) == [("create", "small")] * 3
    assert decide(batch, [], []) == []
    assert told(decide(kept, [], idle)) == [("cordon", "a")]


def test_an_idle_machine_is_cordoned_looked_at_again_and_deleted() -> None:
    idle = machine("a", idle_s=61)
    (cordon,) = decide(POOL, [], [idle])
    cordoned = replace(idle, state="cordoned")
    busy = replace(cordoned, n_running=1, used_cpu_m=1000)

    assert (cordon.kind, cordon.reason) == ("cordon", "nothing ran on it for 61 s")
    assert decide(POOL, [], [replace(idle, idle_s=59)]) == []
    assert decide(POOL, [JOB], [idle]) == []
    assert told(decide(POOL, [], [cordoned])) == [("delete", "a")]
    assert decide(POOL, [], [busy]) == []
    assert told(decide(POOL, [JOB], [cordoned])) == [("uncordon", "a")]
    assert decide(POOL, [], [replace(cordoned, is_held=True)]) == []
    assert decide(POOL, [], [replace(cordoned, state="deleting")]) == []


def test_a_machine_of_an_older_description_goes_when_it_is_idle() -> None:
    old = machine("a", is_old=True)
    busy = replace(old, n_running=1, used_cpu_m=1000)
    kept = replace(POOL, min_workers=1, deletes_per_round=1)
    (cordon,) = decide(kept, [], [old])

    assert (cordon.kind, cordon.machine) == ("cordon", "a")
    assert cordon.reason.startswith("its flavour is described otherwise")
    assert told(decide(kept, [JOB], [old])) == [("create", "small"), ("cordon", "a")]
    assert told(decide(kept, [], [old, machine("b", is_old=True)])) == [("cordon", "a")]
    assert decide(POOL, [JOB], [busy]) == []
    cordoned = replace(old, state="cordoned")
    assert told(decide(kept, [JOB], [cordoned])) == [("create", "small"), ("delete", "a")]
    assert decide(kept, [], [replace(old, is_held=True)]) == []


def test_a_machine_on_which_everything_fails_is_replaced() -> None:
    broken = machine("a", is_broken=True)
    busy = replace(broken, n_running=1, used_cpu_m=1000)
    kept, full = replace(POOL, min_workers=1), replace(POOL, max_workers=1)
    deleted, new = decide(kept, [], [broken])

    assert told([deleted, new]) == [("delete", "a"), ("create", "small")]
    assert deleted.reason.startswith("attempts fail at once on it")
    assert told(decide(POOL, [JOB], [broken])) == [("delete", "a"), ("create", "small")]
    assert told(decide(full, [JOB], [broken])) == [("delete", "a")]
    assert told(decide(POOL, [JOB], [busy])) == [("create", "small")]
    assert told(decide(POOL, [JOB], [replace(broken, flavour=None)])) == [("create", "small")]


def test_only_a_share_of_the_idle_machines_goes_in_a_round() -> None:
    pool = replace(POOL, max_workers=10, delete_share=0.34, deletes_per_round=2)
    idle = [machine(f"{n}", idle_s=100) for n in range(9)]

    assert told(decide(pool, [], idle[:1])) == [("cordon", "0")]
    assert told(decide(pool, [], idle[:3])) == [("cordon", "0")]
    assert told(decide(pool, [], idle)) == [("cordon", "0"), ("cordon", "1")]


def test_machines_beyond_a_lowered_maximum_go_when_they_are_empty() -> None:
    pool = replace(POOL, max_workers=1)
    busy = [machine(name, n_running=n, used_cpu_m=1000) for name, n in (("a", 2), ("b", 1))]
    (decision,) = decide(pool, [], busy)

    assert (decision.kind, decision.machine) == ("cordon", "b")
    assert decision.reason == "the pool has more machines than 1"
    still = [busy[0], replace(busy[1], state="cordoned")]
    assert decide(pool, [JOB], still) == []


def test_a_full_pool_makes_room_for_a_job_that_needs_another_kind() -> None:
    """A small machine is emptied, takes no more jobs, and a large one comes instead: not two."""
    jobs = [replace(JOB, n_jobs=50), replace(JOB, cpu_m=4000, n_jobs=3)]
    full = [machine(name, used_cpu_m=2000, n_running=2) for name in "abcd"]
    full[2] = replace(full[2], n_running=1)
    cordoned = [replace(one, state="cordoned") if one.name == "c" else one for one in full]
    quota = replace(POOL, max_workers=9, quota_cpu_m=12_000)

    assert told(decide(POOL, jobs, full)) == [("cordon", "c")]
    assert decide(POOL, jobs, cordoned) == []
    assert told(
        decide(
            POOL, jobs, [replace(one, n_running=0) if one.name == "c" else one for one in cordoned]
        )
    ) == [("delete", "c")]
    assert told(decide(POOL, jobs, [full[0], full[1], full[3]])) == [("create", "large")]
    assert told(decide(quota, jobs, full)) == [("cordon", "c"), ("cordon", "a")]
    assert (
        decide(replace(POOL, quota_cpu_m=8000), jobs, [replace(one, is_held=True) for one in full])
        == []
    )
    assert decide(POOL, jobs[:1], full) == []


def test_machines_that_never_came_or_lost_their_worker_go() -> None:
    late = machine("a", state="creating", has_worker=False, state_s=901)
    (decision,) = decide(POOL, [], [late])
    lost = [
        machine(name, state=state, has_worker=False)
        for name, state in (("a", "active"), ("b", "cordoned"))
    ]

    assert (decision.kind, decision.reason) == ("delete", "no worker came within 900 s")
    assert decide(POOL, [], [replace(late, state_s=900)]) == []
    assert told(decide(POOL, [], lost)) == [("delete", "a"), ("delete", "b")]
    assert told(decide(POOL, [JOB], lost[:1])) == [("delete", "a"), ("create", "small")]


def test_the_used_share_of_a_machine_is_that_of_its_scarcer_resource() -> None:
    assert used_share(machine("a")) == 0
    assert used_share(machine("a", n_running=1, used_cpu_m=1000)) == 0.5
    assert used_share(machine("a", n_running=1, used_cpu_m=20, used_memory_mib=4096)) == 1
    assert used_share(machine("a", n_running=9, used_cpu_m=9000)) == 1


def example(name: str) -> list[Pool]:
    """Return the pools of an example file."""
    with (EXAMPLES / name).open("rb") as file:
        tables = tomllib.load(file)["pool"]
    problems = Problems()
    found = pools_of([msgspec.convert(one, PoolDocument) for one in tables], problems)
    assert problems.found == []
    return found


def run_rounds(pool: Pool, jobs: Sequence[Demand], rounds: int) -> list[Machine]:
    """Make the machines that are decided, each there in the next round, none with a job."""
    there: list[Machine] = []
    flavour = pool.flavours[0]
    for _ in range(rounds):
        for one in decide(pool, jobs, there):
            assert one.kind == "create"
            new = machine(
                f"{len(there)}",
                flavour=one.flavour,
                region=one.region,
                cpu_m=flavour.cpu_m,
                memory_mib=flavour.memory_mib,
                offers=offers_of(pool.name, flavour, one.region),
            )
            there.append(new)
    return there


def test_the_rules_of_hail() -> None:
    (pool,) = example("hail.toml")
    bearing = replace(JOB, asks={"preemptible": "yes"})
    jobs = [replace(bearing, n_jobs=1000)]

    assert len(run_rounds(pool, jobs, 1)) == 10
    assert len(run_rounds(pool, jobs, 9)) == 63
    assert len(run_rounds(pool, [replace(bearing, n_jobs=1_000_000)], 30)) == 250
    assert run_rounds(pool, [JOB], 1) == []


def test_only_jobs_that_bear_it_have_machines_that_may_be_taken_back() -> None:
    spot = replace(SMALL, name="spot", preemptible=True)
    pool = replace(POOL, flavours=(spot, SMALL))
    bearing = replace(JOB, asks={"preemptible": "yes"})
    there = [machine("a", offers=offers_of("p", spot, ""), flavour="spot")]

    assert told(decide(pool, [bearing], [])) == [("create", "spot")]
    assert told(decide(pool, [JOB], there)) == [("create", "small")]
    assert decide(pool, [bearing], there) == []
    assert decide(pool, [bearing], [machine("b")]) == []


def test_the_rules_of_hrsi() -> None:
    medium, large = example("hrsi.toml")
    many = [replace(JOB, cpu_m=2000, n_jobs=10_000)]
    idle = [replace(one, idle_s=121) for one in run_rounds(medium, many, 2)]

    assert len(run_rounds(medium, many[:1], 1)) == 10
    assert len(run_rounds(medium, [JOB], 3)) == 3
    assert len(run_rounds(replace(medium, max_workers=1000), many, 100)) == 437  # 874 of 920
    assert len(run_rounds(large, many, 3)) == 2
    assert Counter(one.kind for one in decide(medium, [], idle)) == {"cordon": 6}
    assert told(decide(medium, [], idle[:1])) == [("cordon", "0")]


ASKS = st.sampled_from([{}, {"region": "a"}, {"region": "b"}, {"disk": "fast"}, {"gpu": 1}])
DEMANDS = st.lists(
    st.builds(
        Demand,
        cpu_m=st.integers(1, 10_000),
        memory_mib=st.integers(0, 40_000),
        asks=ASKS,
        n_jobs=st.integers(1, 100),
    ),
    max_size=5,
)
POOLS = st.builds(
    lambda low, more, **rest: replace(POOL, min_workers=low, max_workers=low + more, **rest),
    low=st.integers(0, 3),
    more=st.integers(0, 10),
    creates_per_round=st.integers(1, 5),
    create_batch=st.integers(1, 5),
    deletes_per_round=st.integers(1, 5),
    delete_share=st.floats(0.01, 1),
    regions=st.sampled_from([(), ("a",), ("a", "b")]),
    quota_cpu_m=st.none() | st.integers(1, 40_000),
)
MACHINES = st.lists(
    st.builds(
        lambda flavour, region, **more: machine(
            "",
            region=region,
            offers=offers_of("p", flavour, region),
            cpu_m=flavour.cpu_m,
            flavour=flavour.name,
            **more,
        ),
        flavour=st.sampled_from([SMALL, LARGE]),
        region=st.sampled_from(["", "a", "b"]),
        state=st.sampled_from(["creating", "active", "cordoned", "deleting"]),
        n_running=st.integers(0, 3),
        used_cpu_m=st.integers(0, 2000),
        idle_s=st.floats(0, 200),
        state_s=st.floats(0, 2000),
        has_worker=st.booleans(),
        is_held=st.booleans(),
        is_broken=st.booleans(),
        is_old=st.booleans(),
    ),
    max_size=12,
).map(lambda found: [replace(one, name=f"m{n}") for n, one in enumerate(found)])


@given(POOLS, DEMANDS, MACHINES)
def test_decisions_keep_every_limit(
    pool: Pool, demand: list[Demand], machines: list[Machine]
) -> None:
    decisions = decide(pool, demand, machines)
    kinds = Counter(one.kind for one in decisions)
    by_name = {one.name: one for one in machines}

    assert decisions == decide(pool, demand, machines)
    assert kinds["create"] <= max(pool.max_workers - len(machines), 0)
    assert kinds["create"] <= pool.creates_per_round
    assert kinds["cordon"] <= pool.deletes_per_round
    names = [one.machine for one in decisions if one.machine]
    assert len(set(names)) == len(names)
    if pool.quota_cpu_m is not None and kinds["create"]:
        sizes = {one.name: one.cpu_m for one in pool.flavours}
        new_m = sum(sizes[one.flavour] for one in decisions if one.kind == "create")
        assert sum(one.cpu_m for one in machines) + new_m <= pool.quota_cpu_m
    for one in decisions:
        if one.kind == "create":
            continue
        before = by_name[one.machine or ""]
        if before.has_worker:
            assert not before.is_held
            assert one.kind != "delete" or not before.n_running
            if before.is_broken:
                assert one.kind == "delete"
            else:
                assert (before.state == "active") == (one.kind == "cordon")
    staying = sum(one.state in {"creating", "active"} for one in machines)
    idle = sum(one.reason.startswith("nothing ran") for one in decisions)
    assert idle <= max(staying - pool.min_workers, 0)


@given(
    st.lists(st.sampled_from(["a", "b", "c", ("a", "b"), None]), max_size=12),
    st.sets(st.sampled_from("abc"), max_size=2),
    st.integers(1, 3),
)
def test_no_order_of_regions_stops_a_pool(
    regions: list[str | tuple[str, ...] | None], closed: set[str], most: int
) -> None:
    """Whatever can run somewhere runs at last: machines that wait for nothing make room."""
    pool = replace(POOL, regions=("a", "b", "c"), max_workers=most, flavours=(SMALL,))
    waiting = [replace(JOB, asks={"region": one} if one else {}) for one in regions]
    there: dict[str, Machine] = {}
    for turn in range(8 * len(waiting) + 8):
        for one in decide(pool, waiting, [*there.values()], closed):
            name = one.machine or f"m{len(there)}.{turn}"
            if one.kind == "delete":
                del there[name]
            elif one.kind == "create":
                offers = offers_of("p", SMALL, one.region)
                there[name] = machine(name, region=one.region, offers=offers, idle_s=61)
            else:
                state = "active" if one.kind == "uncordon" else "cordoned"
                there[name] = replace(there[name], state=state)
        assert len(there) <= most
        for host in there.values():
            mine = [job for job in waiting if serves(host.offers, job.asks)]
            if mine and host.state == "active":
                waiting.remove(mine[0])

    open_regions = {"region": sorted(set("abc") - closed)}
    assert [job for job in waiting if serves(open_regions, job.asks)] == []


LIMITED = replace(JOB, asks={"timeout_s": "60-120"}, n_jobs=4)
PILOTS = replace(POOL, flavours=(replace(SMALL, walltime_s=600),))


def pilot(name: str, **more: object) -> Machine:
    return machine(name, offers=offers_of("p", PILOTS.flavours[0], ""), **more)


def test_machines_that_end_are_made_for_jobs_that_end_before() -> None:
    late = replace(LIMITED, asks={"timeout_s": "300-600"})

    assert len(decide(PILOTS, [LIMITED], [])) == 2
    assert decide(PILOTS, [late, replace(JOB, n_jobs=4)], []) == []
    ending = [pilot(one) for one in "ab"]
    assert decide(PILOTS, [LIMITED], ending) == []
    ending = [replace(one, offers={**one.offers, "timeout_s": 119}) for one in ending]
    assert len(decide(PILOTS, [LIMITED], ending)) == 2


def test_a_machine_that_has_not_begun_is_not_stale_and_goes_when_nobody_needs_it() -> None:
    waiting = pilot("a", state="creating", has_worker=False, state_s=9000.0, waits=True)

    assert decide(PILOTS, [LIMITED], [waiting, replace(waiting, name="b")]) == []
    (gone,) = decide(PILOTS, [], [waiting])
    assert (gone.kind, gone.machine) == ("delete", "a")
    assert gone.reason == "it has not begun, and no job needs it any more"
    assert decide(PILOTS, [], [replace(waiting, state_s=1.0)]) == []
    assert decide(replace(PILOTS, min_workers=1), [], [waiting]) == []
    (stale,) = decide(PILOTS, [LIMITED], [replace(waiting, waits=False)])[:1]
    assert stale.reason == "no worker came within 900 s"


def test_another_machine_is_made_for_enough_work() -> None:
    """The first one is made for any; so no job waits for ever."""
    pool = replace(PILOTS, min_work_s=300.0)
    jobs = replace(LIMITED, n_jobs=2, runs_s=100.0, asks={"timeout_s": "60-120"})
    full = pilot("a", used_cpu_m=2000, n_running=2)

    assert len(decide(pool, [jobs], [])) == 1
    assert decide(pool, [jobs], [full]) == []
    assert decide(pool, [jobs], [replace(full, state="creating", waits=True)]) == []
    assert len(decide(pool, [jobs, jobs], [full])) == 1
    assert len(decide(pool, [replace(jobs, n_jobs=9, runs_s=None)], [full])) == 3
    assert len(decide(pool, [jobs], [replace(full, is_broken=True)])) == 1
    assert len(decide(pool, [jobs], [replace(full, offers={"timeout_s": 9})])) == 1
