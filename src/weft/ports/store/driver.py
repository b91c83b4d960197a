"""The calls of a driver."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple


class Beat(NamedTuple):
    """The answer to a leader's heartbeat; it makes up for lost notices."""

    idle: bool
    """As `DriverStore.idle_driver`."""
    due: Mapping[str, datetime] = {}
    """By loop: when its next work is due, by this host's clock."""


class Folded(NamedTuple):
    """The result of a fold: the number of deltas, and the names of the loops that have work."""

    deltas: int
    loops: Sequence[str] = ()
    """Those that no notice wakes while the fold is awake, such as `cancel` (`driver/loops`)."""
