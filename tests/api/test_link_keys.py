"""Workers outside, which have no keys of the installation: secrets are sealed for the worker, and
signatures of functions are checked for it (ADR 125). Those of other releases, and what keeps them
outside.
"""

import base64
import pickle
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import asyncpg
import msgspec
import pytest

from api.test_worker_link import Outside, facts, outside
from builders import end_report, request
from cases import cases
from certificates import certificate
from middle import Middle
from weft.core.errors import LinkFrameRefused, SecretKeyMissing
from weft.core.findings import Finding
from weft.core.states import AttemptKey, Reason
from weft.ports.store import Claimed, WorkerStore
from weft.ports.worker_link import FRAME_VERSION, LinkFacts
from weft.settings import Settings
from weft.wire.sealed import new_key, parse_keys
from weft.wire.spec import decode_chunk
from weft_link import serving
from weft_link.doctor import examine_link
from weft_link.seal import LinkKey
from weft_link.source import LinkedSignatures
from weft_link.worker.calls import LinkCaller
from weft_link.worker.store import LinkedWorkerStore

__all__ = ["outside"]
CANARY = "canary-7c02"
PICKLE = base64.b64encode(pickle.dumps(len)).decode()
ARGUMENTS = base64.b64encode(pickle.dumps(((), {}))).decode()
BRINGS = {"function": {"pickle": PICKLE, "arguments": ARGUMENTS, "python": "3.11"}}
CALLS = {"function": {"of": 1, "arguments": ARGUMENTS}}
SECRETIVE = {"command": ["true"], "secrets": [{"name": "db", "env": "DB"}]}


class Working:
    """A worker outside that has claimed the jobs of one batch."""

    def __init__(self, of: Outside) -> None:
        self.of = of
        self.batch = 0

    async def claim(self, jobs: list[dict[str, Any]], n_jobs: int) -> list[Claimed]:
        made = await self.of.http.post("/v1/batches", json={"jobs": jobs})
        assert made.status_code == 201, made.text
        self.batch = made.json()["batch_id"]
        self.caller: LinkCaller = self.of.caller(await self.of.token())
        self.store: WorkerStore = self.of.store(self.caller)
        offers = {"executor": ["process", "function"], "secrets": "yes"}
        registered = await self.store.register_worker(**facts(offers=offers))
        self.worker = registered.incarnation_id
        return list(await self.store.claim_jobs(self.worker, request(n_jobs)))


@pytest.fixture
async def working(outside: Outside) -> Working:
    answer = await outside.http.put("/v1/secrets/db", json={"value": CANARY})
    assert answer.status_code == 200, answer.text
    return Working(outside)


async def test_secrets_are_sealed_for_the_worker_that_asks(working: Working) -> None:
    (one,) = await working.claim([SECRETIVE], 1)
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    (sealed,) = await working.store.get_secrets(working.worker, [(key, "db")])
    assert sealed is not None
    assert sealed.body is not None
    assert CANARY.encode() not in sealed.body
    assert working.of.key.open(sealed.body, sealed.row) == CANARY
    with pytest.raises(ValueError, match="another worker"):
        LinkKey().open(sealed.body, sealed.row)


async def test_secrets_are_of_live_attempts_of_this_incarnation_only(working: Working) -> None:
    (one,) = await working.claim([SECRETIVE, SECRETIVE], 1)
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    other = AttemptKey(one.batch_id, 3 - one.job_id, 1)
    assert list(await working.store.get_secrets(working.worker, [(other, "db")])) == [None]
    assert list(await working.store.get_secrets(working.worker + 1, [(key, "db")])) == [None]
    (absent,) = await working.store.get_secrets(working.worker, [(key, "none")])
    assert absent is not None
    assert absent.body is None
    await working.store.complete_attempts(working.worker, [end_report(one)])
    assert list(await working.store.get_secrets(working.worker, [(key, "db")])) == [None]


async def test_a_worker_of_the_previous_release_gets_no_secret(working: Working) -> None:
    """It asks without a key of its own."""
    (one,) = await working.claim([SECRETIVE], 1)
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    (found,) = await working.caller.call("get_secrets", working.worker, [(key, "db")])
    assert (found.row.name, found.body) == ("db", None)


async def test_an_api_of_the_previous_release_is_named_as_the_cause() -> None:
    class Refuses:
        async def call(self, name: str, *_: object) -> None:
            assert name == "seal_secrets"
            raise LinkFrameRefused("not known", detail="It is 'seal_secrets' of version 1.")

    store = LinkedWorkerStore(cast("Any", Refuses()), cast("Any", None), LinkKey())
    with pytest.raises(SecretKeyMissing, match="gives workers outside no secrets"):
        await store.get_secrets(1, [(AttemptKey(1, 1, 1), "db")])


async def test_a_secret_that_cannot_be_opened_stops_no_other(
    working: Working, admin: asyncpg.Connection
) -> None:
    (one,) = await working.claim([SECRETIVE], 1)
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    await working.of.http.put("/v1/secrets/moved", json={"value": "x"})
    await admin.execute(
        "UPDATE weft.secret SET body = decode(repeat('00', 64), 'hex') WHERE name = 'moved'"
    )
    found = await working.store.get_secrets(working.worker, [(key, "moved"), (key, "db")])
    moved, good = found
    assert moved is not None
    assert "another release" in moved.unreadable
    assert good is not None
    assert good.body is not None
    assert working.of.key.open(good.body, good.row) == CANARY
    working.of.api.secret_keys[:] = parse_keys(new_key())
    (lost,) = await working.store.get_secrets(working.worker, [(key, "db")])
    assert lost is not None
    assert "is not here" in lost.unreadable


@pytest.mark.parametrize("public", [b"", bytes(32)])
async def test_what_is_no_key_of_a_worker_is_refused(working: Working, public: bytes) -> None:
    (one,) = await working.claim([SECRETIVE], 1)
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    with pytest.raises(LinkFrameRefused):
        await working.caller.call("seal_secrets", working.worker, [(key, "db")], public)


async def test_functions_are_checked_where_the_keys_are(
    working: Working, admin: asyncpg.Connection
) -> None:
    some = await working.claim([BRINGS, CALLS], 2)
    (key,) = {(one.batch_id, one.chunk_first) for one in some}
    body = (await working.store.get_chunks([key[0]], [key[1]]))[key]
    specs = decode_chunk(body)
    signatures = LinkedSignatures(working.caller)
    signed = signatures.signer_of(body, specs)
    assert signed is not None
    assert await signatures.refused({key: signed}) == {}
    other = signatures.signer_of(body + b"x", specs)
    assert other is not None
    assert (await signatures.refused({key: other}))[key].reason == Reason.SYSTEM

    await admin.execute("UPDATE weft.job_spec SET body = $1", body[:-4] + b"yyyy")
    body = (await working.store.get_chunks([key[0]], [key[1]]))[key]
    changed = signatures.signer_of(body, specs)
    assert changed is not None
    refused = (await signatures.refused({key: changed}))[key]
    assert (refused.reason, "no signature" in refused.message) == (Reason.BAD_SPEC, True)


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
        "home": tmp_path,
        "worker_name": "node1",
        "ca_file": tmp_path / "ca.pem",
        "connect": f"https://127.0.0.1:{middle.port}",
        **given,
    }
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
