"""A throw-away server with its driver, filled and emptied by a bench."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from benches.queries import query
from weft.bench.figures import conditions_of
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed
from weft.bench.runners import COUNT, Runners, RunnersRun
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order, audit_findings
from weft.run.home import Home


@dataclass(frozen=True)
class BenchServer:
    """A database with a real driver, a submitter, and processes that claim and complete."""

    home: Home
    admin_dsn: str
    filler: Filler
    runners: Runners

    async def fill_and_run(self, jobs: int, order: Order) -> RunnersRun:
        """Submit jobs, vacuum, and run all of them."""
        await self.filler.fill(jobs)
        await tidy(self.admin_dsn)
        return await self.run_all(jobs, order)

    async def run_all(self, jobs: int, order: Order) -> RunnersRun:
        """Run all jobs that wait, which are this many."""
        done = await self.runners.run(order)
        n_done = sum(count for _, count in done.calls)
        if n_done != jobs:
            raise BenchFailed(f"only {n_done:,} of {jobs:,} jobs were run")
        return done

    async def rows(self, name: str, *arguments: object) -> list[asyncpg.Record]:
        """Return the rows of a query of `benches/sql`."""
        connection = await asyncpg.connect(self.admin_dsn)
        try:
            return list(await connection.fetch(query(name), *arguments))
        finally:
            await connection.close()

    async def execute(self, name: str) -> None:
        """Run the statements of `benches/sql`, one by one: ALTER SYSTEM takes no transaction."""
        connection = await asyncpg.connect(self.admin_dsn)
        try:
            for statement in query(name).strip().removesuffix(";").split(";"):
                await connection.execute(statement)
        finally:
            await connection.close()

    async def findings(self) -> int:
        """Return how many checks of the audit find something."""
        return await audit_findings(self.admin_dsn)

    async def conditions(
        self, *, load_before: float, sizes: Mapping[str, int | float]
    ) -> dict[str, Any]:
        """Return under which conditions it was measured."""
        return await conditions_of(
            self.admin_dsn, self.home.path, load_before=load_before, sizes=sizes
        )


@asynccontextmanager
async def bench_server(
    directory: Path | None, *, processes: int = COUNT
) -> AsyncIterator[BenchServer]:
    """Start one; end it and remove all of it afterwards."""
    with throwaway_home(directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            admin, worker = logins["admin"], logins["weft_worker"]
            runners = Runners(admin_dsn=admin, worker_dsn=worker, count=processes)
            async with runners, filler:
                yield BenchServer(home, admin, filler, runners)
