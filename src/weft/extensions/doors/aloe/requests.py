"""Read bodies: JSON, and for actions also forms."""

from typing import Any, Final
from urllib.parse import parse_qsl

from weft.api.http.decoding import JSON
from weft.api.http.requests import AnyRequest, read_bytes
from weft.core.bounded import Unreadable, read_json
from weft.extensions.doors.aloe.refused import Refused, bad_request

FORM: Final = "application/x-www-form-urlencoded"
BYTES_MAX: Final = 256 << 10


async def read_body(request: AnyRequest, *, forms: bool) -> Any:  # noqa: ANN401 (JSON)
    """Read a body; nothing is None. Raise a 400 or 415 for what is neither JSON nor, with `forms`,
    a form.
    """
    media = (request.headers.get("content-type") or JSON).partition(";")[0].strip().lower()
    data = await read_bytes(request, BYTES_MAX)
    if forms and media == FORM:
        return _form(data)
    if media != JSON:
        raise Refused(415, f"bodies of type {media[:80]!r} are not supported, send {JSON}")
    if not data.strip():
        return None
    try:
        return read_json(data)
    except Unreadable as error:
        raise bad_request(f"the body is not JSON: {error}") from error


def _form(data: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            data.decode(), keep_blank_values=True, max_num_fields=64, errors="strict"
        )
    except ValueError as error:
        raise bad_request("the form cannot be read") from error
    return dict(pairs)
