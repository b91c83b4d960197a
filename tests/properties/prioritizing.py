"""An operation on priorities, as the model of the core knows it."""

from dataclasses import dataclass, field


@dataclass
class Prioritizing:
    """An operation that gives the jobs of a group a priority."""

    number: int
    group: int
    priority: int
    there: set[int]
    """Jobs that were committed when it was asked for."""
    own: set[int] = field(default_factory=set)
    """Those that were given one of their own since."""
    position: int = 0
    n_changed: int = 0
