"""An error as others see it: a problem document (RFC 9457)."""

from typing import Any

from weft.core.errors import WeftError


def problem_document(error: WeftError, trace_id: str) -> dict[str, Any]:
    """Return the document of an error."""
    return {
        "type": f"urn:weft:error:{error.code}",
        "title": error.message,
        "status": error.status,
        "detail": error.detail,
        "hint": error.hint,
        "code": error.code,
        "trace_id": trace_id,
        "errors": [{"pointer": one.pointer, "message": one.message} for one in error.errors],
    }
