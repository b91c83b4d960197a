"""Prices of machines, as an owner types them."""

import pytest

from cases import cases
from weft.core.billing.rates import InvalidPrice, machine_prices


def test_prices_are_read_exactly() -> None:
    (first, second) = machine_prices(["burst/small=0.050", "a/b.c=1e1"])

    assert first == ("burst", "small", "0.05")
    assert second == ("a", "b.c", "10")


@cases(
    "text", ["burst=1", "/small=1", "burst/=1", "burst/small", "burst/small=x", "burst/small=-1",
             "burst/small=NaN", "burst/small=1e9", "burst/small=0.0000000000001"]
)  # fmt: skip
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidPrice, match="price"):
        machine_prices([text])
