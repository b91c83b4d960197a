"""One siege, from the first fault to the last proof."""

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from weft.client.api import Api
from weft.run.role_process import RoleFailed
from weft.settings import outer_environment
from weft_siege.bucket import STORE, expected, said
from weft_siege.checks import check
from weft_siege.crowd import Crowd
from weft_siege.faults import Delays, Fault
from weft_siege.fortress import Fortress
from weft_siege.guards import KIND as GUARDED
from weft_siege.limits import KIND as LIMITED
from weft_siege.load import Load, find_batch
from weft_siege.memory import KIND as OUT_OF_MEMORY
from weft_siege.memory import Hungry, small_cgroup
from weft_siege.notices import Notices
from weft_siege.patience import PATIENCE_S, until
from weft_siege.privacy import seen_by_others
from weft_siege.releases import environment_of
from weft_siege.standing import Line, Schedule
from weft_siege.tenants import OTHER, Tenant, tenant_at

STEP_S = 0.5
EVENTS_S = 20.0


@dataclass
class Attack:
    """What is attacked, with what, and what came of it."""

    fortress: Fortress
    faults: Sequence[Fault]
    seed: int
    tell: Callable[[Fault, bool], None]
    """Is told of each fault, and whether it met a process."""
    facts: dict[str, float] = field(default_factory=dict)

    async def run(self) -> Mapping[str, Sequence[str]]:
        """Attack until the last job has ended; return what is wrong, by promise."""
        receiver = self.fortress.receiver
        async with AsyncExitStack() as stack:
            group = stack.enter_context(small_cgroup())
            for part in (self.fortress.wired(), receiver.listening(), self.fortress.standing()):
                await stack.enter_async_context(part)
            tenants = await stack.enter_async_context(self._tenants())
            first, base = tenants[0], self.fortress.home.parent
            line, schedule = Line(base, receiver.port), Schedule(base)
            await self.fortress.command("line", "apply", str(line.file))
            first.load.drop = line.drop
            await schedule.begin(first.clients[0])
            notices = Notices(base, self.fortress.ports, first.token, receiver)
            await self.fortress.command("app", "add", str(notices.folder))
            first.load.also.append(notices.submit)
            if group:
                first.load.also.append(Hungry(group, first.load).submit)
            await self._give_parts(first.load)
            begun = time.monotonic()
            delays = await self._inflict(tenants)
            wrong = {
                "schedules": list(await schedule.wrong(first.clients[0])),
                "sources": list(await line.wrong(first.clients[0])),
            }
            for standing in (schedule, line, notices):
                first.load.batches += await standing.batches(first.clients[0])
            for tenant in tenants:
                await self._until_ended(tenant)
            took_s = time.monotonic() - begun
            for tenant in tenants:
                await self._until_told(tenant.load)
            wrong["notices"] = await notices.wrong()
            begun = time.monotonic()
            for tenant in tenants:
                for promise, words in (
                    await check(
                        tenant.clients,
                        tenant.load.batches,
                        tenant.events,
                        receiver.names(),
                        delays,
                    )
                ).items():
                    wrong.setdefault(promise, []).extend(words)
            wrong |= await self._left_in_parts(first)
            wrong["seen by others"] = await seen_by_others(tenants)
            checks_s = time.monotonic() - begun
            releases = self.fortress.releases
            await releases.until_brought(within_s=EVENTS_S)
            wrong["audit"] = await asyncio.to_thread(_audit, self.fortress.home, releases.newest)
        wrong["processes left"] = list(self.fortress.left)
        self._note_what_ran(tenants, took_s, checks_s)
        return wrong

    def _note_what_ran(self, tenants: Sequence[Tenant], took_s: float, checks_s: float) -> None:
        """Note how much of each kind there was, in which time."""
        batches = [batch for tenant in tenants for batch in tenant.load.batches]
        self.facts |= self.fortress.slowest_s | {
            "files": sum(len(batch.jobs) for batch in batches if batch.kind == "line"),
            "times due": sum(batch.kind == "scheduled" for batch in batches),
            "guarded": sum(batch.kind == GUARDED for batch in batches),
            "out of memory": sum(batch.kind == OUT_OF_MEMORY for batch in batches),
            "limits": sum(batch.kind == LIMITED for batch in batches),
            "jobs": (count := sum(len(batch.jobs) for batch in batches)),
            "jobs a second": round(count / took_s),
            "seconds of checks": round(checks_s),
            "roles of another release": self.fortress.releases.begun,
            "runs again": sum(batch.evidence.doubled() for batch in batches),
            "ends again": sum(batch.evidence.doubled("end") for batch in batches),
            "events told": sum(len(tenant.events) for tenant in tenants),
            "mails told": sum(
                ids.total() for ids in self.fortress.receiver.mailbox.taken.values()
            ),
            "callbacks told": sum(ids.total() for ids in self.fortress.receiver.told.values()),
        }

    async def _give_parts(self, load: Load) -> None:
        """Let a load use what the siege was given."""
        if broker := self.fortress.broker:
            await self.fortress.command("queue", "apply", str(broker.queues), "--yes")
            load.queue = broker.queue
        if bucket := self.fortress.bucket:
            await self.fortress.command(*bucket.words)
            load.store = STORE
        load.has_gateway = bool(self.fortress.slurm)

    async def _silent_workers(self, client: Api) -> list[str]:
        """Return the workers that do not come back though nothing befalls them any more."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = [one for one in await client.list_workers() if one["state"] == "active"]
            silent = sorted(self.fortress.workers - {one["worker"] for one in found})
            if not silent or time.monotonic() > deadline:
                return silent
            await asyncio.sleep(STEP_S)

    async def _left_in_parts(self, tenant: Tenant) -> Mapping[str, list[str]]:
        """Return what is wrong in workers, and in what the siege was given."""
        wrong = {"standing still": await self._silent_workers(tenant.clients[0])}
        load = tenant.load
        if bucket := self.fortress.bucket:
            self.facts["objects"] = len(expected(load.batches))
            self.facts["output said"] = len(said(load.batches))
            wrong |= await bucket.wrong(load.batches)
        if pair := self.fortress.pair:
            self.facts["failovers"] = pair.failovers
        if self.fortress.slurm:
            wrong["left in Slurm"] = await self.fortress.slurm.left()
        return wrong

    @asynccontextmanager
    async def _tenants(self) -> AsyncIterator[Sequence[Tenant]]:
        """Give the tenant that a weft has, and another one."""
        words = ("tenant", "create", OTHER, "--admin", "ann", "--trusted")
        tokens = [
            json.loads((self.fortress.home / "client.json").read_text())["token"],
            (await self.fortress.command(*words)).decode().strip(),
        ]
        async with AsyncExitStack() as stack:
            yield [
                await stack.enter_async_context(
                    tenant_at(
                        self.fortress.ports,
                        token,
                        seed=self.seed + number,
                        directory=self.fortress.home.parent,
                        told_at=self.fortress.receiver.port,
                    )
                )
                for number, token in enumerate(tokens)
            ]

    async def _inflict(self, tenants: Sequence[Tenant]) -> Delays:
        """Let all faults come at their times, while work comes in; return when they did."""
        delays = Delays()
        loads = [one.load for one in tenants]
        crowds = [Crowd(self.seed, one.load, one.clients).run() for one in tenants]
        loading = asyncio.gather(*(load.run() for load in loads), *crowds)
        begun = time.monotonic()
        for fault in self.faults:
            await asyncio.wait([loading], timeout=begun + fault.at_s - time.monotonic())
            if loading.done():
                break
            delays.came.append((time.clock_gettime(time.CLOCK_BOOTTIME), fault))
            self.tell(fault, await self.fortress.inflict(fault))
        self.fortress.recover()
        for load in loads:
            load.stop()
        await loading
        return delays

    async def _until_ended(self, tenant: Tenant) -> None:
        """Wait until all jobs have ended and all of that was told; the checks say what has not."""
        deadline = time.monotonic() + PATIENCE_S + len(self.faults)
        for batch in tenant.load.batches:
            while (found := await find_batch(tenant.clients[0], batch)) and not found["complete"]:
                self.fortress.check_keepers()
                if time.monotonic() > deadline:
                    return
                await asyncio.sleep(STEP_S)
        batches = {batch.batch_id for batch in tenant.load.batches}
        with suppress(RoleFailed):
            await until(
                lambda: batches <= tenant.complete, "the last events come", within_s=EVENTS_S
            )

    async def _until_told(self, load: Load) -> None:
        """Wait until all callbacks and messages have come."""
        names = {name for batch in load.batches for name in batch.told_as}
        receiver = self.fortress.receiver
        with suppress(RoleFailed):
            await until(
                lambda: names <= receiver.names().keys(), "callbacks come", within_s=EVENTS_S
            )


def _audit(home: Path, python: str) -> list[str]:
    """Return the checks of `weft audit` that find differences: of the release of the schema."""
    words = [python, "-P", "-m", "weft.cli", "audit", "--home", str(home), "--json"]
    environ = environment_of(python, outer_environment())
    answer = subprocess.run(words, check=False, capture_output=True, text=True, env=environ)
    if answer.returncode not in {0, 1}:
        return [answer.stderr]
    return [json.dumps(finding) for finding in json.loads(answer.stdout) if finding["rows"]]
