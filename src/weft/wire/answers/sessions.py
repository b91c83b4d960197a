"""The answers about sessions of browsers."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.documents.tokens import Scope


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
