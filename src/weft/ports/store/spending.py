"""The calls about limits of what projects, users, batches and groups use."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from weft.core.billing.spending import Measure, Spending, Stage
from weft.ports.store.callers import Caller, Row


class Limit(NamedTuple):
    """One limit, of one version."""

    limit_id: int
    version: int
    is_new: bool
    """Nothing was decided since it was changed."""
    kind: str
    """Of what: project, user, batch or group."""
    name: str
    measure: Measure
    tenant: str
    on_limit: str
    spending: Spending


class Admitted(NamedTuple):
    """What a limit that is near let start."""

    limit_id: int
    n_admitted: int
    """Also attempts that fit, but whose batch or row somebody else has locked just now."""
    is_short: bool
    """A job did not fit below it."""


class SpendingStore(Protocol):
    """What a driver does with limits. The sweep `apply_limits` makes batches and groups agree with
    their stages, and `weigh_users` the weights of users in fair share.
    """

    async def limit_rounds(self, epoch: int) -> Sequence[Limit]:
        """Return limits with what was used of them by now, but for those of complete groups."""

    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage, *, near: bool) -> bool:
        """Store how far a limit is used; return False if it was changed meanwhile.

        From then on no batch of a project or user at or near its limit gets ready jobs without
        being held; the sweep holds those that have some.
        """

    async def admit_at_limits(
        self, epoch: int, rooms: Mapping[int, Decimal], *, limit_jobs: int
    ) -> Sequence[Admitted]:
        """Let waiting jobs start that fit below limits that are near: `rooms` says how much more
        may be used in an hour, by the number of the limit. Return what came of each.
        """


class Limited(NamedTuple):
    """What a limit is of: a billing project or a user by name, or a group of a batch by number or
    path.
    """

    kind: str
    """project, user or group; the root group is the batch."""
    name: str | None = None
    batch_id: int | None = None
    group: int | str = 0


class LimitStore(Protocol):
    """What the api does with limits."""

    async def set_limit(
        self, caller: Caller, of: Limited, measure: Measure, patch: Mapping[str, Any]
    ) -> Row:
        """Change `amount_max`, `amount_soft_max` (None: none) or `on_limit` (`pause`, `cancel`);
        return the limit. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
        `GroupNotFound`; `SoftLimitAboveLimit`, also by the one of the two that is stored.
        """

    async def list_limits(
        self, caller: Caller, batch_id: int | None, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return limits in the order of their ids, of one batch with what it belongs to, or of
        all; for somebody who does not see the tenant, their own, those of their billing projects
        and those of batches that they see. Raise `BatchNotFound`.
        """
