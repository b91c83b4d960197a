"""The issuers at which people log in (OpenID Connect): what they are asked, and what they answer.

The api speaks to them, for browsers and for `weft login` alike: so a client secret stays here, and
a token of an issuer is seen by nobody else. Each request has a limit in time and size, and all of
them together a limit in number, because whoever comes may cause one.
"""

import asyncio
import base64
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final, Protocol, TypeVar
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec
from msgspec import Meta, Struct

from weft.api.web_tokens.bearers import Bearer, IssuerAway, TokenRefused
from weft.api.web_tokens.fetching import OK, fetch, is_safe_url, post_form
from weft.api.web_tokens.issuer_document import IssuerDocument
from weft.api.web_tokens.issuers import Issuer
from weft.core.bounded import read_json
from weft.core.text.texts import folded_name
from weft.net.failures import NetFailure
from weft.net.foreign_http import Answer
from weft.ports.shared_room import SharedRoom
from weft.telemetry.log import log

ASKED_AT_ONCE: Final = 16
"""Requests to issuers that are under way; more are refused, as each may take seconds."""
RETRY_S: Final = 5.0
"""A description is not read again for this time, whatever has come of it."""
TEXT_CHARS_MAX: Final = 200
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
SERVER_ERROR: Final = 500
ResultT = TypeVar("ResultT")
Text = Annotated[str, Meta(min_length=1, max_length=2048)]


class LoginNotDone(Exception):
    """The issuer, or what it has sent, does not let somebody in; the text says why, harmlessly."""


class NoDeviceFlow(Exception):
    """The issuer has no flow for terminals without a browser."""


class Busy(Exception):
    """Too many logins are under way."""


class LoginVerifier(Protocol):
    """Believes ID tokens."""

    async def verify_login(self, token: str, issuer: IssuerDocument, nonce: str | None) -> Bearer:
        """Return the bearer. Raise `TokenRefused`, `IssuerAway`."""


class _Description(Struct):
    """What an issuer says of itself (OpenID Connect Discovery 1.0)."""

    issuer: Text
    authorization_endpoint: Text
    token_endpoint: Text
    device_authorization_endpoint: Text | None = None
    end_session_endpoint: Text | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _Tokens(Struct):
    """What the token endpoint answers (RFC 6749, 5)."""

    id_token: str | None = None
    error: str | None = None
    error_description: str | None = None


class DeviceCode(Struct):
    """What the device endpoint answers (RFC 8628, 3.2)."""

    device_code: Text
    user_code: Annotated[str, Meta(min_length=1, max_length=64)]
    verification_uri: Text
    expires_in: Annotated[float, Meta(gt=0, le=86_400)]
    verification_uri_complete: Text | None = None
    interval: Annotated[float, Meta(ge=0, le=300)] = 5.0


@dataclass(frozen=True)
class Pending:
    """Nobody has let the device in yet."""

    is_too_fast: bool


class Providers:
    """The issuers at which people log in."""

    def __init__(
        self, issuers: Sequence[Issuer] = (), verifier: LoginVerifier | None = None
    ) -> None:
        gate = SharedRoom(ASKED_AT_ONCE)
        self._all = [
            Provider(issuer, verifier, gate)
            for issuer in issuers
            if verifier is not None and issuer.document.client_id is not None
        ]

    def find(self, tenant: str | None, issuer: str | None) -> list["Provider"]:
        """Return those of a tenant and with a name; None: of any."""
        return [
            provider
            for provider in self._all
            if (tenant is None or folded_name(provider.tenant) == folded_name(tenant))
            and issuer in (None, provider.issuer)
        ]

    def with_id(self, id_: str) -> "Provider | None":
        """Return the one with this id, if it is there still."""
        return next((provider for provider in self._all if provider.id == id_), None)


