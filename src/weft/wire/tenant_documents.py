"""The documents about tenants: what an administrator of the site asks for, and the answers."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says
from weft.wire.user_documents import Name


class TenantDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/tenants`: a new tenant."""

    name: Annotated[Name, says("Unique without regard to case.", "acme")]
    admin: Annotated[Name, says("Its first user, a tenant-admin.", "ann")]


class Tenant(Struct, kw_only=True):
    """A closed world of users."""

    tenant_id: int
    name: str
    n_users: int


class TenantCreated(Struct, kw_only=True):
    """A new tenant and its first user."""

    tenant_id: int
    name: str
    admin: str
    token: Annotated[str, Meta(description="of the first user: it is shown only now")]
