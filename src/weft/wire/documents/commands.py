"""What a running job is told, and the answers."""

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


class MessageDocument(Struct, forbid_unknown_fields=True):
    """`POST …/message`."""

    text: Annotated[
        str, says("What the job finds in a new file in its directory `$WEFT_MESSAGES`.", "reload")
    ]


class ExtendDocument(Struct, forbid_unknown_fields=True):
    """`POST …/extend`."""

    by_s: Annotated[
        float,
        Meta(gt=0, le=31_536_000),
        says("How much longer each attempt may run.", 600, unit="seconds"),
    ]


_Sent = Annotated[
    str,
    Meta(description="`sent` to its worker; the history of the job says when it was delivered"),
]


class JobSignalled(Struct, kw_only=True):
    """The result of a signal to a job."""

    batch_id: int
    job_id: int
    attempt: int
    signal: Annotated[str, Meta(description="the name of the signal")]
    result: _Sent


class JobMessaged(Struct, kw_only=True):
    """The result of a message to a job."""

    batch_id: int
    job_id: int
    attempt: int
    size_bytes: int
    result: _Sent


class JobExtended(Struct, kw_only=True):
    """The result of an extension of a job's time limit."""

    batch_id: int
    job_id: int
    timeout_s: Annotated[float, Meta(description="how long each attempt may run now")]
    extended_s: Annotated[float, Meta(description="how much of it was added later")]
