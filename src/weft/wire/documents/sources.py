"""The documents about sources of production lines."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from weft.wire.description import says


class SeriesRerun(Struct, forbid_unknown_fields=True):
    """Which items of a series are decided again."""

    series: Annotated[str, says("The key of the series.", "32TLR")]
    since: Annotated[
        str | int | float,
        says(
            "Those that stand there or later: a date or a number, as the items have it. A date "
            "without a zone is in UTC.",
            "2027-04-01",
        ),
    ] = field(name="from")


class SourceEdit(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PATCH` of a source: a JSON merge patch (RFC 7396). A missing field stays unchanged."""

    paused: Annotated[
        bool | UnsetType, says("Whether it is paused: not read, and its items get no jobs.")
    ] = UNSET
    replay_since: Annotated[
        Annotated[datetime, Meta(tz=True)] | UnsetType,
        says(
            "What it found since then becomes jobs once more, and it is read again from the "
            "beginning.",
            "2027-01-01T00:00:00Z",
        ),
    ] = UNSET
    replay_item: Annotated[
        str | UnsetType, says("The item of this key becomes a job once more.", "S2A_32TLR")
    ] = UNSET
