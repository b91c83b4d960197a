"""Answers as JSON."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec
from litestar import Response


def _plain(value: Any) -> Any:  # noqa: ANN401 (whatever a row holds)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        return float(value)
    raise NotImplementedError(type(value).__name__)


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number")


def encode(document: object) -> bytes:
    """Encode a document; rows of the store as they are."""
    return _ENCODER.encode(document)


def reply(
    document: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    """Answer with a document."""
    return Response(
        encode(document), status_code=status, media_type="application/json", headers=headers
    )
