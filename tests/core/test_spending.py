"""How far a billing project is with its limits."""

from decimal import Decimal
from typing import Any

from cases import cases
from weft.core.billing.spending import Spending, Stage, stage_of

TICK_S = 10


def spending(**more: Any) -> Spending:  # noqa: ANN401 (fields of Spending)
    """Return that of a project with limits 80 and 100, of which 36 run off in an hour."""
    known = {
        "amount_max": Decimal(100), "amount_soft_max": Decimal(80), "used": Decimal(0),
        "used_per_hour": Decimal(36), "stage": Stage.BELOW,
    }  # fmt: skip
    return Spending(**{**known, **more})


@cases(
    ("spent", "stage"),
    [
        ("79.9", Stage.BELOW),
        ("80", Stage.SLOWED),
        ("99.89", Stage.SLOWED),
        ("99.9", Stage.REACHED),  # a tick of what runs costs 0.1
        ("100", Stage.REACHED),
        ("300", Stage.REACHED),
    ],
)
def test_limit_is_reached_a_tick_ahead(spent: str, stage: Stage) -> None:
    assert stage_of(spending(used=Decimal(spent)), is_new=False, lookahead_s=TICK_S) is stage


def test_nothing_is_reached_without_a_limit() -> None:
    one = spending(amount_max=None, amount_soft_max=None, used=Decimal(10**9))

    assert stage_of(one, is_new=False, lookahead_s=TICK_S) is Stage.BELOW


def test_limit_of_nothing_is_reached_before_anything_runs() -> None:
    one = spending(amount_max=Decimal(0), used_per_hour=Decimal(0))

    assert stage_of(one, is_new=True, lookahead_s=TICK_S) is Stage.REACHED


def test_reached_limit_stays_so_until_limits_are_set_again() -> None:
    """A little is left, because nothing runs any more."""
    one = spending(used=Decimal("99.95"), used_per_hour=Decimal(0), stage=Stage.REACHED)

    assert stage_of(one, is_new=False, lookahead_s=TICK_S) is Stage.REACHED
    assert stage_of(one, is_new=True, lookahead_s=TICK_S) is Stage.SLOWED
