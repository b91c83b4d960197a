"""The answers about users of a tenant."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.documents.tenants import OnUserRemoval
from weft.wire.documents.users import Role


class User(Struct, kw_only=True):
    """A user of the tenant."""

    user_id: int
    name: str
    role: Role
    weight: Annotated[int, Meta(description="in fair shares")]
    weight_until: Annotated[datetime | None, Meta(description="then 1 again; null: it stays")]
    last_seen_at: Annotated[datetime | None, Meta(description="to the minute; null: not yet")]


class UserAdded(User, kw_only=True):
    """A new user."""

    token: Annotated[str, Meta(description="their first; hand it over: it is shown only now")]


class UserRemoved(Struct, kw_only=True):
    """A user who is let in no more."""

    name: str
    on_user_removal: Annotated[
        OnUserRemoval,
        Meta(description="what becomes of their batches: as the request says, or the tenant"),
    ]
    n_cancelled: Annotated[int, Meta(description="batches of theirs that this request cancelled")]
