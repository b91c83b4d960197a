"""Providers that hang, fail, make machines twice or forget them: never too many, none leaked."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

import pytest
import pytest_asyncio

from store.pool_rows import described
from store.world import World
from weft.core.pools import Pool
from weft.core.pools.pool import Option
from weft.driver.loops.autoscale import Autoscaler, Providers
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.driver.loops.provider_calls import FIRST_S, Creations, Pauses, limited
from weft.ports.provider import (
    FoundMachine,
    Leftover,
    MachineCredential,
    ProviderError,
    WantedMachine,
)
from weft.settings import Settings


class Faulty:
    """A provider that does what a test says."""

    wants_credentials = False

    def __init__(self) -> None:
        self.credentials: list[MachineCredential | None] = []
        self.machines: list[str] = []
        """Names; one that was made twice stands there twice."""
        self.asked: list[str] = []
        self.hangs: set[str] = set()
        """Calls that never return, although they are cancelled."""
        self.fails: set[str] = set()
        self.broken: dict[str, str] = {}
        """Machines that will never work, and why."""
        self.full: set[str] = set()
        """Regions without room."""
        self.error: Exception = ProviderError("out of order")
        self.makes = 1
        self.may_end = asyncio.Event()

    async def _asked(self, call: str) -> None:
        self.asked.append(call)
        while call in self.hangs and not self.may_end.is_set():
            with suppress(asyncio.CancelledError):
                await self.may_end.wait()
        if call in self.fails:
            raise self.error

    async def list(self) -> Sequence[FoundMachine]:
        await self._asked("list")
        return [
            FoundMachine(name=one, provider_id=f"{n}", error=self.broken.get(one, ""))
            for n, one in enumerate(self.machines)
        ]

    async def create(self, wanted: WantedMachine) -> FoundMachine:
        if wanted.region in self.full:
            self.asked.append(f"create in {wanted.region}")
            raise ProviderError("no quota", is_full=True)
        self.credentials.append(wanted.credential)
        if wanted.name not in self.machines:
            self.machines += [wanted.name] * self.makes
        await self._asked("create")
        return FoundMachine(name=wanted.name, provider_id="7")

    async def delete(self, name: str) -> None:
        await self._asked("delete")
        self.machines = [one for one in self.machines if one != name]

    async def describe(self, name: str) -> FoundMachine | None:
        return FoundMachine(name=name, provider_id="7") if name in self.machines else None

    async def close(self) -> None:
        pass


class Untidy(Faulty):
    """One whose machines leave things behind."""

    def __init__(self) -> None:
        super().__init__()
        self.left = [Leftover(kind="disk", provider_id=one) for one in ("d1", "stuck")]
        self.pools: list[Sequence[Mapping[str, Option]]] = []

    async def list_leftovers(self, pools: Sequence[Mapping[str, Option]]) -> Sequence[Leftover]:
        self.pools.append(pools)
        await self._asked("list_leftovers")
        return [*self.left]

    async def remove_leftover(self, one: Leftover) -> None:
        await self._asked(f"remove {one.provider_id}")
        self.left.remove(one)


class Site:
    """A pool, its autoscaler and its provider."""

    def __init__(self, world: World, epoch: int) -> None:
        self.world = world
        self.provider = Faulty()
        self._epoch = epoch
        self.begin_term()

    def begin_term(self, *, list_s: float = 600) -> None:
        """Forget what is in memory."""
        settings = Settings(provider_timeout_s=0.05, provider_list_s=list_s)
        context = LoopContext(
            self.world.driver,
            self._epoch,
            settings,
            Bell(),
            DueDate(),
            moved=lambda: None,
            ring=lambda _: None,
        )
        self.scaler = Autoscaler(context, Providers(lambda _name, _tag: self.provider))

    async def rounds(self, n: int = 1) -> None:
        """Decide, and let all calls end."""
        for _ in range(n):
            await self.scaler.round()
            await self.scaler.settled()

    async def known(self) -> dict[str, str]:
        """Return the machines that weft knows, with their states."""
        rows = await self.world.api.list_machines(self.world.caller, self.world.pool, limit=99)
        return {row["machine"]: row["state"] for row in rows}

    async def log(self) -> list[tuple[str, str]]:
        """Return kinds and reasons of what was decided, oldest first."""
        rows = await self.world.api.list_pool_changes(self.world.caller, self.world.pool, limit=99)
        return [(row["kind"], row["reason"]) for row in reversed(rows)][1:]

    async def pass_time(self) -> None:
        """Let all that was done be three minutes old."""
        await self.world.admin.execute(
            "UPDATE weft.machine m SET created_at = created_at - interval '3 minutes', "
            "changed_at = changed_at - interval '3 minutes', "
            "costs_from = costs_from - interval '3 minutes' FROM weft.pool p "
            "WHERE p.pool_id = m.pool_id AND p.name = $1",
            self.world.pool,
        )


@pytest_asyncio.fixture(loop_scope="session")
async def site(world: World) -> AsyncIterator[Site]:
    """Give a described pool of at most two machines, with two waiting jobs."""
    async with described(world):
        await world.submit(2)
        found = Site(world, await world.lead())
        yield found
        found.provider.may_end.set()


async def test_a_machine_that_nobody_asked_for_is_deleted(site: Site) -> None:
    await site.rounds()
    stray = f"{site.world.pool}-0"
    site.provider.machines.append(stray)
    site.begin_term()
    await site.rounds()
    assert (await site.known())[stray] == "deleting"
    await site.rounds()

    assert site.provider.machines == list(await site.known())
    assert ("delete", "its provider has it, and weft has not asked for it") in await site.log()


async def test_a_machine_that_outlives_its_deletion_is_deleted_again(site: Site) -> None:
    await site.rounds()
    name, _ = site.provider.machines
    epoch = await site.world.lead()
    await site.world.driver.move_machine(epoch, name, "delete", "why")
    await site.world.driver.record_machine(epoch, name, "gone", reason="it is deleted")
    site.begin_term()
    await site.rounds()
    assert name not in await site.known()  # providers list what they delete for a while
    await site.pass_time()
    site.begin_term()
    await site.rounds(2)

    assert site.provider.machines == list(await site.known())
    assert name not in site.provider.machines


async def test_what_machines_leave_behind_goes_after_a_while(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that cannot be removed keeps no other, nor machines, and is tried again later."""
    site.provider = untidy = Untidy()
    untidy.fails.add("remove stuck")
    now = [0.0]
    site.begin_term(list_s=1)
    site.scaler._leftovers._clock = lambda: now[0]

    async def look(at_s: float) -> list[str]:
        now[0] = at_s
        site.scaler._listed.clear()
        await site.rounds()
        return [one.provider_id for one in untidy.left]

    assert await look(0) == ["d1", "stuck"]
    assert await look(3599) == ["d1", "stuck"]
    untidy.left.append(Leftover(kind="port", provider_id="new"))
    untidy.fails.add("list_leftovers")
    assert len(await look(3600)) == 3
    untidy.fails.remove("list_leftovers")
    assert await look(3601) == ["stuck", "new"]
    untidy.fails.remove("remove stuck")
    assert await look(7200) == ["stuck", "new"]
    assert await look(7201) == []
    assert untidy.asked.count("remove stuck") == 2
    assert [len(one) for one in untidy.pools] == [1] * 6, "it knows what pools need"
    assert len(await site.known()) == 2
    said = capsys.readouterr()
    assert "pool.leftover_removed" in said.out + said.err


