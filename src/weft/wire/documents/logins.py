"""The documents about logins at an issuer."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import says

_NAME = Meta(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")
CODE = Meta(min_length=1, max_length=4096, pattern=r"^[\x20-\x7e]+$")
_LOOPBACK = Meta(max_length=64, pattern=r"^http://127\.0\.0\.1:[1-9][0-9]{0,4}/callback$")
_RANDOM = Meta(min_length=43, max_length=128, pattern=r"^[A-Za-z0-9._~-]+$")
"""As RFC 7636 has verifiers."""
Name = Annotated[str, _NAME]
Tenant = Annotated[Name | None, says("The tenant to log in to; null: the issuer decides.", "acme")]
IssuerName = Annotated[
    Name | None,
    says("The issuer; null: the only one, or that of the tenant.", "https://login.example"),
]
RedirectUri = Annotated[
    Annotated[str, _LOOPBACK],
    says(
        "Where the browser brings the code: a port of its own machine.",
        "http://127.0.0.1:40001/callback",
    ),
]
TokenName = Annotated[Annotated[str, _NAME], says("What the token is called.", "weft login")]


class LoginDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """`POST /v1/logins`: begin to log in with a browser on the machine of the caller."""

    tenant: Tenant = None
    issuer: IssuerName = None
    redirect_uri: RedirectUri
    state: Annotated[Annotated[str, _RANDOM], says("What the browser brings back.")]
    nonce: Annotated[Annotated[str, _RANDOM], says("What the issuer signs.")]
    code_challenge: Annotated[
        Annotated[str, _RANDOM], says("The S256 of the verifier (RFC 7636).")
    ]


class LoginBegun(Struct, kw_only=True):
    """A login that waits for a browser."""

    issuer: str
    url: Annotated[str, Meta(description="to be opened in a browser")]


class LoginEndDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """`POST /v1/logins/finish`: exchange a code for a token."""

    tenant: Tenant = None
    issuer: Annotated[Name, says("The issuer that the beginning has named.")]
    redirect_uri: RedirectUri
    nonce: Annotated[Annotated[str, _RANDOM], says("That of the beginning.")]
    code: Annotated[Annotated[str, CODE], says("What the browser has brought.")]
    code_verifier: Annotated[Annotated[str, _RANDOM], says("The verifier (RFC 7636).")]
    iss: Annotated[
        Annotated[str, Meta(max_length=1024)] | None,
        says("The issuer as the browser's request names it (RFC 9207); null: it does not."),
    ] = None
    name: TokenName = "weft login"


class LoginDone(Struct, kw_only=True):
    """Somebody who is logged in, with a token."""

    tenant: str
    user: str
    token_id: int
    token: Annotated[str, Meta(description="keep it: it is shown only now")]
    expires_at: datetime


class DeviceLoginDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """`POST /v1/device-logins`: begin to log in with a browser on another machine."""

    tenant: Tenant = None
    issuer: IssuerName = None


class DeviceLoginBegun(Struct, kw_only=True):
    """A login that waits for somebody to type in a code."""

    issuer: str
    device_code: Annotated[str, Meta(description="for polls; a secret")]
    user_code: Annotated[str, Meta(description="what is typed in")]
    verification_uri: Annotated[str, Meta(description="where it is typed in")]
    verification_uri_complete: Annotated[
        str | None, Meta(description="the same with the code in it; null: there is none")
    ]
    expires_in_s: float
    interval_s: Annotated[float, Meta(description="ask no sooner again")]


class DevicePollDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """`POST /v1/device-logins/poll`: ask whether somebody has typed the code in."""

    tenant: Tenant = None
    issuer: Annotated[Name, says("The issuer that the beginning has named.")]
    device_code: Annotated[Annotated[str, CODE], says("That of the beginning.")]
    name: TokenName = "weft login"


class DevicePolled(Struct, kw_only=True):
    """What has become of a code that somebody types in."""

    is_too_fast: Annotated[bool, Meta(description="ask 5 s less often from now on")]
    login: Annotated[LoginDone | None, Meta(description="null: not yet")]
