"""Verify JSON web tokens: the signature by the keys of their issuer, then each claim.

The order and the rules are those of RFC 7519 and of RFC 8725: the algorithm is one of the
configuration's and fits the key, keys that a token brings or points to are never used, and what is
not understood is refused.

Signatures of JSON web tokens: checked by the library, and remembered once they were good.

A bearer sends the same token with each request, and its signature takes longer than all the rest.
Whether a key has signed a token never changes, so a remembered answer is never out of date; which
keys count, the claims and the dates do change, and are not looked at here.
"""

import hashlib
import hmac
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from warnings import catch_warnings, simplefilter

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.util import urlsafe_b64decode

from weft.api.web_tokens import wso2
from weft.api.web_tokens.bearers import PARTS, Bearer, IssuerAway, TokenExpired, TokenRefused
from weft.api.web_tokens.issuer_document import IssuerDocument
from weft.api.web_tokens.issuers import Issuer
from weft.api.web_tokens.key_sets import ALGORITHMS_OF, KnownKey
from weft.api.web_tokens.keys import Keys, KeysAway, keys_of
from weft.core.access.rights import UserRole
from weft.core.bounded import bounded
from weft.core.text.texts import wrong_name

REMEMBER_MAX: Final = 10_000
"""Each takes some 200 bytes."""
IsSigned = Callable[[str, Sequence[KnownKey], str], bool]
"""Says whether one of these keys has signed a token by this algorithm, which is the token's."""
_REGISTRIES: Final = {
    name: jws.JWSRegistry(algorithms=[name], strict_check_header=False)
    for names in ALGORITHMS_OF.values()
    for name in names
}
_RS256: Final = jws.JWSRegistry.algorithms["RS256"]


class Signatures:
    """Remembers who has signed which tokens, those used last. Only digests are kept: of the token
    together with the key. A refusal is not remembered, so nobody fills this with tokens of theirs.
    """

    def __init__(self, remember_max: int = REMEMBER_MAX, check: IsSigned | None = None) -> None:
        self._remember_max = remember_max
        self._check = check or is_signed
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def __len__(self) -> int:
        """Return how many are remembered."""
        return len(self._known)

    def is_signed(self, token: str, keys: Sequence[KnownKey], algorithm: str) -> bool:
        """Say whether one of these keys has signed the token."""
        digests = [hashlib.sha256(key.digest + token.encode()).digest() for key in keys]
        for digest in digests:
            if digest in self._known:
                self._known.move_to_end(digest)
                return True
        for digest, key in zip(digests, keys, strict=True):
            if self._check(token, [key], algorithm):
                self._known[digest] = None
                if len(self._known) > self._remember_max:
                    self._known.popitem(last=False)
                return True
        return False


def is_signed(token: str, keys: Sequence[KnownKey], algorithm: str) -> bool:
    """Say whether one of these keys has signed the token."""
    return any(_has_signed(key, token, algorithm) for key in keys)


def _has_signed(one: KnownKey, token: str, algorithm: str) -> bool:
    try:
        if algorithm == wso2.ALGORITHM:  # a name that the library does not know
            signed, _, signature = token.rpartition(".")
            return _RS256.verify(signed.encode(), urlsafe_b64decode(signature.encode()), one.key)
        with catch_warnings():
            simplefilter("ignore", SecurityWarning)  # about the name EdDSA
            jws.deserialize_compact(token, one.key, registry=_REGISTRIES[algorithm])
    except (JoseError, ValueError, TypeError):
        return False
    return True


USER_CHARS_MAX: Final = 200
LATEST: Final = 253_402_128_000.0
"""30 December 9999: in every time zone a date that programs can write. Further ones end then."""
_FOREIGN_KEYS: Final = ("jku", "jwk", "x5u", "x5c")
"""Headers by which a token brings its own key, or says where one is."""
_NOT_OF_TOKENS: Final = ("b64", "crit")
"""RFC 7797 forbids the first in a JSON web token; the second names what a reader must understand,
and nothing of that kind is understood here.
"""


