"""The names of those who change what several tenants share: workers, pools, licences, prices.

Only administrators of the site do, and they are users of one tenant. So their tenant's number is
kept with the name, which users of other tenants are not shown.
"""

import re
from typing import Final

SITE_ADMINISTRATOR: Final = "site administrator"
_USER = re.compile(r"(user .*) of tenant ([0-9]+)", re.DOTALL)
_CHANGED = re.compile(r"(user .*)( (?:changed|removed) its description)", re.DOTALL)
_PRICED = re.compile(r"the owner \(.*\)(?= changed the price of flavour )", re.DOTALL)


def site_actor(user_name: str, *, tenant_id: int) -> str:
    """Return how a user is written down."""
    return f"user {user_name} of tenant {tenant_id}"


def shown_actor(actor: str, *, to_tenant_id: int | None) -> str:
    """Return what users of a tenant are shown of an actor; None: administrators of the site.

    One that names no tenant is shown to administrators of the site alone.
    """
    match = _USER.fullmatch(actor)
    if to_tenant_id is None or (match is not None and int(match[2]) == to_tenant_id):
        return actor if match is None else match[1]
    return SITE_ADMINISTRATOR if actor.startswith("user ") else actor


def shown_reason(reason: str, *, to_tenant_id: int | None) -> str:
    """Return what users of a tenant are shown of why a pool changed, as `shown_actor`."""
    if match := _CHANGED.fullmatch(reason):
        return shown_actor(match[1], to_tenant_id=to_tenant_id) + match[2]
    return reason if to_tenant_id is None else _PRICED.sub("the owner", reason, count=1)
