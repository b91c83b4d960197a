"""The calls about limits of what projects, users, batches and groups use."""

from typing import NamedTuple

from weft.core.billing.spending import Measure, Spending


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


class Limited(NamedTuple):
    """What a limit is of: a billing project or a user by name, or a group of a batch by number or
    path.
    """

    kind: str
    """project, user or group; the root group is the batch."""
    name: str | None = None
    batch_id: int | None = None
    group: int | str = 0
