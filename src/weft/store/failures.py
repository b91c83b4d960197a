"""Failed jobs and their causes, in the api's store."""

from collections.abc import Sequence
from datetime import datetime

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import Made, actor, calls, number
from weft.store.documents import all_with_words, with_words


def _of_last(n: int) -> Made:
    """Return what sends a part of the place of the last row of the page before."""
    return lambda after: after and after[n]


class Failures(StorePart):
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
        (row,) = await self._database.call(
            "list_causes", caller=caller, batch_id=batch_id, show_all=show_all, limit_rows=limit
        )
        counts = {name: row[name] for name in ("n_jobs", "n_acknowledged", "n_causes")}
        return {**counts, "causes": [with_words(one) for one in row["items"]]}

    @calls(
        all_with_words,
        batch_id="of_batch_id",
        cause_id="of_cause_id",
        reason="of_reason",
        acknowledged="of_acknowledged",
        limit="limit_rows",
        **{f"after_{name}": _of_last(n) for n, name in enumerate(("batch", "cause", "job"))},
    )
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

    @calls(number, cause_id="of_cause_id", job_ids="of_job_ids", limit="limit_jobs", actor=actor)
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
