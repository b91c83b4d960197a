"""The routes about schedules, one method each."""

from typing import Any

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing
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

    def list_schedules(self) -> Listing:
        """Yield the schedules of all users, in the order of their numbers."""
        return self._list("/v1/schedules", {})

    async def get_schedule(self, schedule_id: int) -> Document:
        """Return a schedule with its newest runs. Raise `ScheduleNotFound`."""
        return await self._get(f"/v1/schedules/{schedule_id}")

    async def change_schedule(
        self,
        schedule_id: int,
        **patch: Any,  # noqa: ANN401 (fields of several types)
    ) -> Document:
        """Change `cron`, `time_zone`, `missed`, `name` or `paused` of a schedule; return it."""
        return await self._patch(f"/v1/schedules/{schedule_id}", patch)

    async def delete_schedule(self, schedule_id: int) -> None:
        """Remove a schedule. Its batches stay."""
        await self._session.request("DELETE", f"/v1/schedules/{schedule_id}")

    async def run_schedule(self, schedule_id: int, *, key: str | None = None) -> Document:
        """Submit the batch of a schedule now; return `schedule_id`, `batch_id`, `n_jobs`."""
        path = f"/v1/schedules/{schedule_id}/run-now"
        return await self._post(path, {}, key=key or new_key())
