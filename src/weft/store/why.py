"""Why jobs wait, in the api's store."""

from collections.abc import Sequence

import msgspec

from weft.core.forecast import ForecastFacts
from weft.core.why import GroupFacts, JobFacts, group_of
from weft.ports.store import Caller
from weft.store.database import StorePart
from weft.store.declared import calls, value
from weft.store.documents import with_words


class Why(StorePart):
    """Facts from which `weft.core.why` makes sentences, all of one moment.

    They take the same time however many jobs there are.
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
