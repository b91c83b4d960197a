"""What weft makes of the answers of brokers, also of those that are no Kafka of today."""

import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from weft.ports.transport import Connection

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from cases import cases
from weft_brokers.kafka.looks import release_of

KINDS = b"\3" + struct.pack(">hhh", 0, 3, 12) + b"\0" + struct.pack(">hhh", 18, 0, 4) + b"\0"


def answer(level: int | None, *, error: int = 0) -> bytes:
    """Return what a broker says that supports this level of metadata."""
    features = b"\1"
    if level is not None:
        name = b"metadata.version"
        features = b"\2" + bytes([len(name) + 1]) + name + struct.pack(">hh", 7, level) + b"\0"
    tags = b"\1\0" + bytes([len(features)]) + features
    body = struct.pack(">ih", 1, error) + (b"" if error else KINDS + b"\0" * 4 + tags)
    return framed(body)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@contextmanager
def listening(said: bytes) -> Iterator[str]:
    """Run what says this to whoever asks; give its address."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1000)
            self.request.sendall(said)

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.heavy
@cases(
    ("said", "release"),
    [
        (answer(25), "4.0"),
        (answer(29), "4.2"),
        (answer(99), "4.4 or newer"),
        (answer(0), None),
        (answer(None), None),
        (answer(None, error=35), None),
        (answer(29)[:-9], None),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", None),
        (b"", None),
        (framed(struct.pack(">ih", 1, 0) + b"\1\0\0\0\0\1\0" + b"\xff" * 10 + b"\1"), None),
    ],
)
def test_a_release_is_told_or_not(said: bytes, release: str | None) -> None:
    with listening(said) as address:
        to = Connection(name="k", kind="kafka", address=f"kafka://{address}", tenants=())
        assert release_of(to) == release


def test_another_broker_tells_when_the_first_one_is_away() -> None:
    with listening(answer(21)) as address:
        hosts = f"kafka://127.0.0.1:1,{address}"
        to = Connection(name="k", kind="kafka", address=hosts, tenants=())
        assert release_of(to) == "3.9"