async def test_a_machine_that_was_made_twice_goes(site: Site) -> None:
    site.provider.makes = 2
    await site.rounds()
    first = list(site.provider.machines)
    site.provider.makes = 1
    site.begin_term()
    await site.rounds(3)

    assert len(first) == 4
    assert not set(first) & set(site.provider.machines)
    assert len(site.provider.machines) == 2
    assert [why for kind, why in await site.log() if kind == "delete"] == [
        "its provider made it twice"
    ] * 2


async def test_each_machine_has_a_token_that_ends_with_it(site: Site) -> None:
    world, admin = site.world, site.world.admin
    site.provider.wants_credentials = True
    await site.rounds()
    first, second = site.provider.machines
    held = "SELECT expires_at FROM weft.token WHERE kind = 'machine' AND name = $1"
    tokens = [one.token for one in site.provider.credentials if one is not None]
    holders = [await world.api.authenticate(one) for one in tokens]
    await admin.execute(
        "UPDATE weft.token SET expires_at = clock_timestamp() + interval '1 hour' "
        "WHERE kind = 'machine' AND name = ANY ($1)",
        [first, second],
    )
    short = await admin.fetchval(held, first)
    site.begin_term()
    await site.rounds()
    longer = await admin.fetchval(held, first)
    epoch = await world.lead()
    await world.driver.record_machine(epoch, first, "gone", reason="it is deleted")

    assert len(tokens) == 2
    assert [one and one.work and one.work.names for one in holders] == [first, second]
    assert {one and one.role for one in holders} == {"worker"}
    assert longer - short > timedelta(days=6)
    assert [await world.api.authenticate(one) is None for one in tokens] == [True, False]
    assert await admin.fetchval(held, first) is None
    assert tokens[0] not in repr(site.provider.credentials)


