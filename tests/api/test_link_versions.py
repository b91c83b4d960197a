"""Workers outside and apis of other releases, and what sees what keeps them outside."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.test_worker_link import Outside, facts, outside
from cases import cases
from certificates import certificate
from middle import Middle
from weft.core.findings import Finding
from weft.extensions.link.doctor import examine_link
from weft.extensions.link.serving import serving
from weft.ports.worker_link import FRAME_VERSION, LinkFacts
from weft.settings import Settings

__all__ = ["outside"]


async def test_what_a_newer_worker_says_beside_is_passed_over(outside: Outside) -> None:
    token = (await outside.token()).read_text()
    store = outside.store(outside.caller(outside.path / f"token-{outside.token_id}"))
    number = (await store.register_worker(**facts())).incarnation_id
    told = msgspec.msgpack.decode(msgspec.msgpack.encode(LinkFacts(1.0, 2, 3)))
    beat = {"incarnation_id": number, "attempts": [], "draining": False, "later": "argument"}
    frame = [FRAME_VERSION, number, "heartbeat", beat, [*told, 4], "more"]
    answer = await outside.send(token, frame)
    assert answer.status_code == 200, answer.text
    seen = (await outside.http.get("/v1/workers/node1")).json()["link"]
    assert seen["input_cache_bytes"] == 3


@cases("facts_of_frame", [[], [None]])
async def test_an_older_worker_says_less(outside: Outside, facts_of_frame: list[None]) -> None:
    token = (await outside.token()).read_text()
    answer = await outside.send(token, [FRAME_VERSION, 0, "hello", {}, *facts_of_frame])
    assert answer.status_code == 200, answer.text


async def test_frames_of_the_release_before_are_read(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await outside.token()).read_text()
    monkeypatch.setattr(serving, "FRAME_VERSIONS", (FRAME_VERSION + 1, FRAME_VERSION))
    assert (await outside.send(token, [FRAME_VERSION, 0, "hello", {}])).status_code == 200
    refused = await outside.send(token, [FRAME_VERSION - 1, 0, "hello", {}])
    assert refused.json()["code"] == "WORKER.LINK_FRAME_REFUSED"
    assert f"version {FRAME_VERSION - 1}" in refused.json()["detail"]
    assert f"version {FRAME_VERSION + 1} and {FRAME_VERSION}" in refused.json()["detail"]


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
