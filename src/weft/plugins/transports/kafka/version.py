"""Which release of Kafka a broker is. No client library tells, nor does the protocol say it in
words: the highest `metadata.version` that a broker supports does (KIP-584), and it tells that to
anybody before a login.
"""

import socket
import ssl
import struct
from bisect import bisect_right
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Final

from weft.ports.transport import Connection

_CALL_S: Final = 10.0
_BYTES_MAX: Final = 1_000_000
_API_VERSIONS: Final = 18
_VERSION: Final = 3
_FEATURE: Final = b"metadata.version"
_RELEASES: Final = (
    (1, "3.0"), (2, "3.1"), (3, "3.2"), (4, "3.3"), (8, "3.4"), (9, "3.5"), (12, "3.6"),
    (15, "3.7"), (20, "3.8"), (21, "3.9"), (22, "4.0"), (26, "4.1"), (28, "4.2"), (30, "4.3"),
    (31, "4.4 or newer"),
)  # fmt: skip
"""The first level of each release."""


def release_of(to: Connection) -> str | None:
    """Return the release of the first broker of a connection that answers; None: none tells."""
    for host in to.address.rstrip("/").partition("://")[2].split(","):
        name, _, port = host.rpartition(":")
        try:
            with (
                socket.create_connection((name.strip("[]"), int(port)), _CALL_S) as plain,
                _secured(plain, to, name) as link,
            ):
                level = _level(_asked(link))
        except (OSError, ValueError, OverflowError, struct.error):
            continue
        return None if level is None else _release(level)
    return None


def _secured(
    plain: socket.socket, to: Connection, name: str
) -> AbstractContextManager[socket.socket]:
    if not to.address.startswith("kafkas:"):
        return plain
    context = ssl.create_default_context(cafile=None if to.ca_file is None else str(to.ca_file))
    return context.wrap_socket(plain, server_hostname=name.strip("[]"))


def _asked(link: socket.socket) -> bytes:
    """Ask for what the broker supports; return the body of its answer."""
    words = b"".join(bytes([len(one) + 1]) + one for one in (b"weft", b"1"))
    request = struct.pack(">hhih", _API_VERSIONS, _VERSION, 1, -1) + b"\0" + words + b"\0"
    link.sendall(struct.pack(">i", len(request)) + request)
    with link.makefile("rb") as answer:
        (n_bytes,) = struct.unpack(">i", answer.read(4))
        if not 0 < n_bytes < _BYTES_MAX:
            raise ValueError(n_bytes)
        return answer.read(n_bytes)


def _level(body: bytes) -> int | None:
    """Return the highest level in an answer; None: it names none, as of a cluster with ZooKeeper
    or of another program.
    """
    rest = BytesIO(body)
    _, error = struct.unpack(">ih", rest.read(6))
    if error:
        return None
    for _ in range(_number(rest) - 1):
        rest.read(6)  # a kind of request, and its versions
        _tags(rest)
    rest.read(4)
    features = BytesIO(_tags(rest).get(0, b"\1"))
    for _ in range(_number(features) - 1):
        name = features.read(_number(features) - 1)
        _, highest = struct.unpack(">hh", features.read(4))
        _tags(features)
        if name == _FEATURE:
            return int(highest)
    return None


def _tags(data: BytesIO) -> dict[int, bytes]:
    return {_number(data): data.read(_number(data)) for _ in range(_number(data))}


def _number(data: BytesIO) -> int:
    """Read a number of seven bits a byte, the lowest first."""
    found = shift = 0
    while byte := data.read(1):
        found |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:  # noqa: PLR2004 (the last byte)
            return found
    raise ValueError("it ends too soon")


def _release(level: int) -> str | None:
    """Return the release whose highest level this is; None: it has none."""
    after = bisect_right(_RELEASES, level, key=lambda one: one[0])
    return _RELEASES[after - 1][1] if after else None
