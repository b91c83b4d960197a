"""How often jobs may start, as documents say it."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says


class Rate(Struct, forbid_unknown_fields=True):
    """How often jobs may start that use the same thing, such as a web API that counts calls."""

    key: Annotated[str, says("One for all users of a tenant.", "api")]
    n: Annotated[
        Annotated[int, Meta(ge=1, le=2_000_000_000)],
        says(
            "At most this number of jobs with the key start in a period; the last one given for "
            "the key and the period counts.",
            10,
        ),
    ] = 1
    per_s: Annotated[
        float,
        Meta(ge=0.1, le=86_400),
        says("The period in seconds. Jobs with the same key and period share a rate.", 1),
    ] = 1
