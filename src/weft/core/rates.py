"""Prices as people say them, and as they are kept: per unit and hour."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final

from weft.core.errors import FieldError, Invalid

UNITS_OF_A_PRICE: Final = MappingProxyType(
    {"cpu": 1000, "memory": 1024, "storage": 1024, "gpu": 1}
)
"""How many kept units (mCPU, MiB, MiB, GPU) one of the person's is (core, GiB, GiB, GPU)."""
PRICE_MAX: Final = Decimal(1_000_000)


class InvalidPrice(Invalid):
    """An invalid price."""

    code = "BILLING.INVALID_PRICE"


def kept_prices(prices: Mapping[str, str | float | None]) -> dict[str, str]:
    """Return the prices per kept unit and hour, exact; those that are None are left out.

    Raise `InvalidPrice` with every one that is not a number from 0 to `PRICE_MAX`.
    """
    kept: dict[str, str] = {}
    problems: list[FieldError] = []
    for resource, price in prices.items():
        if price is None:
            continue
        try:
            amount = Decimal(str(price))
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or not 0 <= amount <= PRICE_MAX:
            problems.append(
                FieldError(f"/{resource}", f"{price} is not a price from 0 to {PRICE_MAX}")
            )
            continue
        kept[resource] = format(amount / UNITS_OF_A_PRICE[resource], "f")
    if problems:
        raise InvalidPrice(
            "a price is invalid",
            detail="; ".join(f"{one.pointer[1:]}: {one.message}" for one in problems) + ".",
            hint="Prices are per core, GiB or GPU and hour, in the currency of this server.",
            errors=problems,
        )
    return kept
