"""The part of `ApiStore` for why jobs wait, and the conditions that they wait for."""

from collections.abc import Sequence

import msgspec

from weft.core.forecast import ForecastFacts
from weft.core.why import GroupFacts, JobFacts, group_of
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import actor, calls, documents, nothing, truth, value
from weft.store.documents import with_words


class Why(StorePart):
    """Facts from which `weft.core.why` makes sentences, all of one moment.

    They take the same time however many jobs there are.

    What blocked jobs of a tenant wait for together. Each is forgotten when it is over, and does
    not exist for who sees none of the batches whose jobs wait for it; the methods that name one
    raise `ConditionNotFound` then.
    """

    @calls(lambda rows: msgspec.convert(value(rows), JobFacts))
    async def why_job(self, caller: Caller, batch_id: int, job_id: int) -> JobFacts:
        """Return what keeps a job from running. Raise `JobNotFound`."""

    @calls(lambda rows: [msgspec.convert(row[0], JobFacts) for row in rows])
    async def why_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Sequence[JobFacts]:
        """Return the same of several jobs, by number, as far as they exist."""

    async def why_group(self, caller: Caller, batch_id: int, group: int | str) -> GroupFacts:
        """Return the counts of a group, with facts of a few of its jobs that are ready or failed.
        Raise `GroupNotFound`.
        """
        by_path = isinstance(group, str)
        found = await self._database.value(
            "why_group",
            caller=caller,
            batch_id=batch_id,
            group_id=None if by_path else group,
            path=group if by_path else None,
        )
        document, failed = found["document"], found["failed"]
        facts = {
            **document,
            "name": group_of(batch_id, document["path"] or document["name"]),
            "n_failed": document["n_failed"] + document["n_errored"],
            "came": found["came"],
            "held": found["held"],
            "limit": found["limit"],
            "ready": found["ready"],
            "claimed": found["claimed"],
            "failed": with_words(failed) if failed else None,
        }
        return msgspec.convert(facts, GroupFacts)

    @calls(lambda rows: msgspec.convert(value(rows), ForecastFacts | None))
    async def forecast_facts(
        self, caller: Caller, batch_id: int, job_id: int
    ) -> ForecastFacts | None:
        """Return what a forecast of a job is made of; of job 0: of the batch, None if it has no
        jobs. Raise `JobNotFound`.
        """

    @calls(documents, limit="limit_rows")
    async def list_conditions(self, caller: Caller, *, after_id: int, limit: int) -> Sequence[Row]:
        """Return a page of conditions with numbers above `after_id`, oldest first.

        Each has `condition_id`, `condition` (a kind), `tester`, `parameters`, `since`,
        `next_test_at`, `tested_at`, `passed` and `message` of the last test, `n_jobs` (those
        that the caller sees), `n_next` (how many go after the next test that passes) and
        `failed_by`: who has given it up.
        """

    @calls(value, condition_id="of_condition_id")
    async def get_condition(self, caller: Caller, condition_id: int, *, limit_jobs: int) -> Row:
        """Return one as in the list, with `jobs`: `batch_id`, `job_id`, `blocked_at` and `next_at`
        of those that are due first.
        """

    @calls(nothing, condition_id="of_condition_id")
    async def test_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver test it now."""

    @calls(nothing, condition_id="of_condition_id", n_jobs="n_more")
    async def release_condition(self, caller: Caller, condition_id: int, n_jobs: int) -> None:
        """Let the driver release some of its jobs, those that are due first; without a test."""

    @calls(nothing, condition_id="of_condition_id", actor=actor)
    async def fail_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver end its jobs as errors."""

    @calls(truth)
    async def unblock_job(self, caller: Caller, batch_id: int, job_id: int) -> bool:
        """Let the driver make a blocked job ready now, whatever it waits for; return whether it
        was blocked. Raise `JobNotFound`.
        """
