"""Where outputs are, from columns: an int and a bigint hold the twelve bytes of a location."""

import struct
from collections.abc import Sequence
from typing import Final

from weft.core.files.log_location import LogLocation
from weft.ports.log_store import LogDirectory

_COLUMNS = struct.Struct("!iq")
_NOWHERE: Final = (None, None)


def location_of(segment: int | None, offset: int | None) -> LogLocation | None:
    """Return the location that these columns hold."""
    return None if segment is None else LogLocation(_COLUMNS.pack(segment, offset or 0))


def directory_of(name: str | None, host: str, path: str | None) -> LogDirectory | None:
    """Return the directory that these columns hold."""
    return None if name is None else LogDirectory(name, host, path or "")


def location_columns(
    locations: Sequence[LogLocation | None],
) -> tuple[list[int | None], list[int | None]]:
    """Return the two columns of these locations."""
    unpack = _COLUMNS.unpack
    pairs = [_NOWHERE if location is None else unpack(location) for location in locations]
    return [segment for segment, _ in pairs], [offset for _, offset in pairs]
