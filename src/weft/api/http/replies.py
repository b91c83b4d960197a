"""Replies in JSON."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from weft.api.http.routing import Response


def _plain(value: Any) -> Any:  # noqa: ANN401 (any value of a row)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        return float(value)
    raise NotImplementedError(type(value).__name__)


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number")


def encode(document: object) -> bytes:
    """Encode a document; it may hold rows of the store."""
    return _ENCODER.encode(document)


def reply(
    document: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    """Reply with a document."""
    return Response(
        encode(document), status_code=status, media_type="application/json", headers=headers
    )


def created(document: object, *, is_new: bool) -> Response[bytes]:
    """Reply 201; a repeat gets the same, with a header that says so."""
    return reply(document, 201, None if is_new else {"Idempotent-Replay": "true"})
