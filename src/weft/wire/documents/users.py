"""The documents about users of a tenant."""

from datetime import datetime
from typing import Annotated, Final, Literal

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
TRUSTED: Final = (
    "false: refuse while jobs of all users run as the account of the server, in no sandbox, and "
    "so could read its files, tokens of others among them."
)


class UserDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/users`: who is let in."""

    name: Annotated[
        Name,
        says(
            "Unique in the tenant without regard to case. A removed user of it comes back.", "bob"
        ),
    ]
    role: Annotated[Role, says("What they may do; none above your own.", "user")] = "user"
    trusted: Annotated[bool, says(TRUSTED)] = True


class UserEdit(Struct, forbid_unknown_fields=True):
    """`PATCH /v1/users/{user}`: what changes."""

    role: Annotated[Role, says("What they may do from now on; none above your own.", "operator")]


class UserWeight(Struct, forbid_unknown_fields=True):
    """`PUT /v1/users/{user}/weight`: how much of the machines is theirs, beside other users."""

    weight: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        says("Of two users with work, one with 3 gets three times as much as one with 1.", 3),
    ]
    until: Annotated[
        Annotated[datetime, Meta(tz=True)] | None,
        says("Then it is 1 again (RFC 3339); null: it stays.", "2027-01-01T00:00:00Z"),
    ] = None
