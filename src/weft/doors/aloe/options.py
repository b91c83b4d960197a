"""What all routes of this door have: their paths, rights and handlers of refusals."""

from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from weft.core.errors import Unauthenticated
from weft.core.login_attempts import LoginAttempt
from weft.core.permissions import Permission
from weft.core.rights import Right
from weft.doors.aloe.refused import Refused, answer_refused

_ASSERTION: Final = "x-jwt-assertion"
_BASES: Final = ("/jobs", "/jobs/v2")
"""The second is the documented one; clients that sign with a JWT cut off its end."""


def paths(rest: str) -> list[str]:
    """Return the paths of a route."""
    return [f"{base}{rest}" for base in _BASES]


async def refuse_assertion(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Refuse a request with the assertion of a gateway that nobody has verified, whatever else it
    has (a guard of Litestar).
    """
    caller = connection.scope["state"]["caller"]
    if caller.token_id and any(name.startswith(_ASSERTION) for name in connection.headers):
        error = Unauthenticated(
            "the request is not authenticated",
            detail="It has an assertion of a gateway that this server does not know.",
            hint="Send a token of weft alone, or name the gateway in the file of issuers.",
        )
        error.login = LoginAttempt()
        raise error


def _options(right: Right, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    return {
        "status_code": 200,
        "exception_handlers": {Refused: answer_refused},
        "guards": [refuse_assertion],
        "opt": {"right": right, **more},
    }


READ: Final = _options(Right.READ)
WRITE: Final = _options(Right.WRITE, permission=Permission.EXECUTE)
"""What acts on jobs; what changes them says that it needs more."""
FULL: Final = _options(Right.WRITE, permission=Permission.WRITE)
SHARE: Final = _options(Right.WRITE, permission=Permission.ALL)
