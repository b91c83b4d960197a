"""The routes of jobs that failed for good."""

from collections.abc import Sequence

from weft.client.http.calls import PAGE_ROWS, DocumentCalls
from weft.client.http.listing import Document


class FailureRoutes(DocumentCalls):
    """Why jobs failed, and which."""

    async def list_causes(
        self, batch_id: int, *, all_: bool = False, limit: int = PAGE_ROWS
    ) -> Document:
        """Return why jobs of a batch failed for good: `n_jobs`, `n_acknowledged`, `n_causes`, and
        `causes`, the most frequent first, each with an example. `all_`: also causes of which all
        jobs are acknowledged.
        """
        query = {"all": all_ or None, "limit": limit}
        return await self._get(f"/v1/batches/{batch_id}/failures", query)

    async def acknowledge_failures(
        self,
        batch_id: int,
        note: str,
        *,
        cause: str | None = None,
        jobs: Sequence[int] | None = None,
    ) -> int:
        """Note that a person has seen to failed jobs of a batch: all, those of a cause, or those
        with these numbers. Return how many left the list of dead letters.
        """
        path = f"/v1/batches/{batch_id}/failures/acknowledge"
        wanted = {"note": note, "cause": cause, "jobs": None if jobs is None else list(jobs)}
        answer = await self._post(path, wanted)
        n_jobs = found = int(answer["n_jobs"])
        while found and jobs is None:
            found = int((await self._post(path, {**wanted, "until": answer["until"]}))["n_jobs"])
            n_jobs += found
        return n_jobs
