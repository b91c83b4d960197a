"""Keys as documents say them: of jobs that share how often they may start, and of which one batch
has each at a time.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

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


class Unique(Struct, forbid_unknown_fields=True):
    """A key that one batch of a user has at a time: what another one with it does."""

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=255)],
        says("The newest batch of a user with this key has it.", "import 2026-11-27"),
    ]
    while_: Annotated[
        Literal["waiting", "alive"],
        says("`alive`: until all its jobs have ended; `waiting`: until the first one starts."),
    ] = field(name="while", default="alive")
    within_s: Annotated[
        Annotated[float, Meta(ge=1, le=31_622_400)] | None,
        says(
            "And for this time from its creation, or from the last submission that has extended "
            "it, also if it has ended; not with `replace`.",
            3600,
        ),
    ] = None
    on_conflict: Annotated[
        Literal["skip", "replace", "extend"],
        says(
            "`skip`: the answer is the batch that has the key; `extend`: the same, and `within_s` "
            "begins anew; `replace`: that is cancelled."
        ),
    ] = "skip"