async def test_no_machine_is_made_whose_worker_may_not_work(site: Site) -> None:
    site.provider.wants_credentials = True
    changed = "UPDATE weft.tenant_user SET role = $1 WHERE name = 'weft-machines'"
    await site.rounds()
    await site.world.admin.execute(changed, "viewer")
    try:
        site.provider.machines.clear()
        site.begin_term()
        await site.pass_time()
        await site.rounds(2)
    finally:
        await site.world.admin.execute(changed, "worker")

    assert site.provider.asked.count("create") == 2
    assert any("the user weft-machines" in why for _, why in await site.log())


async def test_a_machine_that_its_provider_gave_up_goes_with_the_reason(site: Site) -> None:
    await site.rounds()
    broken, _ = site.provider.machines
    site.provider.broken = {broken: "no disk", "of somebody else": "no disk"}
    site.begin_term()
    await site.rounds(3)

    assert ("delete", "no disk") in await site.log()
    assert broken not in site.provider.machines
    assert len(site.provider.machines) == 2


async def test_the_worker_of_a_machine_that_was_made_twice_ends_its_job(site: Site) -> None:
    site.provider.makes = 2
    await site.rounds()
    name = site.provider.machines[0]
    worker = await site.world.worker(name)
    (job, *_) = await worker.claim(1)
    site.begin_term()
    await site.rounds(3)
    assert site.provider.machines.count(name) == 2
    assert not await worker.store.finish_drain(worker.id)
    await worker.end(job)
    assert await worker.store.finish_drain(worker.id)
    await site.rounds()

    assert name not in site.provider.machines
    assert (await site.world.job(job.batch_id, job.job_id))["attempt"] == 1


async def test_a_machine_that_the_provider_forgot_is_replaced(site: Site) -> None:
    site.begin_term(list_s=0)
    await site.rounds()
    lost, used = site.provider.machines
    await site.world.worker(used, cpu_m=1000)
    await site.rounds()
    site.provider.machines.clear()
    await site.pass_time()
    await site.rounds(2)
    known = await site.known()

    assert lost not in known
    assert known[used] == "active"  # its worker lives: it is there
    assert ("delete", "its provider has it no more") in await site.log()
    assert len(known) <= 2


async def test_a_create_that_hangs_ends_and_leaves_nothing(site: Site) -> None:
    site.provider.hangs = {"create"}
    async with asyncio.timeout(60):
        await site.rounds()
    reasons = {why for kind, why in await site.log() if kind == "fail"}
    site.provider.hangs = set()
    await site.rounds(2)

    assert reasons == {"no answer within 0.05 s"}
    assert site.provider.machines == []
    assert await site.known() == {}


async def test_a_provider_that_fails_every_call_is_left_alone_for_a_while(site: Site) -> None:
    site.provider.fails = {"create", "delete", "list"}
    await site.rounds(9)
    known = await site.known()

    assert sorted(site.provider.asked) == ["create"] * 2 + ["delete"] * 2 + ["list"]
    assert set(known.values()) == {"deleting"}
    assert len(known) == 2
    site.provider.fails = set()
    site.begin_term()
    await site.rounds()
    assert len(set(site.provider.machines)) <= 2


