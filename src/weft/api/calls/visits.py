"""What is shown on a visit, by which an administrator of the site looks into another tenant."""

from collections.abc import Mapping
from typing import Any, Final

from weft.core.access.rights import Right
from weft.core.errors import NotInVisit
from weft.ports.store import Visit

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing, which any page may cause; browsers keep the answers from it."""
_SHOWN: Final = frozenset({Right.READ, Right.MANAGE})
"""Rights to what belongs to a tenant."""


def is_shown(right: Right | None, method: str, options: Mapping[str, Any]) -> bool:
    """Say whether a route only reads, and what belongs to a tenant. `options`: those of the route,
    whose `visit` says it where that does not follow from the right.
    """
    is_of_tenant: bool = options.get("visit", right in _SHOWN and "door" not in options)
    return is_of_tenant and _reads(right, method)


def _reads(right: Right | None, method: str) -> bool:
    return method in SAFE or right == Right.READ


def require_reading(visit: Visit, right: Right, method: str, options: Mapping[str, Any]) -> None:
    """Raise `NotInVisit` unless a route is shown on a visit; see `is_shown`."""
    if not _reads(right, method):
        raise NotInVisit(
            f"nothing is changed on a visit to tenant {visit.tenant}",
            detail="Administrators of the site look into other tenants and change nothing there.",
            hint="To act in that tenant, use a token of one of its users; to act in your own, "
            "leave out --visit, WEFT_VISIT or the header X-Weft-Visit.",
        )
    if not is_shown(right, method, options):
        raise NotInVisit(
            f"this is not shown on a visit to tenant {visit.tenant}",
            detail="A visit shows what belongs to the tenant: nothing of yourself or of the site, "
            "no keys, and nothing through the doors for other systems' clients.",
            hint="Ask without the visit, or with a token of a user of that tenant.",
        )
