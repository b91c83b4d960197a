"""The client behind a proxy of its network: a real one, which is asked with CONNECT."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.live import LiveApi, make_user
from certificates import certificate
from middle import Middle
from weft.client.api import Api
from weft.client.http.address import parse_url
from weft.client.http.proxy import HttpProxy, find_proxy
from weft.client.http.session import NotReachable
from weft.settings import InvalidSetting, Settings

HOST = "weft.example.org"


@pytest.fixture
async def server(
    database: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Middle]:
    """Give what ends TLS before an api: it is the server that the proxy leads to."""
    authority = certificate()
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem())
    monkeypatch.setenv("WEFT_CA_FILE", str(tmp_path / "ca.pem"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate(HOST, issuer=authority).write(tmp_path))
    await make_user(database["admin"])
    async with LiveApi(database["weft_api"], Settings(home=tmp_path)) as api:
        with Middle("127.0.0.1", api.port, tls=tls).running() as middle:
            yield middle


async def test_requests_go_through_the_proxy_and_it_reads_none(
    server: Middle, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Middle("127.0.0.1", server.port, asked=True).running() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ann:p%40ss@127.0.0.1:{proxy.port}")
        async with Api(f"https://{HOST}", "token-of-a-test") as client:
            assert await client.overview()
    (head,) = proxy.heads
    assert head.startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n".encode())
    assert b"Proxy-Authorization: Basic YW5uOnBAc3M=\r\n" in head
    assert proxy.recorded
    assert b"token-of-a-test" not in proxy.recorded
    assert b"token-of-a-test" in server.recorded


async def test_a_proxy_that_refuses_is_named_without_its_password(
    server: Middle, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Middle("127.0.0.1", server.port, asked=True).running() as proxy:
        proxy.answer = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
        monkeypatch.setenv("https_proxy", f"http://ann:swordfish@127.0.0.1:{proxy.port}")
        with pytest.raises(NotReachable) as raised:
            async with Api(f"https://{HOST}", "token-of-a-test") as client:
                await client.overview()
    assert "407 Proxy Authentication Required" in raised.value.detail
    assert f"the proxy 127.0.0.1:{proxy.port}" in raised.value.detail.lower()
    assert "swordfish" not in f"{raised.value!r} {raised.value.detail} {raised.value.hint}"


@pytest.mark.parametrize(
    ("url", "names", "found"),
    [
        (f"https://{HOST}", {"HTTPS_PROXY": "http://p:3128"}, HttpProxy("p", 3128)),
        (f"https://{HOST}", {"https_proxy": "p:3128"}, HttpProxy("p", 3128)),
        (f"https://{HOST}", {"ALL_PROXY": "http://p"}, HttpProxy("p", 80)),
        (f"https://{HOST}", {}, None),
        (f"https://{HOST}", {"HTTPS_PROXY": "http://p:3128", "NO_PROXY": ".example.org"}, None),
        (f"http://{HOST}", {"HTTPS_PROXY": "http://p:3128"}, None),
        ("https://127.0.0.1:8765", {"HTTPS_PROXY": "http://p:3128"}, None),
    ],
)
def test_which_proxy(
    monkeypatch: pytest.MonkeyPatch, url: str, names: dict[str, str], found: HttpProxy | None
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert find_proxy(parse_url(url, None)) == found


@pytest.mark.parametrize(
    "value", ["socks5://u:swordfish@p:1", "http://p:port", "http://", "http://é:1"]
)
def test_what_is_no_proxy_is_said_without_its_text(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    with pytest.raises(InvalidSetting) as raised:
        find_proxy(parse_url(f"https://{HOST}", None))
    assert "swordfish" not in f"{raised.value} {raised.value.detail}"
