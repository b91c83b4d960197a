"""Refuse callers whose role lacks the right that a route needs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from weft.api.calls.visits import SAFE, require_reading
from weft.api.http.routing import Request, Route
from weft.api.http.trail import action_of
from weft.core.access.rights import Permission, Right, require
from weft.ports.store import ACTION, Caller

Table = Mapping[str, Right | None]
"""From method and path to the right; None: open to everybody."""


def rights_of(routes: Iterable[Route]) -> Table:
    """Return the right that each route says. Raise LookupError if one says none, so that no route
    is served to everybody because it was forgotten.
    """
    found: dict[str, Right | None] = {}
    for route in routes:
        for name in route.names:
            if "right" not in route.opt:
                raise LookupError(f'{name} has no right; say one, as in `@get("/a", Right.READ)`')
            found[name] = route.opt["right"]
    return found


def check_right(request: Request) -> None:
    """Refuse a request to a route whose right the caller lacks, and note what it needs on a batch.
    What others change is for the trail, but for the routes that are `unrecorded`; `members` shows
    batches to members only. Raise `RightMissing` or `NotInVisit`.
    """
    scope, opt = request.scope, request.route.opt
    right = opt["right"]
    if right is None:
        return
    caller: Caller = scope["state"]["caller"]
    scope["state"]["operation"] = request.route.fn.__name__
    if caller.visit is None:
        require(right, caller.user_name, caller.role, caller.scopes)
    else:
        require_reading(caller.visit, right, scope["method"], opt)
    needs = opt.get("permission") or (Permission.READ if right == Right.READ else Permission.WRITE)
    scope["state"]["caller"] = replace(caller, needs=needs, as_member="members" in opt)
    if scope["method"] not in SAFE and "unrecorded" not in opt:
        ACTION.set(action_of(scope))
