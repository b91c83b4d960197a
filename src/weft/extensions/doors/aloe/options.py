"""What all routes of this door have: their paths, rights and handlers of refusals."""

from typing import Any, Final

from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.extensions.doors.aloe.refused import Refused, answer_refused

_BASES: Final = ("/jobs", "/jobs/v2")
"""The second is the documented one; clients that sign with a JWT cut off its end."""


def paths(rest: str) -> list[str]:
    """Return the paths of a route."""
    return [f"{base}{rest}" for base in _BASES]


def _options(right: Right, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    return {
        "status_code": 200,
        "exception_handlers": {Refused: answer_refused},
        "opt": {"right": right, **more},
    }


READ: Final = _options(Right.READ)
WRITE: Final = _options(Right.WRITE, permission=Permission.EXECUTE)
"""What acts on jobs; what changes them says that it needs more."""
FULL: Final = _options(Right.WRITE, permission=Permission.WRITE)
SHARE: Final = _options(Right.WRITE, permission=Permission.ALL)
