"""What schemathesis has to know of this api besides its description."""

from typing import Any

import msgspec
import schemathesis


@schemathesis.serializer("application/msgpack")
def as_msgpack(_context: Any, value: Any) -> bytes | None:  # noqa: ANN401 (any document)
    """Return a body in msgpack; JSON for a number that msgpack does not have."""
    try:
        return msgspec.msgpack.encode(value)
    except OverflowError:
        return msgspec.json.encode(value)
