"""Payloads: parts are stored once, and read by workers. `test_byte_quotas.py` removes them."""

import hashlib

from store.open_updates import new_batch
from store.world import World
from weft.wire.payload import PART_BYTES, bytes_of_part, parts_of

DATA = bytes(PART_BYTES) + b"end"
DIGEST = hashlib.sha256(DATA).digest()


async def add_part(world: World, batch: int, part: int) -> None:
    body = DATA[(part - 1) * PART_BYTES : part * PART_BYTES]
    await world.api.add_payload_part(world.caller, batch, DIGEST, part, body, n_bytes=len(DATA))


async def missing(world: World, batch: int) -> bool:
    other = hashlib.sha256(b"other").digest()
    found = await world.api.missing_payloads(world.caller, batch, [DIGEST, other])
    assert other in found
    return DIGEST in found


def test_all_parts_but_the_last_have_one_size() -> None:
    assert [parts_of(n) for n in (1, PART_BYTES, PART_BYTES + 1)] == [1, 1, 2]
    assert [bytes_of_part(part, len(DATA)) for part in (0, 1, 2, 3)] == [0, PART_BYTES, 3, 0]


async def test_a_payload_is_there_when_all_its_parts_are(world: World) -> None:
    batch, other = await new_batch(world), await new_batch(world)
    store = world.backend.worker_store()

    assert await missing(world, batch)
    await add_part(world, batch, 2)
    assert await missing(world, batch)
    for _ in range(2):
        await add_part(world, batch, 1)
    assert not await missing(world, batch)
    assert await missing(world, other)
    assert await store.get_payload_part(batch, DIGEST, 2) == (len(DATA), b"end")
    assert await store.get_payload_part(batch, DIGEST, 3) is None
    assert await store.get_payload_part(other, DIGEST, 2) is None
