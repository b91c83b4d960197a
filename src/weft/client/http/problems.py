"""Problem documents (RFC 9457) as the errors that the server raised."""

from collections.abc import Iterator, Mapping
from typing import Any

from weft.core import errors
from weft.core.bounded import Unreadable, read_json
from weft.core.errors import FieldError, WeftError, error_classes

_BY_STATUS: Mapping[int, type[WeftError]] = {
    400: errors.Invalid,
    401: errors.Unauthenticated,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.TooLarge,
    429: errors.Unavailable,
    507: errors.DiskFull,
}


def to_error(status: int, body: bytes | Mapping[str, Any]) -> WeftError:
    """Return the error of the same code as an exception, with its trace id as a note.

    `status` 0: as the document says. A code that this program does not have (the server is
    newer) becomes a subclass of the status' error.
    """
    problem = _decode(body) if isinstance(body, bytes) else body
    if not status and isinstance(problem.get("status"), int):
        status = problem["status"]
    code = problem.get("code")
    cls = _class_of(status, code if isinstance(code, str) else None)
    error = cls.__new__(cls)
    # Some classes make their message from other arguments; here the message is there already.
    WeftError.__init__(
        error,
        _text(problem, "title") or f"the server answered {status}",
        detail=_text(problem, "detail"),
        hint=_text(problem, "hint"),
        errors=list(_field_errors(problem)),
    )
    if trace_id := _text(problem, "trace_id"):
        error.add_note(f"trace id {trace_id}")
    return error


def _class_of(status: int, code: str | None) -> type[WeftError]:
    for cls in error_classes():
        if cls.code == code:
            return cls
    others = errors.Unavailable if status > 501 else errors.Internal  # noqa: PLR2004 (not built)
    family = _BY_STATUS.get(status, errors.Invalid if 400 <= status < 500 else others)  # noqa: PLR2004 (client errors)
    return type(family.__name__, (family,), {"code": code, "status": status}) if code else family


def _decode(body: bytes) -> Mapping[str, Any]:
    try:
        problem = read_json(body)
    except Unreadable:
        return {"detail": body[:200].decode("utf-8", "replace")}
    return problem if isinstance(problem, dict) else {}


def _text(problem: Mapping[str, Any], name: str) -> str:
    value = problem.get(name)
    return value if isinstance(value, str) else ""


def _field_errors(problem: Mapping[str, Any]) -> Iterator[FieldError]:
    found = problem.get("errors")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            yield FieldError(_text(one, "pointer"), _text(one, "message"))
