"""Documents by which administrators keep tenants and their users, and those about sharing."""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

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


OnUserRemoval = Literal["finish", "cancel"]
AllowedKind = Literal["image", "partition", "account", "qos", "constraint", "gres", "reservation"]
AllowedList = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=1024, pattern=r"^[!-~]+" + END)]],
    Meta(max_length=100),
]


class TenantDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/tenants`: a new tenant."""

    name: Annotated[Name, says("Unique without regard to case.", "acme")]
    admin: Annotated[Name, says("Its first user, a tenant-admin.", "ann")]
    trusted: Annotated[bool, says(TRUSTED)] = True


class TenantEdit(Struct, forbid_unknown_fields=True):
    """`PATCH /v1/tenants/{tenant}`: what changes."""

    on_user_removal: Annotated[
        OnUserRemoval | UnsetType,
        says(
            "Whether the batches of a user who is removed go on to their end or are cancelled, "
            "unless the removal says it."
        ),
    ] = UNSET
    allowed: Annotated[
        dict[AllowedKind, AllowedList | None] | UnsetType,
        says(
            "What its jobs may choose of what workers and gateways allow: patterns of a shell by "
            "kind. null: whatever those allow; kinds that are left out stay.",
            {"image": ["docker://registry.example/*"], "partition": ["short", "long"]},
        ),
    ] = UNSET

    output_keep_s: Annotated[
        Annotated[int, Meta(ge=0, le=10**9)] | UnsetType,
        says(
            "Seconds after the end of a batch for which its output and files are kept; 0: as long "
            "as the batch.",
            2_592_000,
        ),
    ] = UNSET
    output_keep_bytes: Annotated[
        Annotated[int, Meta(ge=0, le=10**18)] | UnsetType,
        says(
            "Bytes that the tenant may store before output and files of the batches that ended "
            "first are removed; 0: any number.",
            10**11,
        ),
    ] = UNSET


class Tenant(Struct, kw_only=True):
    """A closed world of users."""

    tenant_id: int
    name: str
    n_users: int
    on_user_removal: Annotated[
        OnUserRemoval,
        Meta(description="what becomes of the batches of a user who is removed, unless that says"),
    ]
    allowed: Annotated[
        dict[str, list[str]],
        Meta(description="patterns of what its jobs may choose; of a missing kind anything"),
    ]
    output_keep_s: Annotated[
        int, Meta(description="for which output is kept after the end of a batch; 0: no limit")
    ]
    output_keep_bytes: Annotated[
        int, Meta(description="that are stored before the oldest output is removed; 0: no limit")
    ]


class TenantCreated(Struct, kw_only=True):
    """A new tenant and its first user."""

    tenant_id: int
    name: str
    admin: str
    token: Annotated[str, Meta(description="of the first user: it is shown only now")]
