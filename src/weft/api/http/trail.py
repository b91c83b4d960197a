"""What the trail says of a request: which action it is, and whose."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from weft.core.errors import BadId
from weft.core.ids import parse_batch_id
from weft.ports.store import Action

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
PATH_CHARS_MAX: Final = 1000


def action_of(scope: Mapping[str, Any], *, refused: str | None = None) -> Action:
    """Return the action of a request whose caller and operation are known."""
    state, client = scope["state"], scope.get("client")
    batch_id = None
    with suppress(BadId, KeyError):
        batch_id = parse_batch_id(scope["path_params"]["b"])
    return Action(
        caller=state["caller"],
        name=state["operation"],
        path=scope["path"].replace("\0", "\\0")[:PATH_CHARS_MAX],
        trace_id=state["trace_id"],
        address=client[0] if client else None,
        batch_id=batch_id,
        refused=refused,
    )