class WebTokens:
    """The issuers that are believed, with their keys."""

    def __init__(
        self,
        issuers: Sequence[Issuer],
        clock: Callable[[], float] = time.time,
        keys_of: Callable[[Issuer], Keys] = keys_of,
        signatures: Signatures | None = None,
    ) -> None:
        self._clock = clock
        self._signatures = Signatures() if signatures is None else signatures
        self._issuers: list[tuple[IssuerDocument, Keys]] = [
            (one.document, keys_of(one)) for one in issuers
        ]
        self.headers: Sequence[str] = sorted(
            {one.header.lower() for one, _ in self._issuers if one.header is not None}
        )
        """The headers, besides `Authorization`, that may have a token."""

    async def verify(self, token: str, header: str | None = None) -> Bearer:
        """Return the bearer of a token, which came in this header; None: in `Authorization`.

        Raise `TokenRefused`, or `IssuerAway` if its keys cannot be read.
        """
        head, claims = _parsed(token)
        issuer, keys = self._issuer_of(claims, header)
        await _check_signature(token, head, issuer, keys, self._signatures.is_signed)
        if issuer.form == "wso2":
            claims = wso2.translated(claims, issuer)
        return self._bearer(claims, issuer)

    async def verify_login(self, token: str, issuer: IssuerDocument, nonce: str | None) -> Bearer:
        """Return the bearer of an ID token (OpenID Connect Core 1.0, 3.1.3.7) that this issuer
        has given for a login. `nonce`: what the login sent along; None: it could send none.

        Raise `TokenRefused`, or `IssuerAway` if its keys cannot be read.
        """
        head, claims = _parsed(token)
        (keys,) = (keys for document, keys in self._issuers if document is issuer)
        if claims.get("iss") != issuer.issuer:
            raise TokenRefused("It is of another issuer.")
        if not _says(claims.get("aud"), str(issuer.client_id)):
            raise TokenRefused("It is for another audience.")
        is_for_several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if is_for_several else issuer.client_id) != issuer.client_id:
            raise TokenRefused("It is for another client.")
        await _check_signature(token, head, issuer, keys, is_signed)
        if nonce is not None and not _is_text(claims.get("nonce"), nonce):
            raise TokenRefused("It was made for another login: its nonce differs.")
        return self._bearer(claims, issuer)

    def _issuer_of(
        self, claims: Mapping[str, Any], header: str | None
    ) -> tuple[IssuerDocument, Keys]:
        audience = claims.get("aud")
        given = audience if isinstance(audience, list) else [audience]
        for issuer, keys in self._issuers:
            if header is not None and (issuer.header or "").lower() != header:
                continue
            is_meant = header is not None if issuer.form == "wso2" else issuer.audience in given
            if is_meant and claims.get("iss") == issuer.issuer:
                return issuer, keys
        raise TokenRefused("Its issuer and audience are not known here.")

    def _bearer(self, claims: Mapping[str, Any], issuer: IssuerDocument) -> Bearer:
        """Return the bearer of a signed token. Raise `TokenRefused`, which says whose it is."""
        user = _user_of(claims, issuer)
        try:
            expires_at = _check_times(claims, self._clock(), issuer.leeway_s)
            _check_required(claims, issuer)
        except TokenRefused as error:
            error.tenant, error.user = issuer.tenant, user
            raise
        if user is None:
            refused = TokenRefused(f"Its claim `{issuer.user_claim}` names no user.")
            refused.tenant = issuer.tenant
            raise refused
        return Bearer(
            issuer.tenant, user, _role_of(claims, issuer), issuer.create_users, expires_at
        )


