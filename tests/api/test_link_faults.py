"""The link over a bad network: a real proxy delays, cuts, truncates and loses what passes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from api.test_worker_link import Outside, facts, outside
from builders import end_report, key_of, request
from contexts import fixture_of
from middle import Middle
from weft.core.errors import Unavailable
from weft.ports.store import Registered, WorkerStore
from weft_link.worker.calls import LinkCaller, LinkFinder
from weft_link.worker.store import LinkNotices

__all__ = ["outside"]
pytestmark = pytest.mark.slow
SOON_S = 0.5
middle = fixture_of(lambda outside: Middle("127.0.0.1", outside.api.port).running())


class Far:
    """A worker behind the proxy."""

    caller: LinkCaller
    store: WorkerStore
    registered: Registered

    @property
    def worker(self) -> int:
        return self.registered.incarnation_id

    async def beat(self, *attempts: Any) -> Any:  # noqa: ANN401 (as heartbeat)
        return await self.store.heartbeat(self.worker, attempts, draining=False)


@pytest.fixture
async def far(outside: Outside, middle: Middle) -> AsyncIterator[Far]:
    one = Far()
    url, token = f"http://127.0.0.1:{middle.port}", await outside.token()
    one.caller = LinkCaller(LinkFinder(url, token), reply_timeout_s=SOON_S * 4)
    one.store = outside.store(one.caller)
    one.registered = await one.store.register_worker(**facts())
    yield one
    one.caller.close()


async def test_a_short_cut_changes_nothing(outside: Outside, middle: Middle, far: Far) -> None:
    """Neither for attempts that run, nor for who waits for notices."""
    await outside.submit(1)
    (one,) = await far.store.claim_jobs(far.worker, request())
    heard = LinkNotices(far.caller).listen("work").__aiter__()
    assert await anext(heard) == ("", "")
    middle.cut()
    with pytest.raises(Unavailable):
        await far.beat(key_of(one))
    with pytest.raises(Unavailable):
        await anext(heard)
    middle.mend()
    answer = await far.beat(key_of(one))
    assert (answer.alive, list(answer.to_stop)) == (True, [])
    again = LinkNotices(far.caller).listen("work").__aiter__()
    assert await anext(again) == ("", "")
    await cast("Any", again).aclose()
    assert list(await far.store.complete_attempts(far.worker, [end_report(one)])) == ["ok"]


@pytest.mark.heavy
@pytest.mark.parametrize("way", ["up", "down"])
async def test_a_connection_that_is_dead_without_a_word_is_given_up(
    outside: Outside,
    middle: Middle,
    far: Far,
    way: Any,  # noqa: ANN401 (a literal)
) -> None:
    """Soon enough that the next heartbeat gets through before the jobs are given to others."""
    await outside.submit(1)
    (one,) = await far.store.claim_jobs(far.worker, request())
    middle.swallows = way
    with pytest.raises(Unavailable):
        await far.beat(key_of(one))
    middle.swallows = None
    assert (await far.beat(key_of(one))).alive


async def test_an_answer_that_breaks_off_is_none(
    outside: Outside, middle: Middle, far: Far
) -> None:
    """Wherever it breaks off: nothing that is half of it is taken for the whole."""
    await outside.submit(3)
    some = await far.store.claim_jobs(far.worker, request(3))
    keys = [key_of(one) for one in some]
    whole = await far.beat(*keys)
    n_broken = 0
    for n_bytes in (0, 1, 12, 60, 120, 200, 300, 400, 450, 500):
        middle.passes_max = n_bytes
        try:
            answer = await far.beat(*keys)
        except Unavailable:
            n_broken += 1
        else:
            assert answer == whole
        middle.passes_max = None
    assert n_broken >= 4
    assert await far.beat(*keys) == whole


async def test_a_claim_whose_answer_is_lost_is_not_lost(
    outside: Outside, middle: Middle, far: Far
) -> None:
    """Heartbeats lack it, so its job is handed back after 5 s and claimed again."""
    await outside.submit(1)
    middle.passes_max = 0
    with pytest.raises(Unavailable):
        await far.store.claim_jobs(far.worker, request(call=1))
    call, again = 2, list[Any]()
    async with asyncio.timeout(60):
        while not again:  # each is a round trip
            assert (await far.beat()).alive
            again += await far.store.claim_jobs(far.worker, request(call=call))
            call += 1
    assert again[0].attempt == 2


async def test_an_end_that_is_told_twice_is_one(
    outside: Outside, middle: Middle, far: Far
) -> None:
    batch = await outside.submit(1)
    (one,) = await far.store.claim_jobs(far.worker, request())
    middle.passes_max = 0
    with pytest.raises(Unavailable):
        await far.store.complete_attempts(far.worker, [end_report(one)])
    assert list(await far.store.complete_attempts(far.worker, [end_report(one)])) == ["ok"]
    found = (await outside.http.get(f"/v1/batches/{batch}")).json()
    assert (found["n_succeeded"], found["complete"]) == (1, True)
