"""The sink `http`: messages are sent as callbacks are."""

from typing import Final

from weft.core.deliveries.credentials import wrong_headers, wrong_url
from weft.ports.line_kinds import SinkKind, host_of, wrong_host
from weft.ports.sink import SinkReader, Target


def _target(reader: SinkReader) -> Target:
    url = str(reader.checked("url", wrong_url))
    return Target(url, headers=reader.checked("headers", wrong_headers, {}))


KIND: Final = SinkKind(
    ("url", "headers"),
    _target,
    ("url", "headers"),
    codes="400-499",
    reach=lambda site, sink: wrong_host(host_of(sink.url), site),
    position=1,
)
