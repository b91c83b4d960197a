"""The documents about incidents, which jobs wait for."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says

Jobs = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class ReleaseDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/conditions/{c}/release`: how many jobs go on without a test."""

    n: Annotated[Jobs, says("How many jobs go on, those that are due first.", 10)]
