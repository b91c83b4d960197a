"""Prices as people say them, and as they are kept: per unit and hour."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final, NamedTuple

from weft.core.errors import FieldError, Invalid

UNITS_OF_A_PRICE: Final = MappingProxyType(
    {"cpu": 1000, "memory": 1024, "storage": 1024, "gpu": 1}
)
"""How many kept units (mCPU, MiB, MiB, GPU) one of the person's is (core, GiB, GiB, GPU)."""
HOUR_MS: Final = 3_600_000
HOURS_OF: Final = MappingProxyType(
    {"cpu": "core h", "memory": "GiB h", "storage": "GiB h of disk", "gpu": "GPU h"}
)
"""What usage is written in: the units of its price."""
PRICE_MAX: Final = Decimal(1_000_000)
_WHOLE_FROM: Final = 100
_LEAST: Final = 0.0001
PRICE_DIGITS: Final = 12
"""Of a machine's price, behind the point."""


class MachinePrice(NamedTuple):
    """What a machine of a flavour costs per hour: an exact decimal."""

    pool: str
    flavour: str
    price: str


class InvalidPrice(Invalid, code="BILLING.INVALID_PRICE"):
    """An invalid price."""


def hours_used(resource: str, usage: int) -> float:
    """Return what was used of a resource (in kept units × ms) in the units of its price.

    >>> hours_used("cpu", 2_500 * HOUR_MS)
    2.5
    """
    return usage / HOUR_MS / UNITS_OF_A_PRICE[resource]


def written_hours(hours: float) -> str:
    """Write what was used: three digits that say something.

    >>> [written_hours(hours) for hours in (0, 0.0000125, 0.000125, 12.3456, 98765.4)]
    ['0', '< 0.0001', '0.000125', '12.3', '98,765']
    """
    if 0 < hours < _LEAST:
        return f"< {_LEAST}"
    if hours >= _WHOLE_FROM:
        return f"{hours:,.0f}"
    return f"{hours:.3g}" if hours else "0"


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
            detail="; ".join(f"{problem.pointer[1:]}: {problem.message}" for problem in problems)
            + ".",
            hint="Prices are per core, GiB or GPU and hour, in the currency of this server.",
            errors=problems,
        )
    return kept


def machine_prices(texts: Sequence[str]) -> list[MachinePrice]:
    """Read `burst/small=0.05`. Raise `InvalidPrice` with everything that is not like this."""
    found: list[MachinePrice] = []
    problems: list[FieldError] = []
    for text in texts:
        name, _, price = text.partition("=")
        pool, _, flavour = name.partition("/")
        try:
            exact = exact_price(price)
        except ValueError as error:
            problems.append(FieldError("/machine", f"{text[:80]}: {error}"))
            continue
        if not pool or not flavour:
            problems.append(FieldError("/machine", f"{text[:80]} does not name POOL/FLAVOUR"))
            continue
        found.append(MachinePrice(pool, flavour, exact))
    if problems:
        raise InvalidPrice(
            "a price is invalid",
            detail="; ".join(problem.message for problem in problems) + ".",
            hint="Write --machine burst/small=0.05: pool, flavour, price per hour.",
            errors=problems,
        )
    return found


def exact_price(value: float | str) -> str:
    """Return an exact price without an exponent. Raise `ValueError` for what is none."""
    try:
        price = Decimal(str(value)[:40])
    except InvalidOperation:
        price = Decimal(-1)
    is_exact = price.is_finite() and price.as_tuple().exponent >= -PRICE_DIGITS  # type: ignore[operator]  # a finite number has one
    if not is_exact or not 0 <= price <= PRICE_MAX:
        raise ValueError(f"{str(value)[:40]!r} is not a price from 0 to {PRICE_MAX}")
    return f"{price.normalize():f}"