async def _check_signature(
    token: str, head: Mapping[str, Any], issuer: IssuerDocument, keys: Keys, by_any: IsSigned
) -> None:
    """Raise `TokenRefused` unless a key of the issuer has signed the token. `by_any` is asked
    last, about keys that count now: what it remembers is no answer to anything else.
    """
    algorithm, key_id = head.get("alg"), head.get("kid")
    is_rs256 = issuer.form == "wso2" and algorithm == wso2.ALGORITHM
    if not is_rs256 and algorithm not in issuer.algorithms:
        raise TokenRefused("Its algorithm is not one of its issuer's.")
    if any(name in head for name in _FOREIGN_KEYS):
        raise TokenRefused("It brings a key of its own.")
    if any(name in head for name in _NOT_OF_TOKENS) or not isinstance(key_id, str | None):
        raise TokenRefused("Its header is not one of a JSON web token.")
    try:
        fitting = await keys.find(key_id, "RS256" if is_rs256 else str(algorithm))
    except KeysAway as error:
        raise IssuerAway(issuer.issuer) from error
    if not fitting:
        raise TokenRefused("No key of its issuer has its key id and algorithm.")
    if not by_any(token, fitting, str(algorithm)):
        raise TokenRefused("Its signature or its header is wrong.")


def _parsed(token: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return header and claims, which nobody has verified."""
    parts = token.split(".")
    if len(parts) != PARTS:
        raise TokenRefused("It is malformed.")
    try:
        head, claims = (_read(part) for part in parts[:2])
    except ValueError as error:
        raise TokenRefused("It is malformed.") from error
    if not isinstance(head, dict) or not isinstance(claims, dict):
        raise TokenRefused("It is malformed.")
    return head, claims


def _read(part: str) -> Any:  # noqa: ANN401 (any JSON)
    return bounded(lambda: _decode(urlsafe_b64decode(part.encode()).decode()))


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object each of whose members is there once: of two, readers take another one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member twice")
    return found


_decode: Final = json.JSONDecoder(object_pairs_hook=_once).decode
"""`json.loads` would make a decoder for each text."""


def _check_times(claims: Mapping[str, Any], now: float, leeway_s: float) -> float:
    """Return when the token expires. Raise `TokenRefused` unless it is valid now."""
    times: dict[str, float] = {}
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TokenRefused(f"Its claim `{name}` is not a time.")
        times[name] = float(value) if abs(value) < 1 << 53 else float("nan")
        if times[name] != times[name]:  # NaN, from which no comparison follows
            raise TokenRefused(f"Its claim `{name}` is not a time.")
    if "exp" not in times:
        raise TokenRefused("It has no claim `exp`.")
    if now >= times["exp"] + leeway_s:
        raise TokenExpired("It has expired.")
    if any(now < times[name] - leeway_s for name in ("nbf", "iat") if name in times):
        raise TokenRefused("It is not valid yet.")
    return min(times["exp"] + leeway_s, LATEST)


def _check_required(claims: Mapping[str, Any], issuer: IssuerDocument) -> None:
    for name, value in issuer.required.items():
        if not _says(claims.get(name), value):
            raise TokenRefused(f"Its claim `{name}` is not the required one.")


def _user_of(claims: Mapping[str, Any], issuer: IssuerDocument) -> str | None:
    user = claims.get(issuer.user_claim)
    if not isinstance(user, str) or user != user.strip():
        return None
    return None if wrong_name(user, chars_max=USER_CHARS_MAX) else user


def _says(claim: object, value: str | bool | int) -> bool:  # noqa: FBT001 (what the file asks for)
    """Say whether a claim is this value, or a list that has it; 1 is not true."""
    given = claim if isinstance(claim, list) else [claim]
    return any(type(one) is type(value) and one == value for one in given)


def _is_text(given: object, secret: str) -> bool:
    """Say whether this is the secret, in constant time."""
    return isinstance(given, str) and hmac.compare_digest(
        given.encode(errors="replace"), secret.encode()
    )


def _role_of(claims: Mapping[str, Any], issuer: IssuerDocument) -> UserRole | None:
    if issuer.role_claim is None:
        return None
    given = claims.get(issuer.role_claim)
    values = given if isinstance(given, list) else [given]
    roles = [issuer.roles[one] for one in values if isinstance(one, str) and one in issuer.roles]
    order = list(UserRole)
    return max(roles, key=order.index) if roles else UserRole.VIEWER
