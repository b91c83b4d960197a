"""What foreign programs are told of the jobs that they have (ADR 132)."""

from store.test_foreign_consumers import Foreign, foreign, run
from weft.ports.store import ForeignCommand

__all__ = ["foreign"]


async def wanted(at: Foreign) -> list[ForeignCommand]:
    """Return what is to be told."""
    return list(await at.world.driver.take_foreign_commands(at.epoch, at.names))


async def told(at: Foreign, *commands: ForeignCommand, why: str = "") -> None:
    """Note that these were told."""
    await at.world.driver.end_foreign_commands(at.epoch, [(one, why) for one in commands])


async def history(at: Foreign, batch: int) -> list[str]:
    """Return the messages of the history of a batch."""
    rows = await at.world.admin.fetch(
        "SELECT message FROM weft.job_change WHERE batch_id = $1 AND message IS NOT NULL "
        "ORDER BY at, message",
        batch,
    )
    return [row["message"] for row in rows]


async def test_a_signal_a_message_and_more_time_are_told_until_they_are_confirmed(
    foreign: Foreign,
) -> None:
    world = foreign.world
    batch, (offer,) = await run(foreign, 1)
    await foreign.started(offer)
    await world.api.signal_job(world.caller, batch, 1, signal=10, word="SIGUSR1")
    await world.api.message_job(world.caller, batch, 1, text="stop soon")
    await world.api.extend_job(world.caller, batch, 1, by_ms=5000)
    found = await wanted(foreign)
    assert len(await wanted(foreign)) == 3
    assert [(one.signal, one.message, one.extend_ms) for one in found] == [
        (10, None, None),
        (None, "stop soon", None),
        (None, None, 5000),
    ]
    assert {(one.tenant, one.batch_id, one.job_id, one.offer_id) for one in found} == {
        (world.pool, batch, 1, offer.offer_id)
    }
    await told(foreign, found[0], found[2])
    await told(foreign, found[1], why="nobody listens")

    assert await wanted(foreign) == []
    assert "SIGUSR1 was delivered" in await history(foreign, batch)
    assert any(
        one.endswith("not delivered: nobody listens") for one in await history(foreign, batch)
    )
    await foreign.ended(offer)
    await foreign.round()
    assert await wanted(foreign) == []
    assert await world.findings() == {}


async def test_cancels_holds_and_silence_are_told_and_ends_are_not(foreign: Foreign) -> None:
    world = foreign.world
    ended, (done,) = await run(foreign, 1)
    await foreign.started(done)
    await foreign.ended(done)
    batch, offers = await run(foreign, 2)
    await foreign.started(offers[0])
    assert await wanted(foreign) == []
    await world.api.cancel_group(world.caller, batch, 0, force=True)
    await world.sweep()
    await foreign.tend()
    await foreign.round()
    found = await wanted(foreign)
    assert [(one.offer_id, one.command_id) for one in found] == [
        (one.offer_id, None) for one in offers
    ]
    await told(foreign, *found)
    assert await wanted(foreign) == []
    _, (offer,) = await run(foreign, 1)
    await foreign.let_age(61)
    await foreign.expire(heard_s=100)

    assert [one.offer_id for one in await wanted(foreign)] == [offer.offer_id]
    assert await world.states(ended) == "s"
    assert await world.findings() == {}


async def test_what_nobody_could_be_told_for_an_hour_is_forgotten(foreign: Foreign) -> None:
    world = foreign.world
    batch, _ = await run(foreign, 1)
    await world.api.cancel_group(world.caller, batch, 0, force=True)
    await world.sweep()
    await foreign.round()
    assert len(await wanted(foreign)) == 1
    await world.admin.execute("UPDATE weft.transport_cancel SET at = at - interval '61 minutes'")

    assert await wanted(foreign) == []
