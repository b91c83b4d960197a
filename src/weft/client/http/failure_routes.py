"""The call that acknowledges jobs that failed for good."""

from collections.abc import Sequence

from weft.client.http.calls import DocumentCalls


class FailureRoutes(DocumentCalls):
    """What a person says of failed jobs."""

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
