"""How far the inputs of one attempt have come."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Part:
    """One input."""

    come: int = 0
    n_bytes: int | None = None
    """None: its server does not say, or has not answered yet."""
    is_here: bool = False
    source: "Part | None" = None
    """That of another job, which fetches it for this one, too."""


def words(parts: Sequence[Part]) -> str:
    """Return it for people.

    >>> words([Part(30, 30, is_here=True), Part(10, 60), Part(0, 10)])
    'fetches 2 of 3 inputs, 40 %'
    >>> words([Part(), Part(0, 10)])
    'fetches 2 of 2 inputs'
    """
    left = [one for one in parts if not one.is_here]
    text = f"fetches {len(left)} of {len(parts)} inputs"
    known = [one.source or one for one in parts]
    total = sum(one.n_bytes or 0 for one in known)
    if not total or any((one.source or one).n_bytes is None for one in left):
        return text
    come = sum(one.n_bytes or 0 if one.is_here else one.come for one in known)
    return f"{text}, {100 * min(come, total) // total} %"
