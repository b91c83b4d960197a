"""Tokens that a gateway of WSO2 hands over (form `wso2` of an issuer), as one of RFC 7519.

They have no audience, for which the header of the gateway stands, name the user with their store
and tenant, and their roles in one text.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from weft.api.web_tokens.bearers import TokenRefused
from weft.api.web_tokens.issuer_document import IssuerDocument
from weft.core.access.rights import UserRole

PREFIX: Final = "x-jwt-assertion"
"""How the header begins; the gateway's name of the tenant follows."""
ALGORITHM: Final = "SHA256withRSA"
"""What these gateways call RS256."""
_CLAIMS: Final = "http://wso2.org/claims/"
_SUBSCRIBER: Final = f"{_CLAIMS}subscriber"
_SUPER_TENANT: Final = "@carbon.super"
_ROLE: Final = "role"
_ROLES: Final = {"admin": UserRole.TENANT_ADMIN, "user": UserRole.USER}
_OTHERS: Final = ("audience", "user_claim", "role_claim", "roles", "algorithms", "client_id")
"""Fields of an entry that its form decides."""


def mistake_of(document: IssuerDocument) -> str | None:
    """Return what is wrong with an entry of this form."""
    usual = {field.name: field.default for field in msgspec.structs.fields(document)}
    for name in _OTHERS:
        if getattr(document, name) not in (usual[name], {}):
            return f"the form `wso2` decides about `{name}`"
    if document.header is None or not _tenant_in(document.header):
        return "the form `wso2` needs a `header` such as `X-JWT-Assertion-acme`"
    return None


def completed(document: IssuerDocument) -> IssuerDocument:
    """Return an entry with what its form decides."""
    return msgspec.structs.replace(
        document,
        algorithms=("RS256",),
        user_claim=f"{_CLAIMS}enduser",
        role_claim=_ROLE,
        roles=_ROLES,
        header=canonical(document.header),
    )


def canonical(header: str | None) -> str:
    """Return a name of a header as it is compared: gateways write the tenant in several ways."""
    return (header or "").lower().replace("_", "-").replace(".", "-")


def translated(claims: Mapping[str, Any], document: IssuerDocument) -> Mapping[str, Any]:
    """Return the claims with the user's bare name and one role. Raise `TokenRefused`."""
    subscriber = claims.get(_SUBSCRIBER)
    if not isinstance(subscriber, str) or not subscriber.strip():
        refused = TokenRefused(f"Its claim `{_SUBSCRIBER}` names nobody.")
        refused.tenant = document.tenant
        raise refused
    tenant = _tenant_in(document.header or "")
    found: dict[str, Any] = {**claims, _ROLE: "user"}
    if isinstance(user := claims.get(document.user_claim), str):
        found[document.user_claim] = _without_store(user, tenant)
    roles = claims.get(f"{_CLAIMS}role")
    given = roles.split(",") if isinstance(roles, str) else []
    administrators = (f"{tenant}-services-admin", "-super-admin")
    if any(one.strip().endswith(administrators) for one in given):
        found[_ROLE] = "admin"
    return found


def _tenant_in(header: str) -> str:
    """Return the gateway's name of the tenant; "": the header has none."""
    start, _, tenant = canonical(header).partition(f"{PREFIX}-")
    return "" if start else tenant.replace("-", ".")


def _without_store(user: str, tenant: str) -> str:
    """Return the name of `STORE/name@tenant` alone."""
    for ending in (_SUPER_TENANT, f"@{tenant}"):
        if user.lower().endswith(ending):
            user = user[: -len(ending)]
            break
    return user.rpartition("/")[2]
