"""Scheduling: shares, time limits, offers and their stock and black holes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from store.water_filling import Demand, water_filling
from weft.core.consumer_limits import OFFERS_MAX, STEADY_S, Allowance, Stock
from weft.core.scheduling.black_holes import Ends, find_black_holes, retry_s
from weft.core.scheduling.fair_share import UserWork, fair_shares
from weft.core.scheduling.offers import (
    AMOUNT_MAX,
    Ask,
    Offer,
    parse_gpus,
    parse_labels,
    parse_offers,
    parse_queues,
    serves,
)
from weft.core.scheduling.time_limits import BOUNDS_S, limit_class, longest_in

users = st.lists(
    st.builds(UserWork, st.integers(0, 64_000), st.integers(0, 64_000), weight=st.integers(1, 4)),
    min_size=1,
    max_size=8,
)


def test_whoever_runs_least_is_raised_first() -> None:
    assert fair_shares([UserWork(0, 9), UserWork(0, 9)], 6) == [3, 3]
    assert fair_shares([UserWork(4, 9), UserWork(0, 9)], 6) == [1, 5]
    assert fair_shares([UserWork(4, 9), UserWork(0, 9)], 3) == [0, 3]
    assert fair_shares([UserWork(0, 1), UserWork(0, 9), UserWork(0, 9)], 9) == [1, 4, 4]
    assert fair_shares([UserWork(0, 9, weight=3), UserWork(0, 9)], 8) == [6, 2]
    assert fair_shares([UserWork(0, 9), UserWork(5, 2)], 30) == [9, 2]


@given(users=users, budget_m=st.integers(1, 128_000))
def test_shares_are_those_of_the_rule(users: list[UserWork], budget_m: int) -> None:
    """The rule with fractions; shares are rounded up."""
    exact = water_filling(
        [Demand(user.running_m, user.ready_m, int(user.weight)) for user in users], budget_m
    )

    for share, rule in zip(fair_shares(users, budget_m), exact, strict=True):
        assert -1e-6 < share - rule < 1 + 1e-6


def test_classes() -> None:
    found = [limit_class(one) for one in (None, 0.5, 10, 10.5, 3599, 3600, 86_400, 86_401)]

    assert found == [
        None,
        "0-10",
        "10-10",
        "10-30",
        "1800-3600",
        "3600-3600",
        "86400-86400",
        "86400-",
    ]


@given(st.floats(0.001, 10_000_000))
def test_a_limit_is_within_its_class(limit_s: float) -> None:
    least, most = str(limit_class(limit_s)).split("-")

    assert int(least) <= limit_s <= (float(most) if most else limit_s)
    assert not any(int(least) < one < limit_s for one in BOUNDS_S)


def test_amounts_and_words_are_read() -> None:
    assert parse_offers("") == {}
    assert parse_offers(" gpu=2, matlab=03 ,region=eu|us,zone=b,") == {
        "gpu": 2,
        "matlab": 3,
        "region": ["eu", "us"],
        "zone": ["b"],
    }


@cases(
    "text",
    [
        "gpu",
        "gpu=",
        "=2",
        "gpu=-1",
        "gpu=1.5 2",
        "Gpu=1",
        "gpu=1,gpu=2",
        "region=eu|",
        "executor=slurm",
        "cpu=4",
        "memory=1",
        "storage=1",
        f"gpu={AMOUNT_MAX + 1}",
        "x=\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_what_no_worker_can_offer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"can offer once|neither an amount"):
        parse_offers(text)


@cases(
    ("asks", "is_served"),
    [
        ({}, True),
        ({"gpu": 2}, True),
        ({"gpu": 3}, False),
        ({"matlab": 1}, False),
        ({"region": "eu"}, True),
        ({"region": "e"}, False),
        ({"zone": "b"}, True),
        ({"zone": "bb"}, False),
        ({"gpu": "2"}, False),
        ({"zone": 1}, False),
        ({"region": ["mars", "us"]}, True),
        ({"region": ["mars"]}, False),
        ({"gpu": ["2"]}, False),
        ({"preemptible": "yes"}, True),
        ({"gpu": 1, "region": "us"}, True),
        ({"gpu": 1, "region": "mars"}, False),
    ],
)
def test_a_worker_serves_what_it_offers(asks: dict[str, Ask], is_served: bool) -> None:
    offers: dict[str, Offer] = {"gpu": 2, "region": ["eu", "us"], "zone": "b"}

    assert serves(offers, asks) == is_served


def test_a_worker_that_may_be_taken_back_serves_jobs_that_bear_it() -> None:
    assert serves({"preemptible": ["yes"]}, {"preemptible": "yes"})
    assert not serves({"preemptible": ["yes"]}, {})


def test_queues_of_a_worker_are_names() -> None:
    assert parse_queues(" short, large,") == ["short", "large"]
    assert parse_queues("") == []
    with pytest.raises(ValueError, match="'a b' is not the name of a queue"):
        parse_queues("short,a b")


def test_a_time_limit_is_asked_of_no_worker() -> None:
    assert serves({}, {"timeout_s": "10-10"})


def test_a_worker_without_queues_serves_all() -> None:
    assert serves({}, {"queue": "short"})
    assert serves({"queue": ["short"]}, {"queue": "short"})
    assert not serves({"queue": ["short"]}, {"queue": "large"})
    assert not serves({"queue": ["short"]}, {})
    assert serves({"queue": ["short", "default"]}, {})


def test_labels_are_words_also_if_they_look_like_numbers() -> None:
    assert parse_labels(" rack=12,zone=b, zone=c") == {"rack": ["12"], "zone": ["b", "c"]}
    assert parse_labels("") == {}


@cases(
    "text", ["rack", "rack=", "=b", "Rack=b", "gpu=1", "slots=2", "executor=x", "zone=b|c", "z=é"]
)
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="label"):
        parse_labels(text)


@cases(
    ("text", "ids"),
    [("auto", None), ("none", []), ("0, 1", ["0", "1"]), ("GPU-8f2c", ["GPU-8f2c"])],
)
def test_gpus_are_read(text: str, ids: list[str] | None) -> None:
    assert parse_gpus(text) == ids


@cases("text", ["", "0,", "a b", "0,0", "-1"])
def test_wrong_gpus_are_told(text: str) -> None:
    with pytest.raises(ValueError, match="GPU"):
        parse_gpus(text)


def test_a_worker_whose_machine_ends_serves_jobs_that_end_before() -> None:
    offers: dict[str, Offer] = {"timeout_s": longest_in(3780)}

    assert serves(offers, {"timeout_s": "3600-3600"})
    assert serves(offers, {"timeout_s": "30-60"})
    assert not serves(offers, {"timeout_s": "3600-7200"})
    assert not serves(offers, {"timeout_s": "86400-"})
    assert not serves(offers, {})


LIMIT = 500


def rounds(stock: Stock, taken: int, count: int, *, jobs: int = 10**9) -> int:
    """Let this number of jobs be taken between two rounds; return the size in the end."""
    waiting = 0
    for number in range(count):
        n_new = min(jobs, stock.size - waiting) if waiting < stock.size else 0
        stock.plan(
            slots=4, waiting=waiting, n_new=n_new, limit=LIMIT, now_s=number * STEADY_S / 4 + 1e3
        )
        waiting = max(0, waiting + n_new - taken)
    return stock.size


def test_short_jobs_have_a_stock_of_what_is_taken_in_a_few_rounds() -> None:
    assert 60 < rounds(Stock(4), 60, 20) < 4 * 60
    assert rounds(Stock(4), 10_000, 20) == LIMIT


def test_a_stock_is_as_many_as_slots_when_jobs_are_long_or_few() -> None:
    stock = Stock(4)
    rounds(stock, 60, 20)

    assert rounds(stock, 0, 40) == 4
    rounds(stock, 60, 20)
    assert rounds(stock, 60, 40, jobs=2) == 4


def test_more_slots_than_the_limit_have_one_each_ahead() -> None:
    stock = Stock(600)
    stock.plan(slots=600, waiting=0, n_new=600, limit=LIMIT, now_s=1.0)
    stock.plan(slots=600, waiting=0, n_new=600, limit=LIMIT, now_s=1.0)

    assert stock.size == 600


def test_an_allowance_grows_at_once_and_shrinks_late() -> None:
    allowed = Allowance(4)
    assert allowed.plan(4, 30, 1.0)
    assert allowed.size == 64
    assert not allowed.plan(4, 25, 1.1), "a small change is none"
    assert not allowed.plan(4, 0, 1.2), "it is too soon"
    assert allowed.plan(4, 0, 1.1 + STEADY_S)

    assert allowed.size == 8


def test_an_allowance_is_what_a_broker_can_count() -> None:
    """Whatever slots a worker has: AMQP cannot write a larger prefetch count."""
    allowed = Allowance(OFFERS_MAX)
    assert not allowed.plan(1_000_000, 1_000_000, 1.0)

    grown = Allowance(4)
    assert grown.plan(40_000, 40_000, 1.0)
    assert grown.size == OFFERS_MAX


START = datetime(2026, 1, 1, tzinfo=UTC)
FAILURES, BATCHES = 4, 2


def end(
    worker: int, at: int, *, batch: int = 1, good: int = 0, fast: int = 0, slow: int = 0
) -> Ends:
    return Ends(
        worker_id=worker,
        pool_id=1,
        batch_id=batch,
        at=START + timedelta(seconds=at),
        successes=good,
        fast_failures=fast,
        slow_failures=slow,
    )


def found(ends: Sequence[Ends]) -> list[int]:
    newest_first = sorted(ends, key=lambda one: one.at, reverse=True)
    holes = find_black_holes(newest_first, failures_min=FAILURES, batches_min=BATCHES)
    return [one.worker_id for one in holes]


BROKEN = [end(1, at, batch=at, fast=1) for at in (1, 2, 3, 4)]


def test_worker_that_fails_at_once_while_another_succeeds_is_one() -> None:
    (hole,) = find_black_holes(
        [end(2, 9, batch=7, good=1), *reversed(BROKEN)], failures_min=4, batches_min=2
    )

    assert (hole.worker_id, hole.n_failures, hole.n_batches) == (1, 4, 4)
    assert hole.reason.startswith("4 attempts of 4 batches in a row failed at once here")


@cases(
    "ends",
    [
        BROKEN,
        [*BROKEN, end(2, 0, batch=7, good=1)],
        [*BROKEN[:3], end(2, 9, batch=7, good=1)],
        [*BROKEN, end(1, 5, batch=9, good=1), end(2, 9, batch=7, good=1)],
        [*BROKEN, end(1, 4, batch=9, good=1), end(2, 9, batch=7, good=1)],
        [*BROKEN, end(1, 5, batch=9, slow=1), end(2, 9, batch=7, good=1)],
        [end(1, 1, fast=99), end(2, 9, batch=7, good=1)],
        [*BROKEN, *(end(2, at, batch=at, fast=1) for at in (1, 2, 3, 4)), end(3, 9, good=1)],
    ],
)
def test_others_are_not(ends: list[Ends]) -> None:
    assert found(ends)[:1] != [1]


def test_batch_that_succeeds_somewhere_is_not_the_reason() -> None:
    """Two broken workers do not hide each other."""
    both = [end(worker, at, batch=at, fast=1) for worker in (1, 2) for at in (1, 2, 3, 4)]
    good = [end(3, 9, batch=batch, good=1) for batch in (1, 2, 3, 4)]

    assert sorted(found([*both, *good])) == [1, 2]


ENDS = st.lists(
    st.builds(
        lambda worker, at, batch, kind: end(worker, at, batch=batch, **{kind: 1}),
        worker=st.integers(1, 3),
        at=st.integers(0, 20),
        batch=st.integers(1, 4),
        kind=st.sampled_from(["good", "fast", "fast", "fast", "slow"]),
    ),
    max_size=40,
)


@given(ENDS)
def test_black_holes_failed_often_enough_and_last_and_others_did_not(ends: list[Ends]) -> None:
    for worker in found(ends):
        mine = [one for one in ends if one.worker_id == worker]
        well = [one.at for one in mine if not one.fast_failures]
        streak = [one for one in mine if not well or one.at > max(well)]

        assert sum(one.fast_failures for one in streak) >= FAILURES
        assert len({one.batch_id for one in streak}) >= BATCHES
        assert any(one.successes for one in ends if one.worker_id != worker)


@given(ENDS)
def test_without_successes_there_is_none(ends: list[Ends]) -> None:
    assert found([one for one in ends if not one.successes]) == []


@given(st.integers(0, 10_000), st.floats(1, 3600))
def test_tries_become_rarer_up_to_an_hour(failed: int, first_s: float) -> None:
    waits = [retry_s(failed + more, first_s=first_s) for more in (0, 1)]

    assert first_s <= waits[0] <= waits[1] <= 3600
