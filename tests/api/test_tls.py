"""TLS between a real server and our client: whom it trusts, and certificates that change."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from api.fakes import TOKEN
from certificates import Pair, certificate
from weft.api.app import Application
from weft.client.api import Api
from weft.client.http.address import parse_url
from weft.client.http.session import NotReachable, NotTheServer
from weft.run.api import Server, serving_config
from weft.run.home import Home
from weft.run.tls import Certificate
from weft.settings import InvalidSetting

CA = certificate()
OURS = certificate("127.0.0.1", issuer=CA)


@contextlib.asynccontextmanager
async def serving(app: Application, *tls: Path) -> AsyncIterator[str]:
    """Serve on a free port; give its address without the scheme."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(serving_config(app, Certificate(*tls).context if tls else None))
    running = asyncio.create_task(server.run_on(listener))
    await server.listening.wait()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        app.close()
        server.stopping.set()
        await running


async def _ask(url: str | None, home: Path | None = None, *, patience_s: float = 5) -> str:
    token = None if url is None else TOKEN
    async with Api(url, token, home=home, patience_s=patience_s) as client:
        return str((await client.whoami())["user"])


def _trust(pair: Pair, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    file = folder / "ca.pem"
    file.write_bytes(pair.cert_pem())
    monkeypatch.setenv(variable, str(file))


@pytest.mark.parametrize("variable", ["WEFT_CA_FILE", "SSL_CERT_FILE"])
async def test_a_client_trusts_those_whom_it_was_told_to_trust(
    app: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    async with serving(app, *OURS.write(tmp_path)) as address:
        with pytest.raises(NotTheServer, match="is not trusted") as refused:
            await _ask(f"https://{address}")
        assert "WEFT_CA_FILE" in refused.value.hint

        _trust(CA, tmp_path, monkeypatch, variable)
        assert await _ask(f"https://{address}")
        with pytest.raises(NotTheServer) as refused:
            await _ask(f"https://localhost:{address.rpartition(':')[2]}")
    assert "localhost" in refused.value.detail
    assert "Renew it" in NotTheServer(parse_url("https://a", None), "it has expired").hint


async def test_who_speaks_without_the_others_tls_is_told(app: Application, tmp_path: Path) -> None:
    async with serving(app) as address:
        with pytest.raises(NotReachable) as refused:
            await _ask(f"https://{address}")
    assert "does not speak TLS" in refused.value.detail

    async with serving(app, *OURS.write(tmp_path)) as address:
        with pytest.raises(NotReachable) as refused:
            await _ask(f"http://{address}", patience_s=0.2)
    assert "https://" in refused.value.detail


@pytest.mark.parametrize(
    ("content", "why"), [(None, "No such file"), (b"hello", "no certificate in PEM")]
)
async def test_a_file_of_authorities_that_is_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, why: str
) -> None:
    monkeypatch.setenv("WEFT_CA_FILE", str(tmp_path / "ca.pem"))
    if content is not None:
        (tmp_path / "ca.pem").write_bytes(content)

    with pytest.raises(InvalidSetting, match=r"ca_file .* cannot be used") as refused:
        await _ask("https://127.0.0.1:1")
    assert why in refused.value.detail


async def test_clients_of_a_home_trust_its_very_certificate_whatever_its_names(
    app: Application, tmp_path: Path
) -> None:
    """The certificate is for the names that others use; here the server is at 127.0.0.1."""
    ours = certificate("weft.example", issuer=CA)
    files = ours.write(tmp_path)
    (tmp_path / "home").mkdir()
    home = Home(tmp_path / "home")
    async with serving(app, *files) as address:
        home.write_client(f"https://{address}", TOKEN, files[0])
        assert await _ask(None, home.path)

    # Another one of the same authority, and one that the certificate itself has signed.
    own = certificate("weft.example", issuer=ours)
    for other in (certificate("weft.example", issuer=CA), own):
        (tmp_path / "other").mkdir(exist_ok=True)
        async with serving(app, *other.write(tmp_path / "other")) as address:
            home.write_client(f"https://{address}", TOKEN, files[0])
            with pytest.raises(NotTheServer):
                await _ask(None, home.path)


async def test_a_new_certificate_is_used_without_a_restart(
    app: Application, tmp_path: Path
) -> None:
    files = OURS.write(tmp_path)
    (tmp_path / "home").mkdir()
    home = Home(tmp_path / "home")
    known = tmp_path / "known.pem"
    with capture_logs() as logs:
        async with serving(app, *files) as address:
            home.write_client(f"https://{address}", TOKEN, known)
            known.write_bytes(OURS.cert_pem())
            assert await _ask(None, home.path)

            # First the certificate alone, as it is in the midst of a renewal.
            new = certificate("127.0.0.1", issuer=CA)
            files[0].write_bytes(new.cert_pem())
            assert await _ask(None, home.path)
            assert await _ask(None, home.path)

            files[1].write_bytes(new.key_pem())
            with pytest.raises(NotTheServer):
                await _ask(None, home.path)
            known.write_bytes(new.cert_pem())
            assert await _ask(None, home.path)

            files[1].unlink()
            assert await _ask(None, home.path)
    said = [one["event"] for one in logs if one["event"].startswith("tls.")]
    assert said == ["tls.not_reloaded", "tls.reloaded", "tls.not_reloaded"]
    assert json.loads(home.client_file.read_bytes())["cert_file"] == str(known)
