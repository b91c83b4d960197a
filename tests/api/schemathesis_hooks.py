"""What schemathesis has to know of this api besides its description."""

from typing import Any

import msgspec
import schemathesis


@schemathesis.hook
def map_headers(_context: Any, headers: Any) -> Any:  # noqa: ANN401 (a mapping, or nothing)
    """Look into no other tenant: there is none, so that each such request would be a 404."""
    return headers and {name: one for name, one in headers.items() if name != "X-Weft-Visit"}


@schemathesis.serializer("application/toml")
def as_toml(_context: Any, value: Any) -> bytes:  # noqa: ANN401 (any document)
    """Return a text as it is; of anything else what Python says of it, which is no TOML."""
    return str(value).encode(errors="surrogatepass")


@schemathesis.serializer("application/msgpack")
def as_msgpack(_context: Any, value: Any) -> bytes | None:  # noqa: ANN401 (any document)
    """Return a body in msgpack; JSON for a number that msgpack does not have."""
    try:
        return msgspec.msgpack.encode(value)
    except OverflowError:
        return msgspec.json.encode(value)
