"""The documents about users, their sessions and tokens, for the description of the API."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.answers.batches import Job
from weft.wire.documents.logins import Scope
from weft.wire.documents.users import OnUserRemoval, PermissionWord, Role


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


class LoginLink(Struct, kw_only=True):
    """A link that opens a session in a browser, once."""

    url: Annotated[str, Meta(description="whoever opens it acts as you: show it to nobody else")]
    expires_at: datetime


class Session(Struct, kw_only=True):
    """A session of the caller in a browser."""

    session_id: int
    browser: Annotated[str, Meta(description="what the browser calls itself")]
    address: Annotated[str, Meta(description="where it was opened from")]
    scopes: Annotated[
        list[Scope] | None, Meta(description="the only rights that it has; null: all of its user")
    ]
    created_at: datetime
    expires_at: datetime
    last_used_at: Annotated[datetime | None, Meta(description="to the minute; null: not yet")]


class SessionsEnded(Struct, kw_only=True):
    """Sessions that are good for nothing any more."""

    n_ended: int


class Token(Struct, kw_only=True):
    """A token of the caller, without its text, which nobody can see again."""

    token_id: int
    name: str
    scopes: Annotated[
        list[Scope] | None, Meta(description="the only rights that it has; null: all of its user")
    ]
    created_at: datetime
    expires_at: Annotated[datetime | None, Meta(description="null: never")]
    last_used_at: Annotated[datetime | None, Meta(description="to the minute; null: not yet")]
    pool: Annotated[str | None, Meta(description="of workers outside; null: it is not for them")]
    workers: Annotated[str | None, Meta(description="the names that they may have")]


class TokenCreated(Token, kw_only=True):
    """A new token."""

    token: Annotated[str, Meta(description="keep it: it is shown only now")]


class TokenRevoked(Struct, kw_only=True):
    """A token that is good for nothing any more."""

    token_id: int


class Whoami(Struct, kw_only=True):
    """The caller, as their token says."""

    tenant: str
    user: str
    role: str
    rights: Annotated[list[Scope], Meta(description="with this token")]
    token_id: int | None
    """None: it is the token of another issuer."""
    csrf_token: Annotated[
        str | None,
        Meta(
            description="what a page sends as X-CSRF-Token to change something; null: no session"
        ),
    ]


class SharedJob(Job, kw_only=True):
    """A single job that was shared with the caller, and what they may do with it."""

    permission: PermissionWord
    granted_by: str
    granted_at: datetime
