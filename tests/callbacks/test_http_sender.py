"""The sender against receivers of all manners, on real sockets."""

import asyncio
import shutil
import socket
import ssl
import subprocess
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest

from callbacks.receiver import Receiver, answering, receiving
from cases import cases
from weft.core.addresses import Address, parse_allowed_hosts
from weft.net.threads import resolve
from weft.plugins.callback_senders.http.sender import HttpCallbackSender
from weft.ports.senders import Answered

BODY = b'{"id": 1}'
HEADERS = {"Weft-Delivery": "d"}
LOCAL = "127.0.0.0/8"


def sender(
    allowed: str = LOCAL,
    *,
    timeout_s: float = 30.0,
    connect_timeout_s: float = 5.0,
    names: dict[str, list[str]] | None = None,
    tls: ssl.SSLContext | None = None,
) -> HttpCallbackSender:
    async def look_up(host: str, port: int) -> Sequence[Address]:
        if names is None:
            return await resolve(host, port)
        return [ip_address(text) for text in names[host]]

    more = {} if tls is None else {"tls": tls}
    return HttpCallbackSender(
        parse_allowed_hosts(allowed), connect_timeout_s, timeout_s, look_up, **more
    )


async def post(receiver: Receiver, **options: float) -> Answered:
    return await sender(**options).send(receiver.url, HEADERS, BODY)  # type: ignore[arg-type]  # timeouts only


async def test_document_arrives_as_it_was_signed() -> None:
    async with receiving() as receiver:
        answered = await post(receiver)
        (got,) = receiver.received

    assert answered == Answered(status=200)
    assert (got.method, got.target, got.body) == ("POST", "/hook?key=1", BODY)
    assert got.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "content-length": str(len(BODY)),
        "connection": "close",
        "weft-delivery": "d",
    }


@cases("status", [204, 301, 307, 400, 404, 410, 429, 500, 503])
async def test_status_is_told_and_redirections_are_not_followed(status: int) -> None:
    to = "http://other.example/"
    async with receiving(answering(status, headers=f"location: {to}\r\n")) as receiver:
        answered = await post(receiver)

    location = to if status in {301, 307} else None
    assert answered == Answered(status=status, location=location)
    assert len(receiver.received) == 1


async def test_early_answer_counts() -> None:
    """The receiver does not read what it does not want."""

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        answered = await sender().send(f"http://127.0.0.1:{port}/", HEADERS, b"x" * 300_000)

    assert answered == Answered(status=413)


async def test_closed_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    answered = await sender().send(f"http://127.0.0.1:{port}/", HEADERS, BODY)

    assert answered == Answered(error="could not connect: Connection refused")


async def test_of_several_addresses_only_those_allowed_are_tried_in_order() -> None:
    async with receiving() as receiver:
        names = {"two.example": ["169.254.169.254", "127.0.0.77", "127.0.0.1"]}
        answered = await sender(names=names).send(
            f"http://two.example:{receiver.port}/", HEADERS, BODY
        )

    assert answered == Answered(status=200)


async def test_name_that_does_not_exist_is_told() -> None:
    answered = await sender("").send("http://no-such-name.invalid/", HEADERS, BODY)

    assert answered.error is not None
    assert answered.error.startswith("the name cannot be resolved")


async def test_stored_url_that_is_refused_today_is_not_called() -> None:
    answered = await sender("*").send("ftp://127.0.0.1/", HEADERS, BODY)

    assert answered == Answered(error="not an http or https URL")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Give the certificate of `hook.example` and its key."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-keyout",
            key,
            "-out",
            cert,
            "-subj",
            "/CN=hook.example",
            "-addext",
            "subjectAltName=DNS:hook.example",
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


async def test_certificate_must_be_of_the_name(certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(cert, key)
    trusting = ssl.create_default_context(cafile=str(cert))
    names = {"hook.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}
    async with receiving(tls=ours) as receiver:
        good = await sender(names=names, tls=trusting).send(
            f"https://hook.example:{receiver.port}/", HEADERS, BODY
        )
        for name, tls in (("other", trusting), ("hook", None)):
            refused = await sender(names=names, tls=tls).send(
                f"https://{name}.example:{receiver.port}/", HEADERS, BODY
            )
            assert refused.error is not None
            assert "certificate" in refused.error.lower()

        assert good == Answered(status=200)
        assert len(receiver.received) == 1
