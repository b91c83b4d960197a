"""The documents about workers."""

from typing import Annotated

from msgspec import Meta, Struct


class Cordon(Struct, forbid_unknown_fields=True, kw_only=True):
    """Why a worker shall take no new job."""

    reason: Annotated[
        Annotated[str, Meta(max_length=1000)] | None,
        Meta(description="Why; shown with the worker."),
    ] = None
