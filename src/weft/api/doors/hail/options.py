"""What Hail's routes have in common: their rights, and how they say what they refuse."""

from typing import Any, Final

from weft.api.doors.hail.refused import Refused, answer_error, answer_refused
from weft.core.errors import WeftError
from weft.core.permissions import Permission
from weft.core.rights import Right

_HANDLERS: Final = {Refused: answer_refused, WeftError: answer_error}


def _options(right: Right | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (as Litestar)
    return {
        "status_code": 200,
        "exception_handlers": _HANDLERS,
        "opt": {"door": "hail", "right": right, **more},
    }


OPEN: Final = _options(None)
READ: Final = _options(Right.READ)
WRITTEN: Final = _options(Right.WRITE)
CANCELLED: Final = _options(Right.WRITE, permission=Permission.EXECUTE)
ADDED: Final = _options(Right.WRITE, unrecorded=True)
"""They send parts of an update, which changes nothing until it is committed."""
MANAGED: Final = _options(Right.MANAGE, manages=True)
"""Of those who administer billing projects; all others get a 401."""
