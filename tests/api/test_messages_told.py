"""Messages that have not arrived: each place that shows their job, batch or line tells of them,
also once their sink is removed; until they are sent, or dropped on purpose.
"""

import json

import asyncpg
import httpx
import pytest

from api.ask_lines import SINK
from api.live import Commands, LiveWorker, trail
from api.test_line_views import apply, stranger

TRIED = "UPDATE weft.callback_delivery SET n_attempts = 3, last_error = 'no route', held = NULL, "
LATER = f"{TRIED} next_at = now() + interval '1 h'"
GIVEN_UP = f"{TRIED} next_at = NULL"
ARRIVED = f"{TRIED} next_at = NULL, delivered_at = now()"
OF_ONE = ("status b1.j1", "line deliveries wekeo", "/ui/batches/1/jobs/1")
"""What has arrived stays there, too."""
PLACES = (
    *OF_ONE, "status b1", "why b1", "why b1.j1", "failures b1", "failures ls b1", "failures ls",
    "line ls", "top --once", "/ui", "/ui/incidents", "/ui/lines", "/ui/batches/1",
)  # fmt: skip


@pytest.fixture(autouse=True)
async def _message(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    """Let a job end, of which a sink is to be told."""
    await apply(http, "sinks", SINK)
    await http.post("/v1/batches", json={"sink": "wekeo", "jobs": [{"command": ["true"]}]})
    await worker.end(await worker.claim_and_start())


async def said(command: Commands, line: str, code: int = 0) -> str:
    exit_code, out, err = await command(*line.split())
    assert exit_code == code, err
    return " ".join(f"{out} {err}".split())


@pytest.mark.parametrize("place", PLACES)
async def test_place_tells_of_what_has_not_arrived(
    place: str, command: Commands, http: httpx.AsyncClient, browser: httpx.AsyncClient,
    admin: asyncpg.Connection,
) -> None:  # fmt: skip
    async def tells(*words: str) -> bool:
        if place[0] != "/":
            page = await said(command, place)
        else:
            page = (await browser.get(place)).raise_for_status().text
        return "no route" in page and any(word in page for word in words)

    await admin.execute(LATER)
    assert await tells("1 open", "pending", "tried again", "wekeo 1 0 0", "Open")
    await admin.execute(GIVEN_UP)
    assert await tells("given up", "wekeo 0 1 0", "Given up")
    if place[0] == "/":
        assert "no route" not in (await http.get(place, headers=await stranger(http))).text
    await http.delete("/v1/setups/sinks")
    assert await tells("given up", "(removed)")
    await said(command, "line drop wekeo --yes")
    assert await tells("") == (place in OF_ONE)
    await admin.execute(ARRIVED)
    assert await tells("") == (place in OF_ONE)


async def test_what_was_given_up_is_sent_again_or_dropped(
    command: Commands, http: httpx.AsyncClient, admin: asyncpg.Connection, database: dict[str, str]
) -> None:
    async def settle(line: str) -> tuple[int, str]:
        n_messages = json.loads(await said(command, f"line {line} --json"))["n_messages"]
        (one,) = (await http.get("/v1/sinks/wekeo/deliveries")).json()["items"]
        return n_messages, one["state"]

    await admin.execute(LATER)
    assert await settle("drop wekeo --yes") == (0, "pending")
    await admin.execute(GIVEN_UP)
    assert "1 message of sink wekeo would never be sent" in await said(
        command, "line drop wekeo", 2
    )
    assert await settle("redeliver wekeo --given-up") == (1, "pending")
    await admin.execute(GIVEN_UP)
    assert await settle("drop wekeo --yes") == (1, "dropped")
    assert await settle("redeliver wekeo --failed") == (0, "dropped")
    assert "is pending" in await said(command, "line redeliver wekeo 1")
    await admin.execute(GIVEN_UP)
    assert "is dropped" in await said(command, "line decide wekeo 1 drop")
    assert [one["action"] for one in await trail(http, database)][2:] == [
        "settle_given_up", "settle_given_up", "redeliver_message", "decide_message",
    ]  # fmt: skip
