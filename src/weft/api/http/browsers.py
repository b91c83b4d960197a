"""Requests of browsers: which of them a page of this server has made, and the page for logins."""

import hmac
from collections.abc import Mapping
from html import escape
from typing import Final

from weft.core.errors import ForeignRequest
from weft.core.sessions import CSRF_HEADER, is_same_origin
from weft.ports.store import Caller

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing, which any page may cause; browsers keep the answers from it."""
_PAGE: Final = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>weft</title>"
    "<meta name=viewport content='width=device-width'>"
    "<style>body{{font:16px/1.5 system-ui;max-width:30em;margin:4em auto;padding:0 1em}}</style>"
    "<h1>weft</h1>{}"
)


def refuse_foreign(
    headers: Mapping[str, str], scheme: str, csrf_token: str, given: str | None = None
) -> None:
    """Raise `ForeignRequest` unless a request comes from a page of this server that knows the
    session's token; `given`: that of a form, else it is in the header.
    """
    refuse_origin(headers, scheme)
    given = headers.get(CSRF_HEADER, "") if given is None else given
    if not hmac.compare_digest(given.encode(), csrf_token.encode()):
        raise _foreign(f"The header {CSRF_HEADER} is missing, or is not the session's.")


def refuse_origin(headers: Mapping[str, str], scheme: str) -> None:
    """Raise `ForeignRequest` unless a request comes from a page of this server."""
    if not is_same_origin(headers.get("origin"), scheme, headers.get("host")):
        shown = headers.get("origin", "missing")[:200]
        raise _foreign(f"The header Origin is {shown}, and the request was sent to another one.")


def _foreign(why: str) -> ForeignRequest:
    return ForeignRequest(
        "the request does not come from a page of this server",
        detail=why,
        hint="Programs use a token instead of a session; behind a proxy, name its network in the "
        "setting trusted_proxies.",
    )


def offer_page(code: str, user_name: str) -> bytes:
    """Return the page that asks whether to log in. Nothing has happened yet: programs that look at
    links, as mailers do, do not press buttons.
    """
    return _page(
        f"<p>Log in as {escape(user_name)} with this browser?<form method=post action=/login>"
        f"<input type=hidden name=code value='{escape(code)}'><button>Log in</button></form>"
    )


def welcome_page(caller: Caller) -> bytes:
    """Return the page of somebody who is logged in."""
    return _page(
        f"<p>You are logged in as {escape(caller.user_name)}, with role {caller.role}."
        "<form method=post action=/logout><input type=hidden name=csrf_token "
        f"value='{caller.csrf_token}'><button>Log out</button></form>"
    )


def stranger_page() -> bytes:
    """Return the page of somebody who is not logged in."""
    return _page("<p>You are not logged in. <code>weft open</code> makes a link that does it.")


def _page(text: str) -> bytes:
    return _PAGE.format(text).encode()
