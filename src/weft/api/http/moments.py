"""Times in documents: of years that the database and all clients know, and in UTC from here on.

RFC 3339 allows offsets up to 23:59, PostgreSQL reads them up to 15:59 where a time is text.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of

YEARS: Final = (1970, 9000)
OUT_OF_YEARS: Final = f"its year is not from {YEARS[0]} to {YEARS[1]}"
_At = tuple[str | int, ...]


def in_utc(moment: datetime) -> datetime | None:
    """Return the same moment in UTC; None: its year is none of those that count."""
    return moment.astimezone(UTC) if YEARS[0] <= moment.year <= YEARS[1] else None


def settle(document: msgspec.Struct) -> None:
    """Put all times of a document into UTC. Raise `InvalidDocument` if a year does not count."""
    problems = Problems()
    _settled(document, (), problems)
    problems.raise_any()


def _settled(value: Any, at: _At, problems: Problems) -> Any:  # noqa: ANN401 (any part of a document)
    match value:
        case datetime():
            moment = in_utc(value)
            if moment is None:
                problems.add(InvalidValue, pointer_of(*at), OUT_OF_YEARS)
            return moment or value
        case msgspec.Struct():
            for name, shown in _with_times(type(value)):
                held = getattr(value, name)
                new = None if held is None else _settled(held, (*at, shown), problems)
                if new is not held:
                    msgspec.structs.force_setattr(value, name, new)
        case list() | tuple():
            items = [_settled(item, (*at, n), problems) for n, item in enumerate(value)]
            if any(new is not item for new, item in zip(items, value, strict=True)):
                return type(value)(items)
        case dict():
            for name, item in value.items():
                value[name] = _settled(item, (*at, name), problems)
    return value


@cache
def _with_times(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Return the fields that may hold a time somewhere below, by their names here and there."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return tuple(
        (one.name, one.encode_name) for one in info.fields if _holds_a_time(one.type, {kind})
    )


def _holds_a_time(info: inspect.Type, above: set[type]) -> bool:
    if isinstance(info, inspect.DateTimeType):
        return True
    if isinstance(info, inspect.StructType):
        if info.cls in above:
            return False
        above.add(info.cls)
    return any(_holds_a_time(one, above) for one in _parts(info))


def _parts(info: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the types below one."""
    match info:
        case inspect.StructType():
            yield from (one.type for one in info.fields)
        case inspect.UnionType():
            yield from info.types
        case inspect.ListType() | inspect.VarTupleType():
            yield info.item_type
        case inspect.DictType():
            yield info.value_type
        case inspect.Metadata():
            yield info.type
