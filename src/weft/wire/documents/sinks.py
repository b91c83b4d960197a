"""The documents about sinks of production lines."""

from typing import Annotated, Literal

from msgspec import Struct

from weft.wire.description import says


class MessageDecision(Struct, forbid_unknown_fields=True):
    """What becomes of a message that a check has stopped."""

    decision: Annotated[
        Literal["pass", "drop"],
        says("`pass`: it is sent all the same. `drop`: it is never sent.", "pass"),
    ]


class GivenUpDecision(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/sinks/{sink}/given-up`: what becomes of messages that were given up."""

    decision: Annotated[
        Literal["send", "drop"],
        says("`send`: they are tried again at once. `drop`: they are counted no more.", "send"),
    ]
    dry_run: Annotated[bool, says("Only count.")] = False
