"""The calls of a driver about limits of what billing projects spend."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from weft.core.spending import Spending, Stage


class Limit(NamedTuple):
    """The limits of a billing project, of one version."""

    limit_id: int
    version: int
    is_new: bool
    """Nothing was decided since it was changed."""
    project: str
    tenant: str
    on_limit: str
    spending: Spending


class SpendingStore(Protocol):
    """Limits of billing projects. The sweep `apply_limits` makes batches agree with the stages of
    their projects, and `weigh_users` the weights of users in fair share.
    """

    async def limit_rounds(self, epoch: int) -> Sequence[Limit]:
        """Return all limits, with what their projects have spent by now."""

    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage) -> bool:
        """Store how far a project is; return False if its limit was changed meanwhile.

        From then on no batch of a project at its limit gets ready jobs without being held; the
        sweep holds those that have some.
        """
