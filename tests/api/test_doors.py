"""A second wire format through the same use cases (`line_door.py`)."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import httpx
import pytest

from api import line_door
from api.live import LiveApi, make_user
from weft.settings import Settings

LINES_MAX = 150


@pytest.fixture
async def door(database: dict[str, str], tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of an api with the door of lines beside the routes of `/v1`."""
    await make_user(database["admin"])
    live = LiveApi(database["weft_api"], Settings(home=tmp_path), doors=[line_door.SERVED])
    async with live, live.client() as client:
        yield client


async def _say(door: httpx.AsyncClient, *lines: str, **headers: str) -> list[str]:
    answer = await door.post("/lines", content="\n".join(lines), headers=headers)
    assert answer.status_code == 200
    return answer.text.splitlines()


async def test_a_door_submits_reads_and_cancels(door: httpx.AsyncClient) -> None:
    submitted = await _say(door, "submit nightly default", "a: echo 1", "echo 2")
    (shown,) = await _say(door, "show b1")
    jobs = await _say(door, "jobs b1")
    cancelled = [await _say(door, "cancel b1") for _ in range(2)]
    over_http = (await door.get("/v1/batches/b1")).json()
    spec = (await door.get("/v1/batches/b1/jobs/1")).json()["spec"]

    assert submitted == ["new b1 jobs 2"]
    assert shown == "b1 nightly running 0/2"
    assert jobs == ["j1 a ready", "j2 - ready"]
    assert cancelled == [["b1 cancelled"], ["b1 was cancelled"]]
    assert (over_http["name"], over_http["cancelled"]) == ("nightly", True)
    assert spec["command"] == ["echo", "1"]


async def test_a_door_asks_what_no_query_can_say(door: httpx.AsyncClient) -> None:
    await _say(door, "submit nightly default", "true", "a: echo 1", "true", "b: true")

    assert await _say(door, "every b1 2") == ["j2 a ready", "j4 b ready"]


async def test_a_door_has_the_same_idempotency(door: httpx.AsyncClient) -> None:
    first, again = [
        await _say(door, "submit one default", "true", **{"x-once": "k"}) for _ in range(2)
    ]
    (other,) = await _say(door, "submit two default", "true", **{"x-once": "k"})

    assert (first, again) == (["new b1 jobs 1"], ["known b1 jobs 1"])
    assert other.startswith("refused API.IDEMPOTENCY_CONFLICT")


async def test_a_batch_knows_its_door_and_its_foreign_trace(
    door: httpx.AsyncClient, admin: asyncpg.Connection
) -> None:
    await _say(door, "submit one default", "true", **{"x-once": "k", "x-line": "order 7"})
    await _say(door, "submit two default", "true", **{"x-line": "x" * 101})
    document = {"name": "three", "billing_project": "default"}
    await door.post("/v1/batches", json=document, headers={"idempotency-key": "k"})
    text = "SELECT door, foreign_trace, idempotency_key FROM weft.batch ORDER BY batch_id"
    rows = [tuple(row) for row in await admin.fetch(text)]

    assert rows == [
        ("lines", "order 7", "lines k"),
        ("lines", "line-new", None),
        (None, None, "k"),
    ]


async def test_a_door_gets_the_same_refusals(door: httpx.AsyncClient) -> None:
    unknown = await _say(door, "show b7")
    project = await _say(door, "submit x nobodys", "true")
    nul, size = await _say(door, "submit x default", "a\0b: true"), await _say(door, "")

    assert unknown[0].startswith("refused API.BATCH_NOT_FOUND")
    assert project[0].startswith("refused API.PROJECT_NOT_FOUND")
    assert project[1].startswith("at /billing_project")
    assert nul[1].startswith("at /jobs/0/name")
    assert size[0].startswith("refused API.INVALID_REQUEST")


def test_a_door_is_small_and_uses_no_route() -> None:
    text = Path(line_door.__file__).read_text(encoding="utf-8")

    assert text.count("\n") < LINES_MAX
    assert "weft.api.routes" not in text
    assert ".store" not in text
