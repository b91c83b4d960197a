"""Locations of outputs as two columns: an int and a bigint hold the twelve bytes of one."""

import struct
from collections.abc import Sequence

from weft.core.log_location import LogLocation

_COLUMNS = struct.Struct("!iq")


def location_of(segment: int | None, offset: int | None) -> LogLocation | None:
    """Return the location that these columns hold."""
    return None if segment is None else LogLocation(_COLUMNS.pack(segment, offset or 0))


def location_columns(
    locations: Sequence[LogLocation | None],
) -> tuple[list[int | None], list[int | None]]:
    """Return the two columns of these locations."""
    pairs = [(None, None) if one is None else _COLUMNS.unpack(one) for one in locations]
    return [one[0] for one in pairs], [one[1] for one in pairs]
