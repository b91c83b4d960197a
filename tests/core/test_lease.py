from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from weft.core.scheduling.lease import (
    CLAIM_JOBS_MAX,
    GROWTH,
    PASSING_JOBS_MAX,
    PAUSE_MAX_S,
    PAUSE_S,
    QUEUE_S,
    Load,
    Pace,
    pause_s,
    plan_claim,
    plan_passing,
    stock_wanted,
)


def pace_of(
    duration_s: float, *, count: int = 100, cpu_m: int = 1000, memory_mib: int = 10
) -> Pace:
    pace = Pace()
    for _ in range(count):
        pace.add(duration_s=duration_s, cpu_m=cpu_m, memory_mib=memory_mib)
    return pace


IDLE = Load(cpu_m=2000, memory_mib=1000)
loads = st.builds(
    Load,
    cpu_m=st.integers(1, 100_000),
    memory_mib=st.integers(1, 100_000),
    cpu_m_held=st.integers(0, 200_000),
    memory_mib_held=st.integers(0, 200_000),
    cpu_m_long=st.integers(0, 200_000),
    ended_lately=st.integers(0, 5000),
)
paces = st.builds(
    Pace,
    duration_s=st.floats(0, 1e6),
    cpu_m=st.floats(1, 1e5),
    memory_mib=st.floats(0, 1e5),
    count=st.integers(0, 1000),
)


def test_worker_that_knows_nothing_claims_what_it_has_left() -> None:
    full = Load(cpu_m=2000, memory_mib=1000, cpu_m_held=2000, memory_mib_held=20)
    budget = plan_claim(IDLE, Pace())

    assert budget is not None
    assert (budget.cpu_m, budget.memory_mib) == (2000, 1000)
    assert plan_claim(full, Pace()) is None


def test_a_late_user_need_not_wait_for_more_than_one_job() -> None:
    load = Load(cpu_m=8000, memory_mib=1000, cpu_m_held=8000, ended_lately=50)

    assert stock_wanted(load, pace_of(0.1)) == 4
    assert stock_wanted(load, pace_of(0.01)) == 240


def test_long_jobs_are_not_hoarded() -> None:
    load = Load(cpu_m=2000, memory_mib=1000, cpu_m_held=2000, ended_lately=50)

    assert stock_wanted(load, pace_of(60.0)) == 0
    assert plan_claim(load, pace_of(60.0)) is None


def test_short_jobs_are_stocked_for_a_third_of_a_second() -> None:
    load = Load(cpu_m=2000, memory_mib=1000, ended_lately=1000)

    assert stock_wanted(load, pace_of(0.001)) == int(2 * QUEUE_S / 0.001)


def test_stock_grows_with_what_has_ended() -> None:
    load = Load(cpu_m=2000, memory_mib=1000, ended_lately=2)

    assert stock_wanted(load, pace_of(0.001)) == 2 * GROWTH


def test_long_runners_leave_less_room_to_the_short_ones() -> None:
    load = Load(cpu_m=2000, memory_mib=1000, cpu_m_long=1000, ended_lately=1000)

    assert stock_wanted(load, pace_of(0.001)) == int(QUEUE_S / 0.001)


def test_next_claim_comes_when_half_of_the_stock_is_used() -> None:
    pace = pace_of(0.001)
    full = {"cpu_m": 2000, "memory_mib": 100_000, "ended_lately": 1000}

    assert plan_claim(Load(**full, cpu_m_held=2000 + 400_000), pace) is None
    assert plan_claim(Load(**full, cpu_m_held=2000 + 250_000), pace) is not None


def test_work_that_is_left_to_others_is_looked_at_again_and_again_but_seldom() -> None:
    pauses = [pause_s(n_empty) for n_empty in range(10)]

    assert pauses[:4] == [0, 0, PAUSE_S, 2 * PAUSE_S]
    assert pauses[-1] == PAUSE_MAX_S


@given(loads, paces)
def test_claim_stays_within_capacity_and_stock(load: Load, pace: Pace) -> None:
    stock = stock_wanted(load, pace)
    budget = plan_claim(load, pace)

    assert 0 <= stock <= min(CLAIM_JOBS_MAX, GROWTH * load.ended_lately)
    if budget is not None:
        assert budget.cpu_m > 0
        assert budget.memory_mib > 0
        assert 0 < budget.jobs <= CLAIM_JOBS_MAX
        assert load.cpu_m_held + budget.cpu_m <= load.cpu_m + stock * pace.cpu_m
        assert (
            load.memory_mib_held + budget.memory_mib <= load.memory_mib + stock * pace.memory_mib
        )


