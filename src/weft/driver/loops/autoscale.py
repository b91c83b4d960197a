"""The loop that makes and deletes machines of pools, as `core/pools/decide.py` says.

A round asks the database for each pool's machines and for the head of its queue, decides, notes
the decisions, and only then calls the provider, each call in a task of its own with a limit of
time: a provider that hangs delays nobody. A leader that dies in between leaves machines that were
noted and not made, or not deleted; the next one repeats these calls, which providers allow.

What providers have is compared with what is noted when a term begins, after a call that failed and
every `provider_list_s`: machines that nobody noted are deleted, and those that are gone forgotten.

While no pool is described it asks nothing but after folds; while machines come and go, or jobs
wait, it looks again after `autoscale_s`.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from weft.core.access.token_text import new_token
from weft.core.errors import WorkerEnded
from weft.core.pools import (
    ANYWHERE,
    Decision,
    Demand,
    Machine,
    OwnJob,
    Pool,
    decide_all,
    offers_of,
    used_share,
)
from weft.core.settling import settled
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.provider_calls import Answer, Creations, Leftovers, Pauses, heard, limited
from weft.ports.provider import (
    FoundMachine,
    MachineCredential,
    Provider,
    ProviderError,
    WantedMachine,
)
from weft.ports.store import Row
from weft.telemetry import metrics
from weft.telemetry.log import log

GAP_S = 2.0
"""Between two rounds at least, however often it is rung."""
COUNT_S = 3600.0
"""What a machine costs is counted at least this often, so that it counts on its date."""
SHARE_STEP = 0.01
"""What jobs use of a machine is counted anew when it differs by more."""
REASON_CHARS = 500
"""Of what a provider's exception says."""
STOP_S = 5.0
"""A call that does not heed its cancellation delays the end of a term no longer."""


@dataclass(frozen=True)
class Providers:
    """Makers of machines."""

    get: Callable[[str, str], Provider]
    """Returns a provider by its name, for a deployment with this tag, always the same one. Raises
    what it likes for one that cannot be used.
    """


async def _run(context: LoopContext) -> None:
    await Autoscaler(context, await context.needed(Providers)).run()


def _pass_over(row: Row, error: Exception) -> bool:
    """Tell of a pool for which nothing can be decided; return that it is to be looked at again."""
    log.error("pool.round_failed", pool=row["pool_id"], exc_info=error)
    return True


