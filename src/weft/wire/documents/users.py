"""Documents by which administrators keep users of their tenant, and those about sharing."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import END, says

_HARMFUL = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
"""Control characters, ends of lines, and what is not seen or changes the direction of writing: all
that Unicode calls Default_Ignorable_Code_Point, up to U+FFFF, beyond which patterns of JSON Schema
and of Python differ.
"""

Role = Literal["viewer", "user", "operator", "tenant-admin", "admin", "worker"]
Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=256,
        pattern=rf"^[^\s{_HARMFUL}]([^{_HARMFUL}]*[^\s{_HARMFUL}])?{END}",
    ),
]
"""A text on one line, without spaces around it."""


class UserDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/users`: who is let in."""

    name: Annotated[
        Name,
        says(
            "Unique in the tenant without regard to case. A removed user of it comes back.", "bob"
        ),
    ]
    role: Annotated[Role, says("What they may do; none above your own.", "user")] = "user"


class UserEdit(Struct, forbid_unknown_fields=True):
    """`PATCH /v1/users/{user}`: what changes."""

    role: Annotated[Role, says("What they may do from now on; none above your own.", "operator")]


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
