"""Errors as problem documents (RFC 9457)."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException

from weft.core.errors import Internal, Invalid, MethodNotAllowed, RouteNotFound, WeftError
from weft.core.problem_document import problem_document

MEDIA: Final = "application/problem+json"
RETRY_AFTER_S: Final = 1
_NO_PATH_HINT: Final = "`/openapi.json` lists every path with its methods."


def as_weft_error(
    error: Exception, path: str, method: str, allow: Callable[[str], Sequence[str]]
) -> WeftError:
    """Turn any error into one of ours. What is not known is `Internal`, and says nothing of its
    inside. `allow`: returns the methods that a path takes.
    """
    if isinstance(error, WeftError):
        return error
    if isinstance(error, NotFoundException):
        return RouteNotFound(
            f"no such path: {path[:200]}", detail="Nothing is served there.", hint=_NO_PATH_HINT
        )
    if isinstance(error, MethodNotAllowedException):
        refused = MethodNotAllowed(
            f"{path[:200]} does not take {method[:20]}",
            detail="The path exists, but not for this method.",
            hint=_NO_PATH_HINT,
        )
        refused.allow = tuple(allow(path))
        return refused
    if isinstance(error, HTTPException) and 400 <= error.status_code < 500:  # noqa: PLR2004 (4xx)
        return Invalid("the request cannot be read", detail=f"{error.detail}.", hint=_NO_PATH_HINT)
    return Internal(
        "the server made a mistake",
        detail="The request may or may not have been carried out; the server's log says more.",
        hint="Repeat it with the same Idempotency-Key; report the trace id if it fails again.",
    )


def encode_problem(error: WeftError, trace_id: str) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of the answer."""
    headers = {"content-type": MEDIA}
    if error.status == 401:  # noqa: PLR2004 (RFC 9110 wants it)
        headers["www-authenticate"] = 'Bearer realm="weft"'
    if isinstance(error, MethodNotAllowed):
        headers["allow"] = ", ".join(error.allow)
    if error.status == 503:  # noqa: PLR2004 (it may work later)
        headers["retry-after"] = str(RETRY_AFTER_S)
    return msgspec.json.encode(problem_document(error, trace_id)), headers
