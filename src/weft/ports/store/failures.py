"""The calls of the api about jobs that failed for good: dead letters, by cause."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class FailureStore(Protocol):
    """Failed jobs of batches. A retried job is none any more; an acknowledged one is not listed.

    The number of a cause is made of how and with which message jobs failed, so a cause has the
    same number in all batches. Its name is that number as 12 digits of hex.
    """

    async def list_causes(
        self, caller: Caller, batch_id: int, *, show_all: bool, limit: int
    ) -> Row:
        """Return why jobs of a batch failed: `n_jobs`, `n_acknowledged`, `n_causes`, and the
        `causes`, the most frequent first.

        `show_all`: also causes of which all jobs are acknowledged. Raise `BatchNotFound`.
        """

    async def list_dead_letters(
        self,
        caller: Caller,
        *,
        limit: int,
        batch_id: int | None = None,
        cause_id: int | None = None,
        reason: int | None = None,
        acknowledged: bool = False,
        after: tuple[int, int, int] | None = None,
    ) -> Sequence[Row]:
        """Return failed jobs, of the newest batch first, then by cause and number; after the job
        with this batch, cause and number.

        `acknowledged`: those that are, instead of those that are not. Raise `BatchNotFound`.
        """

    async def acknowledge_failures(
        self,
        caller: Caller,
        batch_id: int,
        *,
        cause_id: int | None,
        job_ids: Sequence[int] | None,
        note: str,
        until: datetime | None,
        limit: int,
    ) -> int:
        """Note that a person has seen to failed jobs of a cause, those of these numbers, or any;
        return how many, at most `limit`.

        `until`: only those that failed by then. A repeat takes the next ones. Raise
        `BatchNotFound`.
        """
