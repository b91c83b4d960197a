"""How many jobs are offered ahead of consumers, and how many messages one of them holds."""

from weft.core.consumer_limits import OFFERS_MAX
from weft.core.scheduling.stock import STEADY_S, Allowance, Stock

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
