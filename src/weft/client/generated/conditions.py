"""Calls of `weft.api.use_cases.conditions`.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document, Listing


class ConditionsCalls(DocumentCalls):
    """Calls of `weft.api.use_cases.conditions`."""

    def list_conditions(self) -> Listing:
        """Yield what blocked jobs that you see wait for together, the oldest first. One that is
        over is forgotten.

        Use case: `weft.api.use_cases.conditions.list_conditions`.
        """
        return self._list("/v1/conditions", {})

    async def get_condition(self, condition_id: int) -> Document:
        """Return a condition with the jobs that are due first, of those that you see. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.get_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return await self._get(f"/v1/conditions/{condition_id}")

    async def test_condition(self, condition_id: int) -> Document:
        """Let a condition be tested now, instead of at its next date; return it. If the test
        passes, its jobs go on, few at first. Raise `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.test_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return await self._post(f"/v1/conditions/{condition_id}/test", {})

    async def release_condition(self, condition_id: int, n: int) -> Document:
        """Let jobs of a condition go on without a test; return it. Only for administrators. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.release_condition`.

        Args:
            condition_id: A condition: 3 or c3.
            n: How many jobs go on, those that are due first.
        """
        return await self._post(f"/v1/conditions/{condition_id}/release", {"n": n})

    async def fail_condition(self, condition_id: int) -> Document:
        """End the jobs of a condition as errors; return it. Only for administrators. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.fail_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return await self._post(f"/v1/conditions/{condition_id}/fail", {})
