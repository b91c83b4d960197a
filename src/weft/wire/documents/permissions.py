"""The documents about permissions of users for batches and jobs."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Struct

from weft.wire.description import says

PermissionWord = Literal["read", "execute", "write", "all"]


class PermissionDocument(Struct, forbid_unknown_fields=True):
    """`PUT /v1/batches/{b}/permissions/{user}`, and the same of one job: what the user may do
    from now on.
    """

    permission: Annotated[
        PermissionWord,
        says(
            "`read`: see it; `execute`: also cancel, hold, release and retry its jobs; `write`: "
            "also edit it, add jobs, hide and delete it; `all`: also share it.",
            "read",
        ),
    ]


class SharedWith(Struct, kw_only=True):
    """What a user may do with a batch, because it was shared with them."""

    batch_id: int
    user_id: int
    user: str
    permission: PermissionWord | None
    """None: it is not shared with them."""
    granted_by: str | None
    granted_at: datetime | None


class SharedJobWith(SharedWith, kw_only=True):
    """What a user may do with one job, because it was shared with them."""

    job_id: int
