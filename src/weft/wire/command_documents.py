"""What a running job is told."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says


class SignalDocument(Struct, forbid_unknown_fields=True):
    """`POST …/signal`."""

    signal: Annotated[
        str | int,
        says(
            "Name or number of a signal. KILL is refused, because a cancel ends a job; so is 0.",
            "USR1",
        ),
    ]


class ExtendDocument(Struct, forbid_unknown_fields=True):
    """`POST …/extend`."""

    by_s: Annotated[
        float,
        Meta(gt=0, le=31_536_000),
        says("How much longer each attempt may run.", 600, unit="seconds"),
    ]
