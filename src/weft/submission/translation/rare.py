"""The fields of `RARE_JOB_FIELDS`: found column by column, and checked by the types of values."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import MAXYEAR, datetime
from operator import attrgetter
from typing import Any, Final

import msgspec

from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.core.texts import wrong_name
from weft.settings import Settings
from weft.wire.documents import RARE_JOB_FIELDS, JobDocument

FIRST_YEAR: Final = 1970


def rare_values(jobs: Sequence[JobDocument]) -> Iterator[tuple[int, str, Any]]:
    """Yield each rare field that is given: the index of its job, its name and its value."""
    for name in RARE_JOB_FIELDS:
        column = list(map(attrgetter(name), jobs))
        if column.count(None) < len(column):
            yield from ((n, name, value) for n, value in enumerate(column) if value is not None)


def check_rare_fields(jobs: Sequence[JobDocument], settings: Settings, problems: Problems) -> None:
    """Note the texts and times in rare fields that cannot be stored."""
    for index, name, value in rare_values(jobs):
        _check_value(value, settings, problems, pointer_of("jobs", index, name))


def _check_value(value: object, settings: Settings, problems: Problems, at: str) -> None:
    parts: Mapping[Any, object] = {}
    if isinstance(value, str):
        if wrong := wrong_name(value, chars_max=settings.name_chars_max):
            problems.add(InvalidValue, at, wrong)
    elif isinstance(value, datetime):
        # The first years and the last one may not exist in UTC, or before a time limit.
        if not FIRST_YEAR <= value.year < MAXYEAR:
            problems.add(InvalidValue, at, f"not a year from {FIRST_YEAR} to {MAXYEAR - 1}")
    elif isinstance(value, msgspec.Struct):
        parts = msgspec.structs.asdict(value)
    elif isinstance(value, Mapping):
        parts = value
    elif isinstance(value, Sequence):
        parts = dict(enumerate(value))
    for name, part in parts.items():
        inner = at + pointer_of(name)
        if isinstance(name, str):
            _check_value(name, settings, problems, inner)
        _check_value(part, settings, problems, inner)
