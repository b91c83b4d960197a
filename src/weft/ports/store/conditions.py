"""Conditions that blocked jobs wait for together: the calls of the driver and of the api."""

from collections.abc import Mapping
from dataclasses import dataclass


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