@given(st.lists(st.floats(1e-6, 1e4), min_size=1))
def test_mean_stays_between_the_extremes(durations: list[float]) -> None:
    pace = Pace()
    for duration_s in durations:
        pace.add(duration_s=duration_s, cpu_m=1000, memory_mib=1)

    slack = 1e-6 * max(durations)
    assert min(durations) - slack <= pace.duration_s <= max(durations) + slack


def test_slots_limit_a_claim_and_nothing_is_claimed_ahead_of_them() -> None:
    pace = Pace(duration_s=0.01, count=100)
    busy = Load(cpu_m=2000, memory_mib=9999, ended_lately=1000, jobs_max=3)
    full = Load(cpu_m=2000, memory_mib=9999, ended_lately=1000, jobs_max=0)
    adopted = Load(cpu_m=2000, memory_mib=9999, jobs_max=-1)

    assert plan_claim(busy, pace) is not None
    assert plan_claim(busy, pace).jobs == 3  # type: ignore[union-attr]
    assert plan_claim(full, pace) is None
    assert plan_claim(adopted, Pace()) is None


class Size(NamedTuple):
    cpu_m: int
    memory_mib: int = 10


def test_a_job_without_room_is_passed_as_long_as_older_ones_keep_it_waiting() -> None:
    load = Load(cpu_m=4000, memory_mib=100, cpu_m_held=1000 + 4000, memory_mib_held=20)

    assert plan_passing(load, Size(4000), [Size(1000)]) == (3000, 90, PASSING_JOBS_MAX)
    assert plan_passing(load, Size(4000), []) is None
    assert plan_passing(load, Size(3000), [Size(1000)]) is None


def test_nothing_passes_where_nothing_is_free() -> None:
    load = Load(cpu_m=4000, memory_mib=100, cpu_m_held=4000 + 4000, memory_mib_held=20)

    assert plan_passing(load, Size(4000), [Size(1000)]) is None
    memory = Load(cpu_m=4000, memory_mib=100, cpu_m_held=2000, memory_mib_held=190)
    assert plan_passing(memory, Size(1000, 90), [Size(1000, 100)]) is None


def test_a_slow_worker_gets_fewer_jobs() -> None:
    """It is slow in everything and fails in nothing. What it holds of a
    common queue falls as its jobs take longer, so that the others take what it would keep waiting.
    """
    left, ended = 2000, {"good": 0, "slow": 0}
    duration_s = {"good": 0.02, "slow": 0.02}
    paces = {name: pace_of(one, count=20) for name, one in duration_s.items()}
    runs: dict[str, list[float]] = {"good": [], "slow": []}
    waiting = {"good": 0, "slow": 0}
    held_when_slow = 0
    for step in range(1000):
        now = step * 0.01
        if now >= 1:
            duration_s["slow"] = 0.5
        for name in ("slow", "good"):
            over = [end for end in runs[name] if end <= now]
            runs[name] = [end for end in runs[name] if end > now]
            ended[name] += len(over) * (now >= 1)
            for _ in over:
                paces[name].add(duration_s=duration_s[name], cpu_m=1000, memory_mib=10)
            held = len(runs[name]) + waiting[name]
            load = Load(
                cpu_m=2000,
                memory_mib=1000,
                cpu_m_held=1000 * held,
                memory_mib_held=10 * held,
                ended_lately=50 if duration_s[name] < 0.1 else 2,
            )
            budget = plan_claim(load, paces[name])
            claimed = 0 if budget is None else min(budget.jobs, -(-budget.cpu_m // 1000), left)
            left, waiting[name] = left - claimed, waiting[name] + claimed
            while waiting[name] and len(runs[name]) < 2:
                waiting[name] -= 1
                runs[name].append(now + duration_s[name])
        if now >= 9:  # what it had in store before goes back by its age, which is not seen here
            held_when_slow = max(held_when_slow, waiting["slow"] + len(runs["slow"]))
    assert ended["good"] > 10 * ended["slow"] > 0
    assert held_when_slow <= 4
