"""A worker of one release, an api of another: what both know is understood, the rest is told."""

import msgspec
import pytest

from api.test_worker_link import Outside, facts, outside
from cases import cases
from weft.extensions.link.serving import serving
from weft.ports.worker_link import FRAME_VERSION, LinkFacts

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