async def test_a_full_region_is_passed_over(site: Site) -> None:
    world = site.world
    rows = await world.api.list_pools(world.caller)
    plans = {row["pool"]: row["plan"] for row in rows}
    await world.admin.execute(
        "UPDATE weft.pool SET plan = jsonb_set(plan, '{regions}', '[\"a\", \"b\"]') "
        "WHERE name = $1",
        world.pool,
    )
    assert plans[world.pool] is not None
    site.provider.full = {"a"}
    await site.rounds(3)
    rows = await world.api.list_machines(world.caller, world.pool, limit=9)
    await site.rounds(3)

    assert {row["region"] for row in rows} == {"b"}
    assert site.provider.asked.count("create in a") <= 2


async def test_calls_that_fail_together_make_one_pause() -> None:
    """Else the pause of a region would double for each machine that was asked for there."""
    pauses = Pauses()
    for _ in range(10):
        pauses.failed("x")

    assert pauses.left_s("x") <= FIRST_S


@pytest.mark.parametrize("most", [1, 3])
async def test_a_pool_is_given_machines_once_in_a_period(site: Site, most: int) -> None:
    """Arrivals ring the bell, which begins rounds that come too early."""
    await site.world.admin.execute(
        "UPDATE weft.pool SET plan = plan || jsonb_build_object('creates_per_round', $2::int, "
        "'max_workers', 5) WHERE name = $1",
        site.world.pool,
        most,
    )
    counts = []
    for _ in range(2):
        await site.rounds(1)
        counts.append(len(site.provider.machines))
        await site.world.submit(9)
        await site.rounds(2)
        counts.append(len(site.provider.machines))
        site.begin_term()

    assert counts[:2] == [counts[0]] * 2
    assert counts[2:] == [min(counts[0] + most, 5)] * 2


async def test_machines_may_be_made_again_when_the_period_is_over() -> None:
    pool = Pool(name="p", creates_per_round=3)
    created, over = Creations(60.0), Creations(0.0)
    for one in (created, over):
        one.note(pool, 2)

    assert created.left(pool) == 0
    assert 0 < created.next_in_s() <= 60
    assert over.left(pool) == 3
    assert over.next_in_s() == 0


async def test_pauses_grow() -> None:
    pauses = Pauses()
    assert not pauses.holds("x")
    pauses.failed("x")
    assert pauses.holds("x")
    pauses.worked("x")
    assert not pauses.holds("x")


async def test_a_limited_call_ends_or_is_given_up() -> None:
    async def quick() -> int:
        return 7

    async def wrong() -> int:
        raise ProviderError("no")

    assert await limited(quick(), 60) == 7
    with pytest.raises(ProviderError):
        await limited(wrong(), 60)
    with pytest.raises(TimeoutError):
        await limited(asyncio.Event().wait(), 0.01)


async def test_what_a_provider_raises_is_said_in_its_words(site: Site) -> None:
    """Whatever it raises."""
    site.provider.fails, site.provider.error = {"create"}, RuntimeError("the token has expired")
    await site.rounds()

    assert ("fail", "RuntimeError: the token has expired") in await site.log()


async def test_a_lost_worker_leaves_the_list_with_its_machine(site: Site) -> None:
    """And is there for those who ask for all."""
    await site.rounds()
    name, _ = site.provider.machines
    worker = await site.world.worker(name)
    await worker.store.leave(worker.id)
    await site.world.admin.execute(
        "UPDATE weft.worker SET deleted_at = NULL WHERE name = $1", name
    )

    async def listed(*, with_deleted: bool) -> dict[str, str]:
        rows = await site.world.api.list_workers(
            site.world.caller, with_deleted=with_deleted, limit=99
        )
        return {row["worker"]: row["state"] for row in rows}

    before = await listed(with_deleted=False)
    epoch = await site.world.lead()
    await site.world.driver.move_machine(epoch, name, "delete", "its worker was lost")
    await site.world.driver.record_machine(epoch, name, "gone", reason="it is deleted")

    assert before[name] == "lost"
    assert name not in await listed(with_deleted=False)
    assert (await listed(with_deleted=True))[name] == "deleted"
