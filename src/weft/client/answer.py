"""What the server says, for programs: money is one type, and so are dates."""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

MONEY: Final = frozenset(
    {
        "cost",
        "costs",
        "cost_max",
        "cost_soft_max",
        "cost_per_hour",
        "used_cost",
        "idle_cost",
        "price",
        "price_per_hour",
    }
)
DATES: Final = frozenset(
    {"at", "since", "until", "deadline", "not_before", "valid_from", "starts", "ends"}
)


class Answer(dict[str, Any]):
    """A document of the api: a mapping of what it sent, and each field an attribute. As such,
    money is a `Decimal` and a date a `datetime`: `status.cost`, `status.created_at`.
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (fields have many types)
        if name not in self:
            raise AttributeError(f"the answer has no field {name!r}")
        return _read(self[name], _reader(name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


def is_date(name: str) -> bool:
    """Say whether the field of this name is a date, or a list of some."""
    return name in DATES or name.endswith(("_at", "_since", "_until"))


def _reader(name: str) -> Callable[[str], Any] | None:
    if name in MONEY:
        return Decimal
    return datetime.fromisoformat if is_date(name) else None


def _read(value: Any, reader: Callable[[str], Any] | None) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return Answer(value)
    if isinstance(value, list):
        return [_read(one, reader) for one in value]
    if reader is None or not isinstance(value, (str, int, float) if reader is Decimal else str):
        return value
    try:
        return reader(str(value))
    except (ValueError, ArithmeticError):  # an attribute of somebody's own of this name
        return value
