"""The calls of the api about pools and their machines."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ShareKey:
    """Where a user stands among those with work in a pool."""

    load: float | None
    """Running mCPU divided by weight; None: the user has no ready jobs."""
    user_id: int
