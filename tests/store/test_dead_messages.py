"""Messages of transports that nobody wants: kept, shown, wanted again, removed."""

from dataclasses import replace
from typing import Any

import pytest_asyncio

from store.world import World
from weft.ports.store import DeadMessage


class Dead:
    """A driver that keeps messages of the world's tenant."""

    def __init__(self, world: World, epoch: int) -> None:
        self.world = world
        self.epoch = epoch
        self.transport = f"rabbit-{world.pool}"

    async def keep(self, *, keep_max: int = 100, **changes: Any) -> None:  # noqa: ANN401 (of a row)
        """Keep a message."""
        message = DeadMessage(
            self.transport,
            self.world.pool,
            "weft.x.submit.q",
            "q",
            "refused",
            "no \0JSON\ud800",
            b"body",
            4,
        )._replace(**changes)
        await self.world.driver.keep_dead_message(
            self.epoch, message, keep_max=keep_max, keep_s=3600
        )

    async def shown(self) -> list[Any]:
        """Return what the api lists."""
        return list(
            await self.world.api.list_dead_messages(
                self.world.caller, before=None, acknowledged=False, limit=9
            )
        )

    async def wanted(self, keep_s: float = 3600) -> list[tuple[str, bytes]]:
        """Return what is to be sent again, and note that it was."""
        found = await self.world.driver.take_dead_messages(
            self.epoch, [self.transport], keep_s=keep_s, limit=9
        )
        await self.world.driver.end_dead_messages(self.epoch, [one.dead_id for one in found])
        return [(one.queue, one.body) for one in found]


@pytest_asyncio.fixture(loop_scope="session")
async def dead(world: World) -> Dead:
    """Give a leading driver."""
    return Dead(world, await world.lead())


async def test_a_dead_message_is_kept_and_sent_again_once(dead: Dead) -> None:
    api, caller = dead.world.api, dead.world.caller
    await dead.keep()
    (listed,) = await dead.shown()
    shown = await api.get_dead_message(caller, listed["dead_id"])
    (transport,) = await api.list_transports(caller, [dead.transport])
    before = await dead.wanted()
    first = await api.resend_dead_message(caller, listed["dead_id"])
    second = await api.resend_dead_message(caller, listed["dead_id"])

    assert (listed["reason"], listed["error"]) == ("refused", "no JSON?")
    assert shown is not None
    assert (shown["body"], transport["dead_messages"]) == ("Ym9keQ==", 1)
    assert first is not None
    assert second is not None
    assert first["resend_at"] == second["resend_at"] is not None
    assert (before, await dead.wanted(), await dead.wanted()) == ([], [("q", b"body")], [])
    assert await dead.shown() == []


async def test_what_is_cut_or_is_of_no_queue_is_not_sent_again(dead: Dead) -> None:
    await dead.keep(n_bytes=70_000)
    await dead.keep(queue=None, source="jobs.run")
    for one in await dead.shown():
        found = await dead.world.api.resend_dead_message(dead.world.caller, one["dead_id"])
        assert found is not None
        assert (found["can_resend"], found["resend_at"]) == (False, None)

    assert await dead.wanted() == []


async def test_the_newest_are_kept_and_not_for_ever(dead: Dead) -> None:
    for n in range(4):
        await dead.keep(keep_max=2, body=b"%d" % n, n_bytes=1)
    found = [
        await dead.world.api.get_dead_message(dead.world.caller, one["dead_id"])
        for one in await dead.shown()
    ]
    bodies = [one["body"] for one in found if one is not None]

    assert bodies == ["Mw==", "Mg=="]
    assert await dead.wanted(keep_s=0) == []
    assert await dead.shown() == []


async def test_dead_messages_are_of_their_tenant_alone(dead: Dead) -> None:
    await dead.keep()
    await dead.keep(tenant="nobody")
    (mine,) = await dead.shown()
    api = dead.world.api
    stranger = replace(dead.world.caller, tenant_id=0)

    assert not await api.list_dead_messages(stranger, before=None, acknowledged=False, limit=9)
    assert await api.get_dead_message(stranger, mine["dead_id"]) is None
    assert await api.resend_dead_message(stranger, mine["dead_id"]) is None
    assert not await api.remove_dead_message(stranger, mine["dead_id"])
    assert await api.remove_dead_message(dead.world.caller, mine["dead_id"])
    assert not await api.remove_dead_message(dead.world.caller, mine["dead_id"])
