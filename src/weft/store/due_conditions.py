"""The parts of `DriverStore` for conditions and subscriptions."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.ends.conditions import Tested
from weft.ports.store import DueCondition
from weft.ports.store.callers import Notified
from weft.store.database import StorePart
from weft.store.declared import calls, documents, nothing, number, seconds


class DueConditions(StorePart):
    """The driver's calls about conditions."""

    @calls(seconds, limit="limit_rows")
    async def conditions_due(self, epoch: int, busy: Sequence[int], *, limit: int) -> float | None:
        """Return in how many seconds a condition needs the driver, as `gates_due`, or there is
        another for `due_conditions`.
        """

    @calls(lambda rows: [DueCondition(**row) for row in rows], limit="limit_rows")
    async def due_conditions(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueCondition]:
        """Return the conditions that are to be tested, the longest due first, until `record_tests`
        says how it went. `busy`: those whose tests are under way; they are not returned again.
        With them a tenant has at most half of `limit`.

        A condition without jobs is over: it is removed instead, and returned as that.
        """

    @calls(number)
    async def postpone_conditions(
        self, epoch: int, condition_ids: Sequence[int], *, limit_jobs: int, due_s: float = 0.0
    ) -> int:
        """Let jobs of conditions that are due wait on, each by its own policy, as their tests have
        not passed; give up those that have waited too long. Return how many; 0: nothing is left.

        `due_s`: only jobs that have been due for so long. Of many jobs the first may be due again
        before the last one waits on.
        """

    @calls(
        documents, condition_ids=lambda tested: [*tested],
        have_passed=lambda tested: [one.passed for one in tested.values()],
        messages=lambda tested: [one.message for one in tested.values()],
    )  # fmt: skip
    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        """Note what tests said, and when the conditions are tested next. Where one passed, the
        sweep `release_conditions` lets a few jobs go on; after the next test that passes twice as
        many, unless a job has come to the condition meanwhile. Return the conditions at which it
        said something else than the last time.
        """

    @calls(
        lambda rows: Tested(passed=rows[0]["passed"], message=rows[0]["message"]),
        condition_id="of_condition_id", pool="of_pool",
    )  # fmt: skip
    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        """Say whether a pool that serves the tenant of a condition has a worker that takes jobs
        and has this much free; 0: any.
        """

    @calls(
        lambda rows: Tested(passed=rows[0]["passed"], message=rows[0]["message"]),
        condition_id="of_condition_id", gateway="of_worker",
    )  # fmt: skip
    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        """Say whether the engine of a gateway, which serves the tenant of a condition, has
        answered what was submitted to it; a gateway that is silent or gone passes.
        """


class Subscriptions(StorePart):
    """Notices of subscriptions. They are sent as callbacks are (`due_callbacks`)."""

    @calls(lambda rows: rows[0][0] and Notified(**rows[0][0]), limit="limit_rows")
    async def list_notified(
        self, epoch: int, *, after_batch: int | None, limit: int
    ) -> Notified | None:
        """Return the jobs that the next events are about, in their order; None: no subscription
        is open. `after_batch`: those with a larger number instead, whatever the events.
        """

    @calls(nothing)
    async def record_notices(
        self, epoch: int, notices: Sequence[Mapping[str, Any]], xid: int, event_id: int
    ) -> None:
        """Record what is to be sent (`subscription_id`, `event_key`, `url`, `body`), once for each
        subscription and key, and how far events were looked at.
        """
