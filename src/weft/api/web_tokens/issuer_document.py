"""An entry of the file that names the issuers whose tokens are believed."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from weft.core.access.rights import UserRole

Algorithm = Literal["RS256", "ES256", "EdDSA", "Ed25519"]
Text = Annotated[str, Meta(min_length=1, max_length=1024)]
Seconds = Annotated[float, Meta(ge=0, le=86_400)]


class IssuerDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """One entry `[[issuers]]` of the file."""

    tenant: Text
    issuer: Text
    """The claim `iss`."""
    form: Literal["oidc", "wso2"] = "oidc"
    """Whose claims: those of RFC 7519, or those that a gateway of WSO2 hands over."""
    audience: Text | None = None
    """The claim `aud`, or one of its values; the form `wso2` has none."""
    pem: Annotated[str, Meta(min_length=1, max_length=16_384)] | None = None
    """A public key; else `jwks_file` or `jwks_url`."""
    jwks_file: Text | None = None
    jwks_url: Text | None = None
    algorithms: Annotated[tuple[Algorithm, ...], Meta(min_length=1)] = get_args(Algorithm)
    leeway_s: Annotated[float, Meta(ge=0, le=300)] = 30.0
    """How much the clocks may differ."""
    required: Mapping[str, str | bool | int] = {}
    """Claims that must have these values, or be lists that have them."""
    user_claim: Text = "sub"
    role_claim: Text | None = None
    roles: Mapping[str, UserRole] = {}
    """The role that each value of `role_claim` stands for; the highest counts."""
    create_users: bool = False
    """Whether bearers who are no users of the tenant become such."""
    header: Text | None = None
    """A header in which a gateway hands over the token, besides `Authorization`."""
    keys_fresh_s: Seconds = 300.0
    """After this time the keys of `jwks_url` are read again."""
    keys_old_s: Seconds = 3600.0
    """Keys of `jwks_url` that could not be read again for this time no longer count."""
    client_id: Text | None = None
    """The name under which the issuer knows weft; with it people log in there."""
    client_secret_file: Text | None = None
    client_secret_env: Text | None = None
    """Where the secret is that the issuer has given to weft; without both it has none."""
    scopes: Annotated[tuple[Text, ...], Meta(max_length=64)] = ("openid", "email")
    login_s: Annotated[float, Meta(ge=60, le=31_536_000)] = 43_200.0
    """How long a session or a token lasts that a login has made."""
    leads_back: bool = False
    """Whether the issuer may lead browsers back to `/login` after a logout; it has to know that
    address.
    """
