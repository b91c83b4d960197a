"""What a browser sends with its session, and how its requests are told from those of other sites.

A cookie comes with every request to a host, whichever page has caused it. So one that changes
something must come from a page of the same origin, and have a token that only such pages can read.
"""

import hashlib
import hmac
from typing import Final

CSRF_HEADER: Final = "x-csrf-token"
PAD_DIGITS: Final = 32
_PORTS: Final = {"http": ":80", "https": ":443"}


def cookie_name(scheme: str) -> str:
    """Return the name of the cookie. The prefix makes browsers refuse one that a page of another
    host, or one without TLS, has set.
    """
    return "__Host-weft_session" if scheme == "https" else "weft_session"


def cookie_of(value: str, scheme: str, valid_s: float, name: str | None = None) -> str:
    """Return the header `Set-Cookie` that makes a browser keep a session, or what another `name`
    has; 0 s: forget it.
    """
    secure = "; Secure" if scheme == "https" else ""
    return (
        f"{name or cookie_name(scheme)}={value}; Path=/; Max-Age={int(valid_s)}; HttpOnly; "
        f"SameSite=Lax{secure}"
    )


def session_in(cookies: str, scheme: str) -> str | None:
    """Return the session in a header `Cookie`."""
    return cookie_in(cookies, cookie_name(scheme))


def cookie_in(cookies: str, name: str) -> str | None:
    """Return the cookie of a name in a header `Cookie`. Of two nobody knows who has set which, so
    neither counts.
    """
    pairs = [one.strip().partition("=") for one in cookies.split(";")]
    found = [value for given, _, value in pairs if given == name]
    return found[0] if len(found) == 1 and found[0] else None


def csrf_token_of(session: str) -> str:
    """Return what pages send along with a session, to show that they can read it."""
    return hashlib.sha256(f"csrf {session}".encode()).hexdigest()


def masked_csrf_token(token: str, pad: str) -> str:
    """Return what a page holds in place of the token: no two pages have the same, so nobody learns
    it from the lengths of compressed pages. `pad`: 32 random hexadecimal digits.
    """
    return pad + hashlib.sha256(f"{pad}{token}".encode()).hexdigest()


def is_csrf_token(token: str, given: str) -> bool:
    """Say whether a page has sent this token, masked or not."""
    masked = masked_csrf_token(token, given[:PAD_DIGITS])
    return any(hmac.compare_digest(given.encode(), one.encode()) for one in (token, masked))


def is_same_origin(origin: str | None, scheme: str, host: str | None) -> bool:
    """Say whether the page that has caused a request is of the origin that it was sent to."""
    if not origin or not host:
        return False
    default = _PORTS.get(scheme, "")
    return origin.lower().removesuffix(default) == f"{scheme}://{host}".lower().removesuffix(
        default
    )
