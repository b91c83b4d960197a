"""What the database says about a batch, read as its owner and past the api."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

from contexts import connected
from weft.core.states import Reason


@dataclass(frozen=True)
class Attempt:
    """One row of an attempt that has ended."""

    job_id: int
    attempt: int
    reason: int | None
    claimed_at: datetime
    started_at: datetime | None
    ended_at: datetime
    message: str | None


@dataclass(frozen=True)
class Books:
    """The rows of one batch at one moment."""

    states: Counter[str]
    attempts: Sequence[Attempt]

    @property
    def successes(self) -> dict[int, int]:
        """Return the attempt that succeeded, by job."""
        return {one.job_id: one.attempt for one in self.attempts if one.reason is None}

    @property
    def reasons(self) -> Counter[tuple[int | None, str | None]]:
        """Return why attempts ended, in words too."""
        return Counter((one.reason, one.message) for one in self.attempts)

    @property
    def n_lost(self) -> int:
        """Return how many attempts ended with their worker."""
        return sum(one.reason in {Reason.LOST, Reason.PREEMPTED} for one in self.attempts)

    def succeeded_twice(self) -> list[int]:
        """Return jobs of which more than one attempt succeeded."""
        counts = Counter(one.job_id for one in self.attempts if one.reason is None)
        return [job_id for job_id, count in counts.items() if count > 1]

    def overlaps(self) -> list[tuple[Attempt, Attempt]]:
        """Return pairs of attempts of one job that lived at the same time."""
        ordered = sorted(self.attempts, key=lambda one: (one.job_id, one.attempt))
        return [
            (a, b)
            for a, b in itertools.pairwise(ordered)
            if a.job_id == b.job_id and b.claimed_at < a.ended_at
        ]


def query(home: Path, text: str, *arguments: object) -> list[Any]:
    """Ask the database of a home."""
    return query_at(json.loads((home / "secrets.json").read_text())["admin"], text, *arguments)


def query_at(dsn: str, text: str, *arguments: object) -> list[Any]:
    """Ask a database."""

    async def ask() -> list[Any]:
        async with connected(dsn, timeout=30) as connection:
            rows: list[Any] = await connection.fetch(text, *arguments, timeout=30)
        return rows

    return asyncio.run(ask())


@contextmanager
def in_the_way(home: Path, text: str, *arguments: object) -> Iterator[None]:
    """Hold a transaction open in which this statement was executed; undo it at the end."""
    dsn = json.loads((home / "secrets.json").read_text())["admin"]
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(dsn))
        runner.run(connection.execute("BEGIN"))
        runner.run(connection.execute(text, *arguments))
        try:
            yield
        finally:
            connection.terminate()


def read_books(home: Path, batch_id: int) -> Books:
    """Read a batch."""
    states = query(
        home,
        "SELECT s.word, count(*) AS n FROM weft.job j JOIN weft.job_state s USING (state)"
        " WHERE j.batch_id = $1 GROUP BY s.word",
        batch_id,
    )
    attempts = query(
        home,
        "SELECT job_id, attempt, reason, claimed_at, started_at, ended_at, message"
        " FROM weft.attempt WHERE batch_id = $1",
        batch_id,
    )
    return Books(
        Counter({row["word"]: row["n"] for row in states}), [Attempt(*row) for row in attempts]
    )
