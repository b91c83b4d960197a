"""The document that sets the status of a job."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import says


class MessageDecision(Struct, forbid_unknown_fields=True):
    """What becomes of a message that a check has stopped."""

    decision: Annotated[
        Literal["pass", "drop"],
        says("`pass`: it is sent all the same. `drop`: it is never sent.", "pass"),
    ]


class StatusDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/jobs/{j}/status`: what it is from now on."""

    status: Annotated[str, says("A status of its lifecycle.", "error_checked")]
    message: Annotated[
        Annotated[str, Meta(max_length=1024)] | None, says("Why, for its history.", "seen")
    ] = None
