"""How fast no-op jobs are while a session holds an old snapshot, so that no dead row can go.

Two wefts take turns at batches of no-ops, by the public client and with real processes. A session
of the first one's database is idle in a transaction from before the first batch until the end, as
a forgotten one is. It also says whether `weft system` names that session.
"""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Self

import asyncpg

from benches.queries import query
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.processes import run_batch
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.bench.turns import audit_findings
from weft.client.api import Api
from weft.run.home import Home

HOUR_S = 3600.0
JOBS = 2_000
"""Of each batch."""
STEPS = 20
GOAL = 0.9
LAST = 0.25
"""The share of the rounds, at the end, that is compared alone: most rows are dead by then."""


@dataclass
class Side:
    """One of the two wefts, and the rates of its batches."""

    home: Home
    client: Api
    rates: list[float] = field(default_factory=list)

    @classmethod
    async def started(cls, stack: AsyncExitStack, directory: Path | None) -> Self:
        """Start one, until the stack is closed."""
        home = stack.enter_context(throwaway_home(directory))
        await stack.enter_async_context(running_weft(home))
        side = cls(home, await stack.enter_async_context(client_of(home)))
        await run_batch(side.client, JOBS)
        return side

    @property
    def dsn(self) -> str:
        """Return the way to its database, as the owner."""
        return self.home.secrets()["admin"]

    async def run(self, jobs: int) -> None:
        """Run one batch."""
        _, took_s = await run_batch(self.client, jobs)
        self.rates.append(jobs / took_s)

    async def dead_rows(self) -> int:
        """Return how many rows are dead and not removed."""
        connection = await asyncpg.connect(self.dsn)
        try:
            return int(await connection.fetchval(query("dead_rows")))
        finally:
            await connection.close()


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the rates with and without the open transaction, and who is said to hold it."""
    load, window_s, jobs = load_average(), HOUR_S * plan.scale, plan.jobs or JOBS
    progress.begin(STEPS + 2)
    async with AsyncExitStack() as stack:
        progress.step("start and warm up")
        pinned = await Side.started(stack, plan.directory)
        free = await Side.started(stack, plan.directory)
        async with _open_transaction(pinned.dsn) as pid:
            begun, step = time.monotonic(), 0
            while (share := (time.monotonic() - begun) / window_s) < 1 or not free.rates:
                if share >= step / STEPS and step < STEPS:
                    step += 1
                    progress.step(f"{share * window_s:.0f} of {window_s:.0f} s")
                for side in (pinned, free):
                    await side.run(jobs)
            dead = {"pinned": await pinned.dead_rows(), "free": await free.dead_rows()}
            said = _transaction_said(pinned.home)
        progress.step("audit")
        findings = await audit_findings(pinned.dsn) + await audit_findings(free.dsn)
        sizes = {"jobs": jobs, "rounds": len(free.rates), "seconds": round(window_s)}
        conditions = await conditions_of(
            pinned.dsn, pinned.home.path, load_before=load, sizes=sizes
        )
    weft, reference = median_rate(pinned.rates), median_rate(free.rates)
    last = max(1, round(LAST * len(free.rates)))
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "goal": GOAL,
            "last_ratio": ratio_of(median(pinned.rates[-last:]), median(free.rates[-last:])),
            "dead_rows": dead,
            "holder_is_named": f"process {pid} " in said,
            "said": said,
            "audit_findings": findings,
        },
        conditions,
    )


def _transaction_said(home: Home) -> str:
    """Return what `weft system` says of the longest transaction."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "weft.cli", "system", "--home", str(home.path), "--json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    findings = json.loads(done.stdout)["health"]
    return str(next(one["found"] for one in findings if one["check"] == "transaction"))


@asynccontextmanager
async def _open_transaction(dsn: str) -> AsyncIterator[int]:
    """Keep a snapshot, as a forgotten session does; give the number of its process."""
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction(isolation="repeatable_read"):
            yield await connection.fetchval(query("own_pid"))
    finally:
        connection.terminate()
