"""What a request looks like that came through a proxy, trusted or not."""

from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from api.fakes import RecordingStore, SilentNotices
from api.test_tls import serving
from weft.api.app import Application, create_app
from weft.api.http.forwarded import ReadForwarded
from weft.api.http.routing import Message, Receive, Scope, Send
from weft.core.access.trusted_proxies import parse_networks
from weft.settings import Settings

HEADERS = {
    "x-forwarded-for": "198.51.100.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "weft.example",
}


def _application(folder: Path, trusted: str) -> Application:
    settings = Settings(home=folder, trusted_proxies=trusted)
    return create_app(RecordingStore(), SilentNotices(), None, settings)  # type: ignore[arg-type]  # doubles


@pytest.mark.parametrize(
    ("trusted", "origin"),
    [("", "127.0.0.1"), ("10.0.0.0/8", "127.0.0.1"), ("127.0.0.0/8", "198.51.100.9")],
)
async def test_only_trusted_proxies_say_where_a_request_comes_from(
    tmp_path: Path, trusted: str, origin: str
) -> None:
    """Through a real server: uvicorn itself would believe every program of this machine."""
    with capture_logs() as logs:
        async with (
            serving(_application(tmp_path, trusted)) as address,
            httpx.AsyncClient(base_url=f"http://{address}") as client,
        ):
            assert (await client.post("/v1/batches", headers=HEADERS)).status_code == 401

    assert [one["client"] for one in logs if one["event"] == "request.answered"] == [origin]


@pytest.mark.parametrize(
    ("peer", "seen"),
    [
        ("10.1.2.3", ("https", b"weft.example", "198.51.100.9")),
        ("192.0.2.1", ("http", b"inside", "192.0.2.1")),
    ],
)
async def test_address_of_a_request_is_the_one_that_its_sender_used(
    peer: str, seen: tuple[str, bytes, str]
) -> None:
    found: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        found.append(scope)

    async def nothing() -> Message:
        return {}

    async def drop(_message: Message) -> None:
        return

    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    scope = {
        "type": "http",
        "scheme": "http",
        "client": (peer, 1),
        "headers": [(b"host", b"inside"), *headers],
    }
    await ReadForwarded(app, parse_networks("10.0.0.0/8"))(scope, nothing, drop)

    assert [dict(one["headers"])[b"host"] for one in found] == [seen[1]]
    assert [(one["scheme"], one["client"][0]) for one in found] == [(seen[0], seen[2])]
