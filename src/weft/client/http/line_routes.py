"""The client's calls about setups, lifecycles and statuses."""

from urllib.parse import quote

from weft.client.http.calls import Requests, decode
from weft.client.http.listing import Document, Listing


class LineRoutes(Requests):
    """One method per route."""

    async def save_setup(self, name: str, text: str) -> Document:
        """Save the file of a production line. Only for operators."""
        body = text.encode()
        answer: Document = decode(
            await self._session.request(
                "PUT",
                f"/v1/setups/{quote(name, safe='')}",
                body=body,
                content_type="application/toml",
            )
        )
        return answer

    async def get_setup(self, name: str) -> Document:
        """Return the file of a production line. Only for operators."""
        return await self._get(f"/v1/setups/{quote(name, safe='')}")

    async def remove_setup(self, name: str) -> Document:
        """Forget the file of a production line. Only for operators."""
        return await self._delete(f"/v1/setups/{quote(name, safe='')}")

    async def line_overview(self) -> Document:
        """Return how production lines are."""
        return await self._get("/v1/lines")

    async def get_lifecycle(self, name: str) -> Document:
        """Return a lifecycle."""
        return await self._get(f"/v1/lifecycles/{quote(name, safe='')}")

    async def change_status(
        self, batch_id: int, job_id: int, status: str, message: str | None
    ) -> Document:
        """Set the status of a job."""
        return await self._post(
            f"/v1/batches/{batch_id}/jobs/{job_id}/status", {"status": status, "message": message}
        )

    def list_messages(self, sink: str) -> Listing:
        """Yield the messages of a sink, the oldest first. Only for operators."""
        return self._list(f"/v1/sinks/{quote(sink, safe='')}/deliveries", {})

    async def decide_message(self, sink: str, delivery_id: int, decision: str) -> Document:
        """Let a message that a check has stopped `pass`, or `drop` it; return it. Only for
        operators.
        """
        path = f"/v1/sinks/{quote(sink, safe='')}/deliveries/{delivery_id}/decide"
        return await self._post(path, {"decision": decision})

    async def redeliver_message(self, sink: str, delivery_id: int) -> Document:
        """Send a message again now; return it. Only for operators."""
        return await self._post(
            f"/v1/sinks/{quote(sink, safe='')}/deliveries/{delivery_id}/redeliver", {}
        )
