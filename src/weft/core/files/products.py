"""What jobs say that they have made: the form of `$WEFT_PRODUCTS`."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec

from weft.core.bounded import read_json

PRODUCTS_VARIABLE: Final = "WEFT_PRODUCTS"
PRODUCT_BYTES_MAX: Final = 1 << 16
"""Of one product."""


class WrongProducts(Exception):
    """A file of products that cannot be used, and why."""


def read_products(
    content: bytes, *, products_max: int, bytes_max: int
) -> Sequence[dict[str, Any]]:
    """Return the products of a file, one JSON object in each line. Raise `WrongProducts`."""
    if len(content) > bytes_max:
        raise WrongProducts(f"they have more than {bytes_max} bytes (product_bytes_max)")
    lines = [(n, line) for n, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    if len(lines) > products_max:
        raise WrongProducts(f"they are more than {products_max} (products_max)")
    return [_read(n, line) for n, line in lines]


def product_at(products: Sequence[Mapping[str, Any]], path: str) -> Mapping[str, Any] | None:
    """Return the product whose `path` is this one in the job's directory, or else that of the
    nearest directory above it.
    """
    known = {str(one["path"]).removesuffix("/"): one for one in products if "path" in one}
    while path and path not in known:
        path = path.rpartition("/")[0]
    return known.get(path)


def _read(number: int, line: bytes) -> dict[str, Any]:
    if len(line) > PRODUCT_BYTES_MAX:
        raise WrongProducts(f"line {number} has more than {PRODUCT_BYTES_MAX} bytes")
    try:
        found: dict[str, Any] = read_json(line, dict[str, Any])
    except msgspec.DecodeError as error:
        raise WrongProducts(f"line {number} is no JSON object: {error}"[:200]) from error
    n_digits = 0
    for leaf in _leaves(found):
        if isinstance(leaf, str):
            if "\0" in leaf:
                raise WrongProducts(f"line {number} has a NUL character")
        elif isinstance(leaf, float):
            n_digits += abs(Decimal(repr(leaf)).adjusted())
    if n_digits > PRODUCT_BYTES_MAX:  # PostgreSQL writes them without exponents
        raise WrongProducts(f"line {number} has too many very large or small numbers")
    return found


def _leaves(document: dict[str, Any]) -> Iterator[object]:
    """Yield the keys and values of a document that are no lists or objects."""
    waiting: list[object] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        else:
            yield value
