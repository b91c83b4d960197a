"""The answers about tokens."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.documents.tokens import Scope


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
