"""`/v1/dead-messages`: operators see what nobody wanted, send it again, and remove it."""

from typing import Any

import httpx

from weft.ports.store import DeadMessage
from weft.store import open_driver_store

PATH = "/v1/dead-messages"


async def keep(database: dict[str, str], *queues: str | None) -> None:
    """Keep a message for each of these queues."""
    async with open_driver_store(database["weft_driver"]) as store:
        epoch = await store.try_lead()
        assert epoch is not None
        for queue in queues:
            message = DeadMessage(
                "rabbit", "local", f"weft.local.submit.{queue}", queue, "rejected", None,
                b"{}", 2,
            )  # fmt: skip
            await store.keep_dead_message(epoch, message, keep_max=100, keep_s=3600)


async def ask_dead_messages(ask: Any, database: dict[str, str]) -> None:  # noqa: ANN401 (Described)
    """Ask for all that there is to ask about a dead message."""
    await keep(database, "q", None)
    await ask("GET", "/v1/transports")
    final, sound = (await ask("GET", PATH))["items"]
    await ask("GET", PATH + "/{dead}", dead=sound["dead_id"])
    for one in (sound, final):
        await ask("POST", PATH + "/{dead}/resend", dead=one["dead_id"], body={})
    await ask("DELETE", PATH + "/{dead}", dead=final["dead_id"], body={})


async def test_what_was_sent_again_or_removed_is_gone(
    http: httpx.AsyncClient, database: dict[str, str]
) -> None:
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
