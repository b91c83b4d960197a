"""Conditions of blocked jobs, in the stores of the api and the driver."""

from collections.abc import Mapping, Sequence

from weft.core.ends.conditions import Tested
from weft.ports.store import (
    Caller,
    DueCondition,
    Row,
)
from weft.store.database import (
    StorePart,
)
from weft.store.declared import (
    actor,
    calls,
    documents,
    nothing,
    number,
    value,
)


class Conditions(StorePart):
    """What blocked jobs of a tenant wait for together. Each is forgotten when it is over, and does
    not exist for who sees none of the batches whose jobs wait for it; the methods that name one
    raise `ConditionNotFound` then.
    """

    @calls(documents, limit="limit_rows")
    async def list_conditions(self, caller: Caller, *, after_id: int, limit: int) -> Sequence[Row]:
        """Return a page of conditions with numbers above `after_id`, oldest first.

        Each has `condition_id`, `condition` (a kind), `tester`, `parameters`, `since`,
        `next_test_at`, `tested_at`, `passed` and `message` of the last test, `n_jobs` (those
        that the caller sees), `n_next` (how many go after the next test that passes) and
        `failed_by`: who has given it up.
        """

    @calls(value, condition_id="of_condition_id")
    async def get_condition(self, caller: Caller, condition_id: int, *, limit_jobs: int) -> Row:
        """Return one as in the list, with `jobs`: `batch_id`, `job_id`, `blocked_at` and `next_at`
        of those that are due first.
        """

    @calls(nothing, condition_id="of_condition_id")
    async def test_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver test it now."""

    @calls(nothing, condition_id="of_condition_id", n_jobs="n_more")
    async def release_condition(self, caller: Caller, condition_id: int, n_jobs: int) -> None:
        """Let the driver release some of its jobs, those that are due first; without a test."""

    @calls(nothing, condition_id="of_condition_id", actor=actor)
    async def fail_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver end its jobs as errors."""


class DueConditions(StorePart):
    """The driver's calls about conditions."""

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
        documents,
        condition_ids=lambda tested: [*tested],
        have_passed=lambda tested: [one.passed for one in tested.values()],
        messages=lambda tested: [one.message for one in tested.values()],
    )
    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        """Note what tests said, and when the conditions are tested next. Where one passed, the
        sweep `release_conditions` lets a few jobs go on; after the next test that passes twice as
        many, unless a job has come to the condition meanwhile. Return the conditions at which it
        said something else than the last time.
        """

    @calls(
        lambda rows: Tested(passed=rows[0]["passed"], message=rows[0]["message"]),
        condition_id="of_condition_id",
        pool="of_pool",
    )
    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        """Say whether a pool that serves the tenant of a condition has a worker that takes jobs
        and has this much free; 0: any.
        """

    @calls(
        lambda rows: Tested(passed=rows[0]["passed"], message=rows[0]["message"]),
        condition_id="of_condition_id",
        gateway="of_worker",
    )
    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        """Say whether the engine of a gateway, which serves the tenant of a condition, has
        answered what was submitted to it; a gateway that is silent or gone passes.
        """
