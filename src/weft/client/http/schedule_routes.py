"""The routes about schedules, one method each."""

from weft.client.http.calls import Requests
from weft.client.http.listing import Document
from weft.client.http.session import new_key


class ScheduleRoutes(Requests):
    """`/v1/schedules`."""

    async def add_schedule(
        self,
        cron: str,
        document: Document,
        *,
        time_zone: str = "UTC",
        missed: str = "skip",
        name: str | None = None,
        key: str | None = None,
    ) -> Document:
        """Add a schedule; return it.

        `key`: calls with the same one add one schedule.
        """
        wanted = {
            "cron": cron,
            "time_zone": time_zone,
            "missed": missed,
            "name": name,
            "document": document,
        }
        return await self._post("/v1/schedules", wanted, key=key or new_key())

    async def run_schedule(self, schedule_id: int, *, key: str | None = None) -> Document:
        """Submit the batch of a schedule now; return `schedule_id`, `batch_id`, `n_jobs`."""
        path = f"/v1/schedules/{schedule_id}/run-now"
        return await self._post(path, {}, key=key or new_key())
