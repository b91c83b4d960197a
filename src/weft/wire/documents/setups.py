"""The documents about setups of production lines."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.wire.description import EVALUATED, says


class SetupTrial(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/setups/{setup}/trial`: a file that is tried, and kept nowhere."""

    document: Annotated[
        Annotated[str, EVALUATED, Meta(max_length=1 << 20)],
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
