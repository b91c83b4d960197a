"""Calls of `weft.api.use_cases.conditions`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin, WaitingListing


class ConditionsWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.conditions`, for programs that wait."""

    def list_conditions(self) -> WaitingListing:
        """Yield what blocked jobs that you see wait for together, the oldest first. One that is
        over is forgotten.

        Use case: `weft.api.use_cases.conditions.list_conditions`.
        """
        return WaitingListing(self._loop_thread, self._async.list_conditions())

    def get_condition(self, condition_id: int) -> Document:
        """Return a condition with the jobs that are due first, of those that you see. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.get_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return self._loop_thread.wait(self._async.get_condition(condition_id))

    def test_condition(self, condition_id: int) -> Document:
        """Let a condition be tested now, instead of at its next date; return it. If the test
        passes, its jobs go on, few at first. Raise `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.test_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return self._loop_thread.wait(self._async.test_condition(condition_id))

    def release_condition(self, condition_id: int, n: int) -> Document:
        """Let jobs of a condition go on without a test; return it. Only for administrators. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.release_condition`.

        Args:
            condition_id: A condition: 3 or c3.
            n: How many jobs go on, those that are due first.
        """
        return self._loop_thread.wait(self._async.release_condition(condition_id, n))

    def fail_condition(self, condition_id: int) -> Document:
        """End the jobs of a condition as errors; return it. Only for administrators. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.fail_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return self._loop_thread.wait(self._async.fail_condition(condition_id))
