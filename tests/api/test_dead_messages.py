"""`/v1/dead-messages`: operators see what nobody wanted, send it again, and remove it."""

from typing import Any

from httpx import AsyncClient

from api.live import Dsns, leading
from weft.ports.store import DeadMessage

PATH = "/v1/dead-messages"


async def keep(database: Dsns, *queues: str | None) -> None:
    """Keep a message for each of these queues."""
    async with leading(database["weft_driver"]) as (store, epoch):
        for queue in queues:
            message = DeadMessage(
                "rabbit", "local", f"weft.local.submit.{queue}", queue, "rejected", None,
                b"{}", 2,
            )  # fmt: skip
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
