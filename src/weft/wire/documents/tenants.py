"""The documents about tenants."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.description import END, says
from weft.wire.documents.users import TRUSTED, Name

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
