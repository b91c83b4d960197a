"""Find callers by their bearer tokens or sessions; remembered until one is revoked."""

import base64
import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from weft.api.http.rate_limits import FailedLogins
from weft.api.web_tokens.bearers import (
    IssuerAway,
    NoIssuers,
    TokenExpired,
    TokenRefused,
    Verifier,
    is_web_token,
)
from weft.api.web_tokens.wso2 import canonical
from weft.core.access.sessions import csrf_token_of, session_in
from weft.core.errors import Unauthenticated, Unavailable
from weft.core.login_attempts import LoginAttempt, attempt_with
from weft.ports.store import Caller
from weft.store import ApiStore
from weft.telemetry.log import log

REMEMBER_S: Final = 5.0
"""A revoked token works for at most this time if the database cannot tell of it."""
REMEMBER_MAX: Final = 10_000
TOKEN_CHARS_MAX: Final = 8192
COOKIE: Final = "cookie"


class Identities:
    """Find callers by their tokens. Only digests are kept: how long it takes reveals no token."""

    def __init__(
        self,
        store: ApiStore,
        web_tokens: Verifier | None = None,
        clock: Callable[[], float] = time.monotonic,
        failed_logins: FailedLogins | None = None,
    ) -> None:
        self._store = store
        self._failed_logins = failed_logins or FailedLogins()
        self._web_tokens = web_tokens or NoIssuers()
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()
        self._epoch = 0

    def forget(self, told: int | None) -> None:
        """Forget callers whose token is revoked or whose role has changed; None: all of them."""
        self._epoch += 1
        self._known = OrderedDict(
            (digest, known)
            for digest, known in self._known.items()
            if told is not None and not known[0].is_meant(told)
        )
        log.debug("callers.forgotten", token=told)

    async def caller_of(
        self,
        headers: Mapping[str, str],
        scheme: str = "http",
        address: str = "",
        gateway_headers: str | None = None,
        *,
        again: bool = False,
    ) -> Caller:
        """Return the caller of a request with these headers: by a token, or by the session of a
        browser. `gateway_headers`: how headers begin whose token counts here before any other.
        `again`: it was let in before, so that it is no try at a token.

        Raise `Unauthenticated`, and `TooManyFailedLogins` for a token that is not remembered, if
        too many wrong ones came from this address.
        """
        token, header = self._token_in(headers, scheme, gateway_headers)
        digest = hashlib.sha256(f"{header or ''} {token}".encode()).digest()
        known = self._known.get(digest)
        if known is not None and known[1] > self._clock():
            return known[0]
        if not again:
            self._failed_logins.check(address)
        epoch, began = self._epoch, time.monotonic()
        try:
            caller = await self._find(token, header)
        except Unauthenticated:
            if not again:
                self._failed_logins.note(address)
            self._known.pop(digest, None)
            raise
        caller = replace(caller, known_at=began)
        if epoch == self._epoch:  # else it may have been read before it was revoked
            ends_in_s = math.inf if caller.expires_at is None else caller.expires_at - time.time()
            self._known[digest] = (caller, self._clock() + min(REMEMBER_S, ends_in_s))
            self._known.move_to_end(digest)
        if len(self._known) > REMEMBER_MAX:
            self._known.popitem(last=False)
        return caller

    def _token_in(
        self, headers: Mapping[str, str], scheme: str, gateway_headers: str | None
    ) -> tuple[str, str | None]:
        """Return the token, and the header it is in if that is not `Authorization`."""
        if gateway_headers and (
            given := [name for name in headers if name.startswith(gateway_headers)]
        ):
            return self._gateway_token(headers, given)
        if "authorization" not in headers:
            if names := [name for name in self._web_tokens.headers if name in headers]:
                if len(names) > 1 or "," in headers[names[0]]:  # no token has a comma
                    shown = " and ".join(names)
                    raise _refused(f"It has several tokens, in {shown}.", LoginAttempt())
                return _checked(headers[names[0]].strip()), names[0]
            if session := session_in(headers.get(COOKIE, ""), scheme):
                return _checked(session), COOKIE
        return _bearer_token(headers.get("authorization")), None

    def _gateway_token(
        self, headers: Mapping[str, str], given: Sequence[str]
    ) -> tuple[str, str | None]:
        """Return the token of a gateway, which is believed or refused whatever comes besides."""
        known = {canonical(name): name for name in self._web_tokens.headers}
        if len(given) > 1 or "," in headers[given[0]]:
            raise _refused(f"It has several tokens, in {' and '.join(given)}.", LoginAttempt())
        if canonical(given[0]) not in known:
            raise _refused(f"The header {given[0]} is of no gateway here.", LoginAttempt())
        return _checked(headers[given[0]].strip()), known[canonical(given[0])]

    async def _find(self, token: str, header: str | None) -> Caller:
        """Return who has this token. Raise `Unauthenticated`."""
        if header == COOKIE:
            found = await self._store.authenticate_session(token)
            found = found or await self._refuse("session", token)
            return replace(found, csrf_token=csrf_token_of(token))
        if header is None and not is_web_token(token):
            return await self._store.authenticate(token) or await self._refuse("token", token)
        try:
            bearer = await self._web_tokens.verify(token, header)
        except TokenRefused as error:
            log.debug("token.refused", why=str(error))
            why = f"The JSON web token is not accepted. {error}"
            refused = _refused(why, LoginAttempt(tenant=error.tenant, user=error.user))
            refused.is_expired = isinstance(error, TokenExpired)
            raise refused from error
        except IssuerAway as error:
            raise Unavailable(
                "the keys of the token's issuer cannot be read",
                detail=f"Its issuer is {error}.",
                hint="Try again later; the log of the api says why.",
            ) from error
        caller = await self._store.admit_user(
            bearer.tenant, bearer.user_name, bearer.role, may_create=bearer.may_create
        )
        if caller is None:
            raise _refused(
                f"The tenant {bearer.tenant} has no user {bearer.user_name!r}, whom the JSON web "
                "token names; `weft user add` adds one.",
                LoginAttempt(tenant=bearer.tenant, user=bearer.user_name),
            )
        return replace(caller, expires_at=bearer.expires_at)

    async def _refuse(self, what: str, token: str) -> NoReturn:
        login = attempt_with(token)
        owner = await self._store.login_owner(login.digest or b"")
        is_expired = owner is not None and owner.is_expired
        error = _refused(f"The {what} {'has expired' if is_expired else 'is unknown'}.", login)
        error.is_expired = is_expired
        raise error


def _bearer_token(authorization: str | None) -> str:
    if authorization is None:
        raise _refused("The request has no Authorization header.")
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise _refused("The Authorization header is not of the form `Bearer TOKEN`.")
    return _checked(token)


def with_bearer(headers: dict[str, str]) -> dict[str, str]:
    """Return headers in which a login of the scheme `Basic` is the token that is its password."""
    scheme, _, login = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return headers
    try:
        token = base64.b64decode(login, validate=True).decode().partition(":")[2]
    except ValueError:
        return headers
    return {**headers, "authorization": f"Bearer {token}"}


def _checked(token: str) -> str:
    if len(token) > TOKEN_CHARS_MAX or not token.isascii() or not token.isprintable():
        raise _refused("The token is malformed.", LoginAttempt())
    return token


def _refused(why: str, login: LoginAttempt | None = None) -> Unauthenticated:
    error = Unauthenticated(
        "the request is not authenticated",
        detail=why,
        hint="Name the home of the server (--home), give its token (WEFT_TOKEN) or log in (`weft "
        "login`); a request carries a token as `Authorization: Bearer TOKEN`.",
    )
    error.login = login
    return error
