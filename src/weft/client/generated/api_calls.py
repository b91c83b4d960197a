"""The declared calls that `Api` alone has: clients have objects for what they answer.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document


class ApiCalls(DocumentCalls):
    """The declared calls that `Api` alone has: clients have objects for what they answer."""

    async def overview(self) -> Document:
        """Return the workers and how many jobs wait and run.

        Use case: `weft.api.use_cases.workers.overview`.
        """
        return await self._get("/v1/overview")
