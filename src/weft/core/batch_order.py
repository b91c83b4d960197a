"""The orders in which batches can be listed, and places in them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

NUMBER_CHARS_MAX: Final = 18
"""More do not fit in a column."""


class BatchSort(StrEnum):
    """What batches are sorted by. Only what has indexes: of the tenant, and of the batches of a
    user and of a project, for those who see few of many.
    """

    NUMBER = "number"
    NAME = "name"
    """Only batches that have one."""
    CREATED = "created"
    COMPLETED = "completed"
    """Only batches that are complete and have jobs, as of the last fold."""


@dataclass(frozen=True)
class BatchOrder:
    """The order of a list: names from A on, all else from the newest; or the other way round."""

    sort: BatchSort
    reverse: bool = False

    @property
    def is_descending(self) -> bool:
        """Whether what is sorted by gets smaller from row to row."""
        return (self.sort is BatchSort.NAME) == self.reverse


class BatchPlace(NamedTuple):
    """The last batch of a page: the next page begins after it."""

    key: int | str | datetime
    """What it is sorted by."""
    batch_id: int

    def text(self) -> str:
        """Write it for a cursor."""
        key = self.key.isoformat() if isinstance(self.key, datetime) else self.key
        return f"{self.batch_id}:{key}"


def parse_place(text: str, sort: BatchSort) -> BatchPlace:
    """Read what `BatchPlace.text` wrote. Raise `ValueError`.

    >>> last = BatchPlace("a:b", 12)
    >>> parse_place(last.text(), BatchSort.NAME) == last
    True
    """
    number, _, key = text.partition(":")
    batch_id = _number(number)
    if sort is BatchSort.NUMBER:
        return BatchPlace(_number(key), batch_id)
    if sort is BatchSort.NAME:
        return BatchPlace(key, batch_id)
    at = datetime.fromisoformat(key)
    if at.tzinfo is None:
        raise ValueError(key)
    try:
        return BatchPlace(at.astimezone(UTC), batch_id)
    except OverflowError as error:
        raise ValueError(key) from error


def _number(text: str) -> int:
    """Return the number of a batch."""
    if not text.isdecimal() or len(text) > NUMBER_CHARS_MAX:
        raise ValueError(text)
    return int(text)
