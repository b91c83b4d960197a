"""The document that sets the status of a job."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from weft.wire.description import says


class MessageDecision(Struct, forbid_unknown_fields=True):
    """What becomes of a message that a check has stopped."""

    decision: Annotated[
        Literal["pass", "drop"],
        says("`pass`: it is sent all the same. `drop`: it is never sent.", "pass"),
    ]


class SetupTrial(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/setups/{setup}/trial`: a file that is tried, and kept nowhere."""

    document: Annotated[
        Annotated[str, Meta(max_length=1 << 20)],
        says("The file, in TOML.", "[job.a]\ncommand = 1"),
    ]
    read: Annotated[
        bool, says("Whether its sources are read, to show the job and messages of an item.")
    ] = True
    item: Annotated[
        dict[str, Any] | None,
        says("The fields of an item, with its `key`, instead of what a source reads."),
    ] = None
    product: Annotated[
        dict[str, Any] | None, says("A product of the job, for messages that are made of some.")
    ] = None


class StatusDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/jobs/{j}/status`: what it is from now on."""

    status: Annotated[str, says("A status of its lifecycle.", "error_checked")]
    message: Annotated[
        Annotated[str, Meta(max_length=1024)] | None, says("Why, for its history.", "seen")
    ] = None