class Autoscaler:
    """One term's rounds, and its calls of providers."""

    def __init__(self, context: LoopContext, providers: Providers) -> None:
        self._context = context
        self._store = context.store
        self._epoch = context.epoch
        self._settings = context.settings
        self._providers = providers
        self._calls: dict[tuple[str, str], asyncio.Task[None]] = {}
        """Calls under way: one at a time for each machine and for each list."""
        self._made: set[str] = set()
        self._idle: dict[str, tuple[str, float]] = {}
        """What tells that a worker has claimed, and since when nothing was seen to run there."""
        self._pauses = Pauses()
        """Of regions in which no machine could be made, of machines, and of lists."""
        self._created = Creations(context.settings.autoscale_s)
        self._listed: dict[str, float] = {}
        """When each provider's machines were compared."""
        self._leftovers = Leftovers(context.settings.leftover_keep_s, self._reason)
        self._queueing: set[str] = set()
        """Providers whose machines may wait to begin."""

    async def run(self) -> None:
        """Decide until cancelled; the next term repeats calls that were under way."""
        try:
            while True:
                begun = time.monotonic()
                await self._context.bell.heard(await self.round())
                await asyncio.sleep(max(0.0, begun + GAP_S - time.monotonic()))
                self._forget_ended()
        finally:
            for task in self._calls.values():
                task.cancel()
            if self._calls:
                ended, _ = await asyncio.wait(self._calls.values(), timeout=STOP_S)
                for task in ended:
                    heard(task)

    async def settled(self) -> None:
        """Return when no call is under way."""
        await asyncio.gather(*self._calls.values())
        self._forget_ended()

    async def round(self) -> float | None:
        """Decide once for every pool; return after how many seconds to look again by itself."""
        rows = await self._store.pool_rounds(
            self._epoch, limit_jobs=self._settings.autoscale_jobs_max
        )
        names = {one["name"] for row in rows for one in row["machines"]}
        self._idle = {name: known for name, known in self._idle.items() if name in names}
        self._made &= names
        self._compare(rows)
        moving = [await settled(self._decide(row), partial(_pass_over, row)) for row in rows]
        if not rows:
            return None
        if any(moving):
            return self._created.next_in_s()
        return self._settings.provider_list_s

    def _compare(self, rows: Sequence[Row]) -> None:
        """Begin to compare what providers have with what is noted, if it is time."""
        for row in rows:
            coming = {one["provider"] for one in row["machines"] if one["state"] == "creating"}
            for provider in {
                row["plan"]["provider"],
                *(one["provider"] for one in row["machines"]),
            }:
                listed_at = self._listed.get(provider or "", -math.inf)
                is_watched = provider in coming & self._queueing
                due_at = listed_at + (
                    self._settings.autoscale_s if is_watched else self._settings.provider_list_s
                )
                if provider and due_at <= time.monotonic():
                    self._call(("list", provider), self._list(provider, row["tag"], rows))

    async def _decide(self, row: Row) -> bool:
        pool = msgspec.convert(row["plan"], Pool)
        demand = msgspec.convert(row["demand"], list[Demand])
        machines = [self._machine(one, pool) for one in row["machines"]]
        await self._count(row["machines"], machines)
        own_jobs = msgspec.convert(row["own_jobs"], list[OwnJob])
        closed = self._closed_regions(pool)
        bounded = msgspec.structs.replace(pool, creates_per_round=self._created.left(pool))
        decisions = decide_all(bounded, demand, own_jobs, machines, closed)
        gone = set()
        for one in decisions:
            if one.machine is not None and await self._move(one.machine, one):
                _tell(pool, one)
                gone.add(one.machine)
        new = [one for one in decisions if one.kind == "create"]
        await self._create(pool, row, [one for one in new if one.job is None])
        await self._create_own(pool, row, [one for one in new if one.job is not None])
        for one in row["machines"]:
            name, provider = one["name"], one["provider"]
            if one["state"] == "creating" and name not in self._made | gone:
                self._start_making(pool, row["tag"], one)
            elif one["state"] == "deleting" and not one["has_worker"]:
                call = self._delete(pool, provider, row["tag"], name)
                self._call(("machine", name), call)
        ours = [one for one in machines if one.flavour is not None]
        return bool(demand or decisions or len(ours) != pool.min_workers) and bool(
            ours or pool.max_workers
        )

    async def _count(self, rows: Sequence[Row], machines: Sequence[Machine]) -> None:
        """Count what machines cost whenever jobs use another share of them."""
        shares = {
            one.name: used_share(one)
            for row, one in zip(rows, machines, strict=True)
            if one.flavour is not None
            and (
                abs(used_share(one) - row["used_share"]) > SHARE_STEP
                or row["uncounted_s"] > COUNT_S
            )
        }
        if shares:
            await self._store.count_machines(self._epoch, shares)

    async def _move(self, machine: str, one: Decision) -> bool:
        try:
            return await self._store.move_machine(self._epoch, machine, one.kind, one.reason)
        except WorkerEnded:  # just now: the next round sees it
            return False

    def _machine(self, row: Row, pool: Pool) -> Machine:
        """Return a machine with what its flavour says of it, if it has no worker yet."""
        flavours = {one.name: one for one in pool.flavours}
        flavour = flavours.get(row["flavour"] or "")
        facts = {name: value for name, value in row.items() if name != "busy_key"}
        if facts["memory_mib"] is None:
            facts["memory_mib"] = 0 if flavour is None else flavour.memory_mib
            facts["offers"] = (
                {} if flavour is None else offers_of(pool.name, flavour, row["region"])
            )
        return msgspec.convert({**facts, "idle_s": self._idle_s(row)}, Machine)

    def _idle_s(self, row: Row) -> float:
        now = time.monotonic()
        key, since = self._idle.get(row["name"], ("", now))
        if row["n_running"] or key != row["busy_key"]:
            since = now
        self._idle[row["name"]] = (row["busy_key"], since)
        return now - since

    async def _create(self, pool: Pool, row: Row, new: Sequence[Decision]) -> None:
        if not new:
            return
        names = await self._store.add_machines(
            self._epoch, row["pool_id"], [(one.flavour, one.region, one.reason) for one in new]
        )
        self._created.note(pool, len(names))
        for name, one in zip(names, new, strict=False):
            _tell(pool, msgspec.structs.replace(one, machine=name))
            facts = {"name": name, "flavour": one.flavour, "region": one.region}
            self._start_making(pool, row["tag"], {**facts, "provider": pool.provider})

    async def _create_own(self, pool: Pool, row: Row, new: Sequence[Decision]) -> None:
        if not new:
            return
        wanted = [(one.flavour, one.region, one.reason, *(one.job or (0, 0))) for one in new]
        made = await self._store.add_own_machines(self._epoch, row["pool_id"], wanted)
        self._created.note(pool, len(made))  # none where a job still has one that ends
        for facts in made:
            _tell(pool, Decision(kind="create", machine=facts["name"], reason=facts["reason"]))
            self._start_making(pool, row["tag"], {**facts, "is_own": True})

    def _start_making(self, pool: Pool, tag: str, row: Mapping[str, Any]) -> None:
        flavours = [one for one in pool.flavours if one.name == row["flavour"]]
        if not flavours:
            return
        wanted = WantedMachine(
            name=row["name"],
            pool=pool.name,
            flavour=flavours[0],
            region=row["region"],
            options=pool.options,
            is_own=row.get("is_own", False),
        )
        self._call(("machine", wanted.name), self._make(pool, row["provider"], tag, wanted))

    def _call(self, key: tuple[str, str], call: Coroutine[Any, Any, None]) -> None:
        """Begin a call, unless one of this kind is under way or has just failed."""
        if key in self._calls or self._pauses.holds(key):
            call.close()
            return
        self._calls[key] = asyncio.create_task(call)

    async def _make(self, pool: Pool, provider: str, tag: str, wanted: WantedMachine) -> None:
        self._made.add(wanted.name)
        region = ("region", pool.name, wanted.region)
        try:
            maker = self._providers.get(provider, tag)
            if getattr(maker, "has_queue", False):
                self._queueing.add(provider)
            if getattr(maker, "wants_credentials", False):
                wanted = await self._with_credential(wanted)
            found = await self._limited(lambda: maker.create(wanted))
        except Exception as error:  # noqa: BLE001 (a plug-in raises what it likes)
            await self._failed(pool, provider, wanted.name, error)
            self._pauses.failed(region)
            # Perhaps it was made all the same: it has to be deleted.
            reason = "it could not be made"
            await self._store.move_machine(self._epoch, wanted.name, "delete", reason)
            self._context.bell.ring()
            return
        self._pauses.worked(region)
        await self._store.record_machine(
            self._epoch, wanted.name, "made", provider_id=found.provider_id
        )

    async def _with_credential(self, wanted: WantedMachine) -> WantedMachine:
        """Return a machine whose worker may reach the api. Only the provider sees the token."""
        token = new_token()
        if not await self._store.add_machine_token(self._epoch, wanted.name, token):
            raise ProviderError(
                "its worker may not work: the user weft-machines was removed or has another role"
            )
        return msgspec.structs.replace(wanted, credential=MachineCredential(token=token))

    async def _delete(self, pool: Pool, provider: str, tag: str, name: str) -> None:
        try:
            await self._limited(lambda: self._providers.get(provider, tag).delete(name))
        except Exception as error:  # noqa: BLE001 (as above)
            await self._failed(pool, provider, name, error)
            self._pauses.failed(("machine", name))
            return
        self._pauses.worked(("machine", name))
        await self._store.record_machine(self._epoch, name, "gone", reason="it is deleted")
        self._context.bell.ring()  # there is room for another one

    async def _list(self, provider: str, tag: str, rows: Sequence[Row]) -> None:
        begun = time.monotonic()
        try:
            found = await self._limited(self._providers.get(provider, tag).list)
            names = [one.name for one in found]
        except Exception as error:  # noqa: BLE001 (as above)
            self._pauses.failed(("list", provider))
            metrics.PROVIDER_FAILURES.labels(provider).inc()
            log.warning("pool.list_failed", provider=provider, error=self._reason(error))
            return
        self._pauses.worked(("list", provider))
        asked_s = time.monotonic() - begun
        try:
            wrong = await self._store.reconcile_machines(
                self._epoch, provider, names, waits=[one.waits for one in found], asked_s=asked_s
            )
        except WorkerEnded:  # just now, as in _move: the next list finds what is wrong
            return
        self._listed[provider] = begun
        wrong = [*wrong, *await self._move_broken(found)]
        for one in wrong:
            metrics.POOL_DECISIONS.labels("delete").inc()
            log.warning("pool.reconciled", provider=provider, **one)
        if wrong:
            self._context.bell.ring()
        pools = [msgspec.convert(row["plan"], Pool) for row in rows]
        options = [one.options for one in pools if one.provider == provider]
        maker = self._providers.get(provider, tag)
        await self._leftovers.look(provider, maker, options, self._limited)

    async def _move_broken(self, found: Sequence[FoundMachine]) -> list[Row]:
        """Let machines go that their provider gave up; return them."""
        moved: list[Row] = []
        for one in found:
            reason = one.error[:REASON_CHARS]
            gone = Decision(kind="delete", machine=one.name, reason=reason)
            if reason and await self._move(one.name, gone):
                moved.append({"machine": one.name, "finding": reason})
        return moved

    async def _limited(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Call a provider, which may hang."""

        async def called() -> Answer:
            return await call()

        return await limited(called(), self._settings.provider_timeout_s)

    async def _failed(self, pool: Pool, provider: str, name: str, error: Exception) -> None:
        reason = self._reason(error)
        metrics.PROVIDER_FAILURES.labels(provider).inc()
        log.warning("pool.provider_failed", pool=pool.name, machine=name, error=reason)
        await self._store.record_machine(self._epoch, name, "fail", reason=reason)
        self._listed.pop(provider, None)

    def _reason(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"no answer within {self._settings.provider_timeout_s:g} s"
        text = str(error)[:REASON_CHARS]
        if isinstance(error, ProviderError):
            return text
        return f"{type(error).__name__}: {text}" if text else type(error).__name__

    def _closed_regions(self, pool: Pool) -> Sequence[str]:
        regions = pool.regions or (ANYWHERE,)
        return [one for one in regions if self._pauses.holds(("region", pool.name, one))]

    def _forget_ended(self) -> None:
        """Make room for other calls, or raise a defect: then this term is over."""
        for key, task in list(self._calls.items()):
            if task.done():
                del self._calls[key]
                task.result()


def _tell(pool: Pool, one: Decision) -> None:
    metrics.POOL_DECISIONS.labels(one.kind).inc()
    log.info("pool.decided", pool=pool.name, kind=one.kind, machine=one.machine, why=one.reason)


LOOP = Loop("autoscale", _run, after=("fold",))
