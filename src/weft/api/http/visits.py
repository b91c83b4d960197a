"""Visits: an administrator of the site looks into another tenant, and changes nothing there.

A request names the tenant: a program in a header, a browser in a cookie that only pages read. From
then on its caller is one of that tenant, so whatever limits a call to one tenant, row-level
security included, limits a visit as well.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, unquote

from weft.api.http.browsers import is_page
from weft.api.http.trail import shown_path
from weft.core.access.rights import Right
from weft.core.access.sessions import cookie_in, cookie_of
from weft.core.errors import TenantNotFound
from weft.ports.store import Action, Caller, Visit, Visited
from weft.store import ApiStore

HEADER: Final = "x-weft-visit"
ACTION_NAME: Final = "visit"
"""What the trail of the tenant calls it."""
CHOICE: Final = "/ui/visit"
"""Where a browser begins and ends a visit; there it has none."""
AGAIN_S: Final = 60.0
"""A visit that goes on gets another entry in the trail after this time: streams end then, and
their clients ask for them again.
"""
REMEMBER_MAX: Final = 10_000
NAME_CHARS_MAX: Final = 256


class Visits:
    """The visits of a moment ago. What is remembered of them never changes: names and numbers.
    Whether the caller may visit is asked with each request.
    """

    def __init__(self, store: ApiStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._known: OrderedDict[tuple[object, ...], tuple[Visited, float]] = OrderedDict()

    async def caller_of(
        self, scope: Mapping[str, Any], headers: Mapping[str, str], caller: Caller
    ) -> Caller:
        """Return who makes a request: this caller, or they as the visitor of the tenant that it
        names; an empty name is none. Raise `TenantNotFound`, whether it does not exist or may not
        be visited. A cookie that a browser has kept for too long counts for nothing instead.
        """
        if given := headers.get(HEADER):
            return await self._visitor(scope, caller, unquote(given))
        path: str = scope["path"]
        if not is_page(path) or path == CHOICE:
            return caller
        name = cookie_in(headers.get("cookie", ""), visit_cookie_name(scope["scheme"]))
        if name is not None:
            with suppress(TenantNotFound):
                return await self._visitor(scope, caller, unquote(name))
        return caller

    async def _visitor(self, scope: Mapping[str, Any], caller: Caller, name: str) -> Caller:
        visited = None
        if caller.may(Right.ADMINISTER) and caller.may(Right.READ) and _is_name(name):
            visited = await self._find(scope, caller, name)
        if visited is None:
            # The same words as those of the database for what `weft tenant show` does not find.
            raise TenantNotFound(
                f'tenant "{name[:NAME_CHARS_MAX]}" does not exist',
                detail="No tenant of this name is visible to you.",
                hint="Administrators of the site list all tenants with `weft tenant ls`.",
            )
        if visited.tenant_id == caller.tenant_id:
            return caller
        again_at = time.time() + AGAIN_S
        return replace(
            caller,
            tenant_id=visited.tenant_id,
            user_name=visited.user_name,
            expires_at=min(caller.expires_at or again_at, again_at),  # for streams
            scopes=frozenset({Right.READ}),
            visit=Visit(visited.tenant, caller.tenant_id, caller.user_name),
        )

    async def _find(self, scope: Mapping[str, Any], caller: Caller, name: str) -> Visited | None:
        client = scope.get("client")
        address = client[0] if client else None
        key = (caller.user_id, caller.token_id, address, name)
        known = self._known.get(key)
        if known is not None and known[1] > self._clock():
            return known[0]
        action = Action(
            caller=caller,
            name=ACTION_NAME,
            path=shown_path(scope),
            trace_id=scope["state"]["trace_id"],
            address=address,
        )
        visited = await self._store.begin_visit(action, name)
        if visited is not None:
            self._known[key] = (visited, self._clock() + AGAIN_S)
            self._known.move_to_end(key)
            if len(self._known) > REMEMBER_MAX:
                self._known.popitem(last=False)
        return visited


def _is_name(name: str) -> bool:
    return len(name) <= NAME_CHARS_MAX and "\0" not in name


def visit_cookie_name(scheme: str) -> str:
    """Return the name of the cookie; see `weft.core.access.sessions.cookie_name`."""
    return "__Host-weft_visit" if scheme == "https" else "weft_visit"


def visit_cookie(name: str, scheme: str, valid_s: float) -> str:
    """Return the header `Set-Cookie` with which a browser visits a tenant; 0 s: no more."""
    return cookie_of(quote(name, safe=""), scheme, valid_s, visit_cookie_name(scheme))
