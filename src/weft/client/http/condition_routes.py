"""The routes about what blocked jobs wait for together, one method each."""

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing


class ConditionRoutes(Requests):
    """`/v1/conditions`."""

    def list_conditions(self) -> Listing:
        """Yield what blocked jobs of all users wait for together, the oldest first."""
        return self._list("/v1/conditions", {})

    async def get_condition(self, condition_id: int) -> Document:
        """Return a condition with the jobs that are due first. Raise `ConditionNotFound`."""
        return await self._get(f"/v1/conditions/{condition_id}")

    async def test_condition(self, condition_id: int) -> Document:
        """Let a condition be tested now; return it. Raise `ConditionNotFound`."""
        return await self._post(f"/v1/conditions/{condition_id}/test", {})

    async def release_condition(self, condition_id: int, n: int) -> Document:
        """Let jobs of a condition go on without a test; return it. Only for administrators."""
        return await self._post(f"/v1/conditions/{condition_id}/release", {"n": n})

    async def fail_condition(self, condition_id: int) -> Document:
        """End the jobs of a condition as errors; return it. Only for administrators."""
        return await self._post(f"/v1/conditions/{condition_id}/fail", {})
