"""`weft doctor --connect` says in words what keeps a worker outside from working."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.test_worker_link import Outside, outside
from certificates import certificate
from middle import Middle
from weft.core.findings import Finding
from weft.extensions.link.doctor import examine_link
from weft.settings import Settings

__all__ = ["outside"]


@pytest.fixture
def middle(outside: Outside, tmp_path: Path) -> Iterator[Middle]:
    """Give what ends TLS before the api, with a certificate of `tmp_path/ca.pem`."""
    authority = certificate()
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem())
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate("127.0.0.1", issuer=authority).write(tmp_path))
    with Middle("127.0.0.1", outside.api.port, tls=tls).running() as one:
        yield one


async def look(tmp_path: Path, middle: Middle, **given: Any) -> dict[str, Finding]:  # noqa: ANN401
    known = {
        "home": tmp_path, "worker_name": "node1", "ca_file": tmp_path / "ca.pem",
        "connect": f"https://127.0.0.1:{middle.port}", **given,
    }  # fmt: skip
    return {one.check: one async for one in examine_link(Settings(**known))}


async def test_all_is_well(outside: Outside, middle: Middle, tmp_path: Path) -> None:
    token = await outside.token(workers="node*")
    found = await look(tmp_path, middle, token_file=token)
    assert list(found) == ["reach", "tls", "clock", "token", "version"]
    assert {one.verdict for one in found.values()} == {"ok"}
    assert found["token"].found.endswith("for workers 'node*' of pool 'default'")
    assert token.read_text() not in str(found)


async def test_what_a_token_is_not_for_is_said(
    outside: Outside, middle: Middle, tmp_path: Path
) -> None:
    token = await outside.token(workers="node*")
    other_name = await look(tmp_path, middle, token_file=token, worker_name="mine")
    other_pool = await look(tmp_path, middle, token_file=token, pool="big")
    assert "not for 'mine'" in other_name["token"].found
    assert "not of 'big'" in other_pool["token"].found
    assert other_name["token"].verdict == other_pool["token"].verdict == "warning"


async def test_what_is_wrong_is_named(outside: Outside, middle: Middle, tmp_path: Path) -> None:
    token = await outside.token()
    none = await look(tmp_path, middle)
    assert "needs a token" in none["settings"].found
    clear = await look(tmp_path, middle, token_file=token, connect="http://weft.example.org")
    assert "without TLS" in clear["settings"].found
    stranger = await look(tmp_path, middle, token_file=token, ca_file=None)
    assert (stranger["reach"].verdict, stranger["tls"].verdict) == ("ok", "wrong")
    assert "WEFT_CA_FILE" in stranger["tls"].advice
    await outside.http.request("DELETE", f"/v1/tokens/{outside.token_id}", json={})
    revoked = await look(tmp_path, middle, token_file=token)
    assert (revoked["tls"].verdict, revoked["token"].verdict) == ("ok", "wrong")
    middle.cut()
    cut = await look(tmp_path, middle, token_file=token)
    assert list(cut) == ["reach"]
    assert cut["reach"].verdict == "wrong"
