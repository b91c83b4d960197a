"""What the api remembers of queues: until a notice tells of a change, and bounded."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from api.fakes import RecordingStore
from api.live import TOKEN, LiveApi
from weft.api.http import changes
from weft.api.http.changes import forget_what_changes
from weft.api.http.identity import Identities
from weft.core.errors import StoreUnavailable
from weft.core.queues import Queue
from weft.ports.evaluation import EvaluatesNothing
from weft.ports.store import Caller, Row
from weft.submission import services
from weft.submission.services import FRESH_S, TOLD_S, KnownQueues

ADA, BOB, EVE = (Caller(tenant, tenant, "ada") for tenant in (1, 2, 3))


class AskedStore(RecordingStore):
    """A store that notes whose queues were asked for, and waits while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def list_queues(self, caller: Caller, **_: object) -> Sequence[Row]:
        self.asked.append(caller.tenant_id)
        await self.may_answer.wait()
        return await super().list_queues(caller)


class ToldNotices:
    """Notices of a test; None ends the connection."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()

    async def listen(self, *_: str) -> AsyncIterator[tuple[str, str]]:
        yield "", ""
        while (notice := await self.told.get()) is not None:
            self.told.task_done()
            yield notice
        self.told.task_done()
        raise StoreUnavailable("the connection for notices has ended")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store() -> AskedStore:
    return AskedStore()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queues(store: AskedStore, clock: Clock) -> KnownQueues:
    return KnownQueues(store, EvaluatesNothing(), clock)


async def test_queues_of_a_bounded_number_of_tenants_are_kept(
    queues: KnownQueues, store: AskedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TENANTS_MAX", 2)
    for caller in (ADA, BOB, EVE, EVE, ADA):
        await queues.of(caller)

    assert store.asked == [1, 2, 3, 1]


async def test_queues_are_known_for_long_only_while_changes_are_told(
    queues: KnownQueues, store: AskedStore, clock: Clock
) -> None:
    async def asked_after(seconds: float) -> int:
        clock.now += seconds
        store.asked.clear()
        await queues.of(ADA)
        return len(store.asked)

    untold = [await asked_after(0), await asked_after(FRESH_S - 1), await asked_after(2)]
    queues.trust_notices()
    told = [await asked_after(0), await asked_after(TOLD_S - 1), await asked_after(2)]
    queues.doubt_notices()
    doubted = [await asked_after(FRESH_S - 1), await asked_after(2)]

    assert (untold, told, doubted) == ([1, 0, 1], [1, 0, 1], [0, 1])


async def test_what_was_read_before_a_change_is_not_remembered(
    queues: KnownQueues, store: AskedStore
) -> None:
    queues.trust_notices()
    store.may_answer.clear()
    reading = asyncio.create_task(queues.of(ADA))
    while not store.asked:
        await asyncio.sleep(0)
    queues.forget(ADA.tenant_id)
    store.may_answer.set()
    await reading
    await queues.of(ADA)

    assert store.asked == [1, 1]


async def test_notices_name_what_is_forgotten(
    queues: KnownQueues, store: AskedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "LISTEN_AGAIN_S", 0)
    notices, ended = ToldNotices(), list[int | None]()
    following = asyncio.create_task(
        forget_what_changes(notices, Identities(store), queues, ended.append)
    )
    await notices.told.put(("queues", "3"))
    await notices.told.join()  # it listens
    asked = []
    for told in (("queues", "1"), ("callers", "-7"), None):
        for caller in (ADA, BOB):
            await queues.of(caller)
        store.asked.clear()
        await notices.told.put(told)
        await notices.told.join()
        while told is None and not ended[1:]:
            await asyncio.sleep(0)
        for caller in (ADA, BOB):
            await queues.of(caller)
        asked.append([*store.asked])
    following.cancel()

    assert asked == [[1], [], [1, 2]]
    assert ended == [-7, None]


@pytest.mark.parametrize("change", ["saved", "drained"])
async def test_every_api_goes_by_the_queues_of_now(
    api: LiveApi, http: httpx.AsyncClient, change: str
) -> None:
    """What an api forgets, it was told to: the change is made past it."""
    full = Queue(name="big", priority=1, state="draining")
    batch: dict[str, Any] = {"jobs": [{"queue": "big"}]}
    await http.put("/v1/queues", json={"queues": [{"name": "big", "priority": 1}]})
    before = await http.post("/v1/batches", json=batch)
    ada = await api.store.authenticate(TOKEN)
    assert ada is not None
    if change == "saved":
        await api.store.save_queues(ada, [Queue(name="default"), full])
    else:
        await api.store.drain_queue(ada, "big")
    async with asyncio.timeout(60):
        while (await http.post("/v1/batches", json=batch)).status_code == 201:
            await asyncio.sleep(0)

    assert before.status_code == 201
