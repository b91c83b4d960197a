"""The call that adds a schedule."""

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document
from weft.client.http.session import new_key


class ScheduleRoutes(DocumentCalls):
    """Batches that are submitted at the times of a cron expression."""

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
        """Submit a batch document at the times of a cron expression; return the schedule.

        Raise `InvalidCron`, `UnknownTimeZone`, `TooManySchedules`, and what a submission of the
        document would raise.

        Args:
            cron: Minute, hour, day of the month, month and day of the week.
            document: A batch document.
            time_zone: A name of the IANA database, whose clock decides.
            missed: Which of the runs that were missed while weft was down are made up for: `skip`,
                `last` or `all`.
            name: For people; without it that of the batch.
            key: Calls with the same one add one schedule.
        """
        wanted = {"cron": cron, "time_zone": time_zone, "missed": missed, "name": name}
        return await self._post(
            "/v1/schedules", {**wanted, "document": document}, key=key or new_key()
        )
