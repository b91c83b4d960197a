"""Messages that have not arrived: each place that shows their job, batch or line tells of them,
also once their sink is removed; until they are sent, or dropped on purpose.
"""

import json
from typing import Any

import asyncpg
import httpx
import pytest
from httpx import AsyncClient

from api.ask_lines import SINK
from api.live import Commands, Dsns, LiveWorker, leading, trail
from api.test_line_views import apply, stranger
from weft.ports.store import DeadMessage

TRIED = "UPDATE weft.callback_delivery SET n_attempts = 3, last_error = 'no route', held = NULL, "
LATER = f"{TRIED} next_at = now() + interval '1 h'"
GIVEN_UP = f"{TRIED} next_at = NULL"
ARRIVED = f"{TRIED} next_at = NULL, delivered_at = now()"
OF_ONE = ("status b1.j1", "line deliveries wekeo", "/ui/batches/1/jobs/1")
"""What has arrived stays there, too."""
PLACES = (
    *OF_ONE,
    "status b1",
    "why b1",
    "why b1.j1",
    "failures b1",
    "failures ls b1",
    "failures ls",
    "line ls",
    "top --once",
    "/ui",
    "/ui/incidents",
    "/ui/lines",
    "/ui/batches/1",
)


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
    place: str,
    command: Commands,
    http: httpx.AsyncClient,
    browser: httpx.AsyncClient,
    admin: asyncpg.Connection,
) -> None:
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
        "settle_given_up",
        "settle_given_up",
        "redeliver_message",
        "decide_message",
    ]


PATH = "/v1/dead-messages"


async def keep(database: Dsns, *queues: str | None) -> None:
    """Keep a message for each of these queues."""
    async with leading(database["weft_driver"]) as (store, epoch):
        for queue in queues:
            message = DeadMessage(
                "rabbit",
                "local",
                f"weft.local.submit.{queue}",
                queue,
                "rejected",
                None,
                b"{}",
                2,
            )
            await store.keep_dead_message(epoch, message, keep_max=100, keep_s=3600)


async def ask_dead_messages(ask: Any, database: Dsns) -> None:  # noqa: ANN401 (Described)
    """Ask for all that there is to ask about a dead message."""
    await keep(database, "q", None)
    await ask("GET", "/v1/transports")
    final, sound = (await ask("GET", PATH))["items"]
    await ask("GET", PATH + "/{dead}", dead=sound["dead_id"])
    for one in (sound, final):
        await ask("POST", PATH + "/{dead}/resend", dead=one["dead_id"], body={})
    note = {"note": "seen"}
    await ask("POST", PATH + "/{dead}/acknowledge", dead=sound["dead_id"], body=note)
    await ask("GET", PATH, query="?acknowledged=true")
    await ask("DELETE", PATH + "/{dead}", dead=final["dead_id"], body={})


async def test_one_that_was_acknowledged_leaves_the_list_with_a_note(
    http: AsyncClient, database: Dsns
) -> None:
    await keep(database, "q", "q")
    path = f"{PATH}/{(await http.get(PATH)).json()['items'][0]['dead_id']}"
    wrong = await http.post(f"{path}/acknowledge", json={"note": ""})
    seen = await http.post(f"{path}/acknowledge", json={"note": "its program was too old"})
    again = await http.post(f"{path}/acknowledge", json={"note": "another one"})
    left = (await http.get(PATH)).json()["items"]
    listed = (await http.get(PATH, params={"acknowledged": "true"})).json()["items"]
    none = await http.post(f"{PATH}/999/acknowledge", json={"note": "seen"})

    assert wrong.status_code == 400
    assert seen.json()["acknowledged"]["note"] == "its program was too old"
    assert seen.json()["acknowledged"]["by"] == "user tester"
    assert again.json() == seen.json()
    assert listed == [seen.json()]
    assert [one["acknowledged"] for one in left] == [None]
    assert (none.status_code, none.json()["code"]) == (404, "WORKER.DEAD_MESSAGE_NOT_FOUND")


async def test_what_was_sent_again_or_removed_is_gone(http: AsyncClient, database: Dsns) -> None:
    await keep(database, None, "q", "q")
    first = (await http.get(PATH, params={"limit": 2})).json()
    rest = (await http.get(PATH, params={"cursor": first["cursor"]})).json()
    (final,) = rest["items"]
    refused = await http.post(f"{PATH}/{final['dead_id']}/resend", json={})
    again = await http.post(f"{PATH}/{first['items'][0]['dead_id']}/resend", json={})
    removed = await http.request("DELETE", f"{PATH}/{final['dead_id']}", json={})
    gone = await http.get(f"{PATH}/{final['dead_id']}")

    assert [len(first["items"]), rest["cursor"]] == [2, None]
    assert (refused.status_code, refused.json()["code"]) == (409, "WORKER.DEAD_MESSAGE_FINAL")
    assert again.json()["resend_at"] is not None
    assert removed.json() == {"dead_id": final["dead_id"]}
    assert (gone.status_code, gone.json()["code"]) == (404, "WORKER.DEAD_MESSAGE_NOT_FOUND")