class Provider:
    """One issuer, and what weft is called there."""

    def __init__(
        self,
        issuer: Issuer,
        verifier: LoginVerifier,
        gate: SharedRoom,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entry = issuer.document
        self._secret = issuer.client_secret
        self._verifier = verifier
        self._gate = gate
        self._clock = clock
        self._known: _Description | None = None
        self._read_at = self._tried_at = float("-inf")
        self._reading = asyncio.Lock()
        self.tenant = self._entry.tenant
        self.issuer = self._entry.issuer
        self.login_s = self._entry.login_s
        named = f"{folded_name(self.tenant)}\n{self.issuer}\n{self._entry.client_id}"
        self.id = hashlib.sha256(named.encode()).hexdigest()[:16]
        """The same on every api, and after a restart."""

    async def authorization_url(
        self, *, redirect_uri: str, state: str, nonce: str, challenge: str
    ) -> str:
        """Return where a browser begins to log in. Raise `IssuerAway`."""
        endpoint = (await self._description()).authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": str(self._entry.client_id),
            "redirect_uri": redirect_uri,
            "scope": " ".join(self._entry.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(endpoint, query)

    async def logout_url(self, back: str) -> str | None:
        """Return where a browser logs out at the issuer (OpenID Connect RP-Initiated Logout 1.0);
        None: it has no such page, or does not answer. `back`: where it goes on, if the issuer
        leads back.
        """
        with suppress(IssuerAway):  # which is logged
            endpoint = (await self._description()).end_session_endpoint
            if endpoint is not None:
                query = {"client_id": str(self._entry.client_id)}
                if self._entry.leads_back:
                    query["post_logout_redirect_uri"] = back
                return _with_query(endpoint, query)
        return None

    async def exchange(
        self, code: str, *, verifier: str, redirect_uri: str, nonce: str, named: str | None
    ) -> Bearer:
        """Return whom a code is about, which it can be used for once. `named`: who has sent it, as
        the browser's request says (RFC 9207).

        Raise `LoginNotDone`, `IssuerAway`, `Busy`.
        """
        description = await self._description()
        if named is None and description.authorization_response_iss_parameter_supported:
            raise LoginNotDone("The answer does not say which issuer it is of.")
        if named not in (None, self.issuer):
            raise LoginNotDone("The answer is of another issuer.")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        answer = await self._tokens(description, form)
        if answer.error is not None:
            raise refused_by_issuer(answer.error, answer.error_description)
        return await self._bearer(answer, nonce)

    async def begin_device(self) -> DeviceCode:
        """Return what somebody types in elsewhere. Raise `NoDeviceFlow`, `LoginNotDone`,
        `IssuerAway`, `Busy`.
        """
        description = await self._description()
        if description.device_authorization_endpoint is None:
            raise NoDeviceFlow
        form = {"scope": " ".join(self._entry.scopes)}
        answered = await self._post(description.device_authorization_endpoint, description, form)
        if answered.head.status != OK:
            answer = self._decoded(answered.body, answered.head.status, _Tokens)
            raise refused_by_issuer(answer.error or "", answer.error_description)
        code = self._decoded(answered.body, OK, DeviceCode)
        texts = [code.device_code, code.user_code]
        addresses = [code.verification_uri, code.verification_uri_complete or self.issuer]
        if any(harmless(one) != one[:TEXT_CHARS_MAX] for one in texts) or not all(
            map(is_safe_url, addresses)
        ):
            raise self._away("its device code is malformed")
        return code

    async def poll_device(self, device_code: str) -> Bearer | Pending:
        """Return whom a device code is about, when somebody has typed it in. Raise
        `LoginNotDone`, `IssuerAway`, `Busy`.
        """
        form = {"grant_type": DEVICE_GRANT, "device_code": device_code}
        answer = await self._tokens(await self._description(), form)
        if answer.error in {"authorization_pending", "slow_down"}:
            return Pending(is_too_fast=answer.error == "slow_down")
        if answer.error is not None:
            raise refused_by_issuer(answer.error, answer.error_description)
        return await self._bearer(answer, None)

    async def _bearer(self, answer: _Tokens, nonce: str | None) -> Bearer:
        if answer.id_token is None:
            raise LoginNotDone("Its answer has no ID token: does `scopes` have `openid`?")
        try:
            return await self._verifier.verify_login(answer.id_token, self._entry, nonce)
        except TokenRefused as error:
            raise LoginNotDone(f"Its ID token is not believed. {error}") from error

    async def _tokens(self, description: _Description, form: Mapping[str, str]) -> _Tokens:
        answered = await self._post(description.token_endpoint, description, form)
        answer = self._decoded(answered.body, answered.head.status, _Tokens)
        if answered.head.status != OK and answer.error is None:
            raise self._away(f"its token endpoint answered {answered.head.status}")
        return answer

    async def _post(self, url: str, description: _Description, form: Mapping[str, str]) -> Answer:
        """Send a form as the client that weft is (RFC 6749, 2.3)."""
        client, secret = str(self._entry.client_id), self._secret
        form, headers = {**form}, {}
        if secret is None:
            form["client_id"] = client
        elif "client_secret_basic" in description.token_endpoint_auth_methods_supported:
            pair = f"{quote_plus(client)}:{quote_plus(secret)}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": client, "client_secret": secret}
        if not self._gate.has(self.id):
            raise Busy
        with self._gate.taken(self.id):
            answered = await self._asked(post_form(url, form, headers))
        if answered.head.status >= SERVER_ERROR:
            raise self._away(f"it answered {answered.head.status}")
        return answered

    async def _description(self) -> _Description:
        """Return what the issuer says of itself: read again when it is not fresh, and an old one
        if that fails, as long as its keys count, too.
        """
        async with self._reading:
            is_old = self._clock() - self._read_at > self._entry.keys_fresh_s
            if is_old and self._clock() - self._tried_at > RETRY_S:
                begun = self._clock()
                try:
                    with suppress(IssuerAway):  # which is logged
                        self._known = await self._read()
                        self._read_at = begun
                finally:  # who has waited meanwhile does not try again
                    self._tried_at = self._clock()
        if self._known is None or self._clock() - self._read_at > self._entry.keys_old_s:
            raise IssuerAway(self.issuer)
        return self._known

    async def _read(self) -> _Description:
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        found = self._decoded(await self._asked(fetch(url)), OK, _Description)
        if found.issuer != self.issuer:
            raise self._away("it says that it is another issuer")
        scheme = urlsplit(self.issuer).scheme
        for one in (
            found.authorization_endpoint,
            found.token_endpoint,
            found.device_authorization_endpoint,
            found.end_session_endpoint,
        ):
            if one is not None and not (is_safe_url(one) and urlsplit(one).scheme == scheme):
                raise self._away("one of its endpoints is no address like its own")
        return found

    async def _asked(self, call: Awaitable[ResultT]) -> ResultT:
        try:
            return await call
        except (NetFailure, ValueError) as error:
            raise self._away(str(error) or repr(error)) from error

    def _decoded(self, body: bytes, status: int, kind: type[ResultT]) -> ResultT:
        try:
            found: ResultT = read_json(body, kind)
        except msgspec.DecodeError as error:
            why = f"its answer with status {status} is malformed: {harmless(str(error))}"
            raise self._away(why) from error
        return found

    def _away(self, why: str) -> IssuerAway:
        log.warning("issuer.failed", issuer=self.issuer, why=why)
        return IssuerAway(self.issuer)


def _with_query(endpoint: str, query: Mapping[str, str]) -> str:
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


def refused_by_issuer(error: str, description: str | None) -> LoginNotDone:
    """Return the refusal that an issuer has sent, or that somebody says it has."""
    said = harmless(error) or "nothing"
    more = f": {harmless(description)}" if description else ""
    return LoginNotDone(f"The issuer says {said}{more}.")


def harmless(text: str) -> str:
    """Return a text of others as one short line of ASCII."""
    return "".join(one if " " <= one <= "~" else "?" for one in text[:TEXT_CHARS_MAX])


def challenge_of(verifier: str) -> str:
    """Return what an issuer is told of a verifier at first (RFC 7636, S256)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
