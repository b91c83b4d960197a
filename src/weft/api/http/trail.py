"""What the trail says of a request: which action it is, and whose."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

from weft.api.http.routing import Scope
from weft.core.errors import BadId
from weft.core.ids import parse_batch_id
from weft.ports.store import ACTION, Action, Caller

PATH_CHARS_MAX: Final = 1000
REFUSED_AGAIN_S: Final = 60.0
"""The same caller gets no second entry for the same refusal sooner."""
REFUSED_MAX: Final = 10_000
"""The refusal that was recorded first is forgotten."""


class Refusals:
    """Which refusals were recorded a moment ago: whoever may do nothing cannot fill the disk."""

    def __init__(self) -> None:
        self._recorded: OrderedDict[tuple[object, ...], float] = OrderedDict()

    def is_new(self, action: Action) -> bool:
        """Say whether to record it; then the same one is not new for a while."""
        caller, now = action.caller, time.monotonic()
        who = (caller.tenant_id, caller.token_id, caller.user_id)  # as a visitor, too
        key = (*who, action.name, action.refused)
        at = self._recorded.get(key)
        if at is not None and now < at + REFUSED_AGAIN_S:
            return False
        self._recorded[key] = now
        self._recorded.move_to_end(key)
        if len(self._recorded) > REFUSED_MAX:
            self._recorded.popitem(last=False)
        return True


def record_login(scope: Scope, caller: Caller, operation: str) -> None:
    """Tell the trail whose request logs in or out: the guard knows nobody on open routes."""
    scope["state"].update(caller=caller, operation=operation)
    ACTION.set(action_of(cast("Mapping[str, Any]", scope)))


def action_of(scope: Mapping[str, Any], *, refused: str | None = None) -> Action:
    """Return the action of a request whose caller and operation are known."""
    state, client = scope["state"], scope.get("client")
    batch_id = None
    with suppress(BadId, KeyError):
        batch_id = parse_batch_id(scope["path_params"]["b"])
    return Action(
        caller=state["caller"],
        name=state["operation"],
        path=shown_path(scope),
        trace_id=state["trace_id"],
        address=client[0] if client else None,
        batch_id=batch_id,
        refused=refused,
    )


def shown_path(scope: Mapping[str, Any]) -> str:
    """Return the path of a request as the trail has it: without its query."""
    path: str = scope["path"].replace("\0", "\\0")[:PATH_CHARS_MAX]
    return path
