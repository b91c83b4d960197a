"""What Hail's routes have in common: their rights, and how they say what they refuse."""

from typing import Any, Final

from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.extensions.doors.hail.refused import Refused, answer_refused

_HANDLERS: Final = {Refused: answer_refused}


def _options(right: Right | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    return {"status_code": 200, "exception_handlers": _HANDLERS, "opt": {"right": right, **more}}


OPEN: Final = _options(None)
KNOWN: Final = _options(Right.READ)
"""Of users, projects and the site."""
READ: Final = _options(Right.READ, members=True)
"""Of batches, which administrators do not see there unless they are members."""
WRITTEN: Final = _options(Right.WRITE, members=True)
CANCELLED: Final = _options(Right.WRITE, members=True, permission=Permission.EXECUTE)
ADDED: Final = _options(Right.WRITE, members=True, unrecorded=True)
"""They send parts of an update, which changes nothing until it is committed."""
MANAGED: Final = _options(Right.MANAGE, manages=True)
"""Of those who administer billing projects; all others get a 401."""
