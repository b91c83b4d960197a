"""Conditions that blocked jobs wait for together: the calls of the driver and of the api."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.ports.store.callers import Caller, Row


@dataclass(frozen=True)
class DueCondition:
    """A condition that is to be tested now."""

    condition_id: int
    tester: str
    parameters: Mapping[str, str]
    """As a job gave them."""
    late_s: float = 0.0
    """For how long it has been due."""
    is_over: bool = False
    """No job waits for it: it has just been removed, and is not tested."""


class ConditionStore(Protocol):
    """What blocked jobs of a tenant wait for together. Each is forgotten when it is over, and does
    not exist for who sees none of the batches whose jobs wait for it; the methods that name one
    raise `ConditionNotFound` then.
    """

    async def list_conditions(self, caller: Caller, *, after_id: int, limit: int) -> Sequence[Row]:
        """Return a page of conditions with numbers above `after_id`, oldest first.

        Each has `condition_id`, `condition` (a kind), `tester`, `parameters`, `since`,
        `next_test_at`, `tested_at`, `passed` and `message` of the last test, `n_jobs` (those
        that the caller sees), `n_next` (how many go after the next test that passes) and
        `failed_by`: who has given it up.
        """

    async def get_condition(self, caller: Caller, condition_id: int, *, limit_jobs: int) -> Row:
        """Return one as in the list, with `jobs`: `batch_id`, `job_id`, `blocked_at` and `next_at`
        of those that are due first.
        """

    async def test_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver test it now."""

    async def release_condition(self, caller: Caller, condition_id: int, n_jobs: int) -> None:
        """Let the driver release some of its jobs, those that are due first; without a test."""

    async def fail_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver end its jobs as errors."""

    async def unblock_job(self, caller: Caller, batch_id: int, job_id: int) -> bool:
        """Let the driver make a blocked job ready now, whatever it waits for; return whether it
        was blocked. Raise `JobNotFound`.
        """
