"""A key that one batch of a user has at a time, also when two want it at once."""

import asyncio
from typing import Any

import pytest

from builders import job_rows
from store.world import Worker, World
from weft.core.errors import IdempotencyConflict
from weft.ports.store import Caller, NewBatch, Origin
from weft.wire.unique import Unique


async def submit(
    world: World, *, token: str | None = None, caller: Caller | None = None, digest: bytes = b"",
    empty: bool = False, key: str = "k", **unique: Any,  # noqa: ANN401 (fields of Unique)
) -> tuple[int, bool, Any]:  # fmt: skip
    """Submit with a key; return the batch, whether it is new, and what became of the key."""
    caller = caller or world.caller
    new = NewBatch(unique=Unique(key=key, **unique))
    if empty:
        batch, is_new = await world.api.create_batch(
            caller, new, Origin(key=token, digest=digest, trace_id="")
        )
    else:
        batch, _, is_new = await world.api.submit(
            caller, new, [], job_rows(1), Origin(key=token, digest=digest, trace_id="")
        )
    return batch, is_new, await world.api.get_key_answer(caller, batch, token, is_new=is_new)


async def test_while_a_batch_is_alive_the_answer_is_that_batch(world: World) -> None:
    first, is_new, answer = await submit(world)
    assert (is_new, answer) == (True, {})
    assert await submit(world) == (first, False, {"skipped": True})
    assert (await submit(world, key="other"))[0] > first
    bob = await world.user("bob")
    assert (await submit(world, caller=bob))[1]
    await world.api.cancel_jobs(world.caller, first, [1])
    await world.sweep()
    second, is_new, answer = await submit(world)
    assert (second > first, is_new, answer) == (True, True, {})


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("how", ["skip", "replace"])
async def test_of_two_at_once_one_has_the_key(world: World, how: str, *, empty: bool) -> None:
    ends = await asyncio.gather(*(submit(world, on_conflict=how, empty=empty) for _ in range(8)))
    made = {batch for batch, is_new, _ in ends if is_new}
    if how == "skip":
        assert {batch for batch, *_ in ends} == made
        assert len(made) == 1
        return
    replaced = {answer["replaced"] for *_, answer in ends if answer}
    assert len(made) == len(ends)
    assert made - replaced == {max(made)}
    seen = await asyncio.gather(*(world.api.get_batch(world.caller, one) for one in made))
    assert {one["id"] for one in seen if one["cancelled"]} == replaced


async def test_waiting_within_and_cancelled(world: World, worker: Worker) -> None:
    first, *_ = await submit(world, while_="waiting")
    assert (await submit(world, while_="waiting"))[0] == first
    await worker.claim()
    second, *_ = await submit(world, while_="waiting", within_s=3600)
    assert second == first
    second, is_new, _ = await submit(world, while_="waiting")
    assert is_new
    await world.age("batch", "created_at", by_s=3600, batch_id=second)
    await worker.claim()
    third, is_new, _ = await submit(world, while_="waiting", within_s=3600)
    assert is_new
    await world.api.cancel_group(world.caller, third, 0, force=False)
    assert (await submit(world, while_="waiting", within_s=3600))[1]


async def test_a_repeat_has_the_same_answer(world: World) -> None:
    first, *_ = await submit(world, token="a")
    skipped = await submit(world, token="b")
    assert skipped == (first, False, {"skipped": True})
    second, _, answer = await submit(world, token="c", on_conflict="replace")
    assert answer == {"replaced": first}
    assert await submit(world, token="a") == (first, False, {})
    assert await submit(world, token="b") == skipped
    assert await submit(world, token="c", on_conflict="replace") == (second, False, answer)
    with pytest.raises(IdempotencyConflict):
        await submit(world, token="b", digest=b"other")
