"""Numbers as people write them: of jobs `1-20,25`; 1800, also where a fraction is allowed."""

import re
from collections.abc import Iterable
from typing import Any

NUMBER_MAX = 2_000_000_000
_PART = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


def parse_ranges(text: str, *, count_max: int) -> list[int]:
    """Return the numbers in order, each once. Raise `ValueError` that says what is wrong.

    >>> parse_ranges("1-3,7", count_max=10)
    [1, 2, 3, 7]
    """
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{part[:40]!r} is neither a number nor a range such as 1-20")
        first = int(match[1])
        last = int(match[2] or match[1])
        if not 1 <= first <= last <= NUMBER_MAX:
            raise ValueError(f"{part!r} is not a range of positive numbers")
        if last - first >= count_max:
            raise ValueError(f"at most {count_max} at once")
        found.update(range(first, last + 1))
        if len(found) > count_max:
            raise ValueError(f"at most {count_max} at once")
    return sorted(found)


def format_ranges(numbers: Iterable[int]) -> str:
    """Return numbers, which need no order, as `parse_ranges` reads them.

    >>> format_ranges([3, 1, 2, 7])
    '1-3,7'
    """
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number <= ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(f"{first}-{last}" if first != last else str(first) for first, last in ranges)


def as_written(value: Any) -> Any:  # noqa: ANN401 (any part of a document)
    """Return a document in which decimal numbers without a fraction are whole numbers.

    >>> as_written({"silent_s": 300.0, "steps": [{"wait_s": 0.5}], "action": "fail"})
    {'silent_s': 300, 'steps': [{'wait_s': 0.5}], 'action': 'fail'}
    """
    if isinstance(value, dict):
        return {key: as_written(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_written(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
