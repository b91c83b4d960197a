"""Brokers whose certificates have expired; no broker is needed for that."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from certificates import DAY, certificate
from weft.ports.transport import TRANSPORT_PLUGINS, Connection, Route, TransportError

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")
pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")


@pytest_asyncio.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    """Give the port of a server that speaks TLS and nothing else."""
    authority = certificate()
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    expired = certificate("127.0.0.1", issuer=authority, ends_in=-DAY)
    context.load_cert_chain(*expired.write(tmp_path))

    async def end(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(end, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "scheme", "says"),
    [
        ("rabbitmq", "amqps", "certificate has expired"),
        ("kafka", "kafkas", "certificate verify failed"),
    ],
)
async def test_an_expired_certificate_is_refused(
    port: int, tmp_path: Path, kind: str, scheme: str, says: str
) -> None:
    to = Connection(
        name="broker",
        kind=kind,
        address=f"{scheme}://127.0.0.1:{port}",
        tenants=("home",),
        password="secret",
        ca_file=tmp_path / "ca.pem",
    )
    transport = TRANSPORT_PLUGINS.load(kind)(to)
    try:
        with pytest.raises(TransportError, match=says) as refused:
            await transport.publish([(Route("home", "q"), b"1")])
    finally:
        await transport.close()

    assert "secret" not in str(refused.value)
