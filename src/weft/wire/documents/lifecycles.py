"""The documents about the statuses of jobs."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says


class StatusDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/jobs/{j}/status`: what it is from now on."""

    status: Annotated[str, says("A status of its lifecycle.", "error_checked")]
    message: Annotated[
        Annotated[str, Meta(max_length=1024)] | None, says("Why, for its history.", "seen")
    ] = None
