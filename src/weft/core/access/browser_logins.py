"""The login of a browser at an issuer, from the request that begins it to the one that ends it.

Nothing is stored of it but a cookie with a secret, from which all follows that ties the answer to
this browser: what comes back with the answer (`state`), what the issuer signs (`nonce`) and what
shows it that the code is ours (the verifier of RFC 7636). Any api can end what another began.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from weft.core.access.sessions import cookie_in

VALID_S: Final = 600
_FORM: Final = re.compile(r"([\w-]{43})\.([0-9a-f]{16})\.([0-9]{1,12})", re.ASCII)


@dataclass(frozen=True)
class BrowserLogin:
    """One login of a browser."""

    secret: str
    provider_id: str
    begun_at: int
    """In seconds since 1970."""

    @property
    def cookie(self) -> str:
        """Return what its browser keeps."""
        return f"{self.secret}.{self.provider_id}.{self.begun_at}"

    @property
    def state(self) -> str:
        """Return what comes back with the answer."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """Return what the issuer signs."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """Return what shows that the code is ours."""
        return self._derived("verifier")

    def is_over(self, now: float) -> bool:
        """Say whether it has taken too long."""
        return not self.begun_at - VALID_S <= now <= self.begun_at + VALID_S

    def _derived(self, use: str) -> str:
        return hashlib.sha256(f"{use} {self.cookie}".encode()).hexdigest()


def login_cookie_name(scheme: str) -> str:
    """Return the name of the cookie; see `weft.core.access.sessions.cookie_name`."""
    return "__Host-weft_login" if scheme == "https" else "weft_login"


def login_in(cookies: str, scheme: str) -> BrowserLogin | None:
    """Return the login in a header `Cookie`."""
    match = _FORM.fullmatch(cookie_in(cookies, login_cookie_name(scheme)) or "")
    return BrowserLogin(match[1], match[2], int(match[3])) if match else None


def issuer_cookie_name(scheme: str) -> str:
    """Return the name of the cookie that says at which issuer a browser has logged in, so that it
    can be led there to log out. It is no secret.
    """
    return "__Host-weft_issuer" if scheme == "https" else "weft_issuer"


def issuer_in(cookies: str, scheme: str) -> str | None:
    """Return the id of that issuer in a header `Cookie`."""
    return cookie_in(cookies, issuer_cookie_name(scheme))
