"""Shares of parents that must succeed, as the model counts them."""

from collections.abc import Sequence

from weft.core.states import JobState

SHARE = 50


def is_met(n_parents: int, ends: Sequence[int]) -> bool | None:
    """Return whether SHARE % of the parents succeed, by how some ended; None: that is open."""
    may = n_parents * (100 - SHARE) // 100
    if sum(end > JobState.SUCCESS for end in ends) > may:
        return False
    return ends.count(JobState.SUCCESS) >= n_parents - may or None
