"""Refuse callers whose role lacks the right that a route needs."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Final

from weft.api.calls.visits import SAFE, require_reading
from weft.api.http.routing import Request, Route
from weft.api.http.trail import action_of
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right, require
from weft.ports.store import ACTION, Caller

Table = Mapping[str, Right | None]
"""From method and path to the right; None: open to everybody."""
NO_RIGHT: Final = "a door's route says its right in `opt`, as `{'right': Right.READ}`"
"""It may name a `permission` there, too, if that does not follow from the right, that it is
`unrecorded` in the trail, and that batches are shown to `members` only.
"""


def complete_table(table: Table, routes: Iterable[Route]) -> Table:
    """Return the right of each route: those of doors say theirs. Raise LookupError if one has
    none, so that no route is served to everybody because it was forgotten.
    """
    found: dict[str, Right | None] = {}
    for route in routes:
        for name in route.names:
            if name not in table and "right" not in route.opt:
                raise LookupError(f"{name} has no right: add it to routes/rights.py; {NO_RIGHT}")
            found[name] = table[name] if name in table else route.opt["right"]
    return found


class Guard:
    """Refuse a request to a route whose right the caller lacks, and note what it needs on a batch.
    What others change is for the trail, but for the routes that are `unrecorded`.
    """

    def __init__(
        self, table: Table, permissions: Mapping[str, Permission], unrecorded: Container[str] = ()
    ) -> None:
        self._table = table
        self._permissions = permissions
        self._unrecorded = unrecorded

    def check(self, request: Request) -> None:
        """Raise `RightMissing` or `NotInVisit`."""
        scope, opt = request.scope, request.route.opt
        route = f"{scope['method']} {scope['path_template']}"
        right = self._table[route]
        if right is None:
            return
        caller: Caller = scope["state"]["caller"]
        scope["state"]["operation"] = request.route.fn.__name__
        if caller.visit is None:
            require(right, caller.user_name, caller.role, caller.scopes)
        else:
            require_reading(caller.visit, right, scope["method"], opt)
        needs = self._permissions.get(route) or opt.get("permission")
        needs = needs or (Permission.READ if right == Right.READ else Permission.WRITE)
        as_member = "members" in opt
        scope["state"]["caller"] = replace(caller, needs=needs, as_member=as_member)
        is_unrecorded = route in self._unrecorded or "unrecorded" in opt
        if scope["method"] not in SAFE and not is_unrecorded:
            ACTION.set(action_of(scope))
