"""How far the records of one partition are done, when they are done out of order.

    delivered   4  5  7  8  9        (6 is a hole: a marker of a transaction, or compacted)
    done        x  x     x
    position          6              the next owner gets 7, 8 and 9 again

A position counts what was delivered, so holes do not stop it. Memory grows with the records that
are in flight, not with those behind them.
"""

from typing import Final

_NONE: Final = -1


class Watermark:
    """The records of a partition since it was taken over. A new owner begins a new one."""

    __slots__ = ("_before", "_last")

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        """Of each record in flight, in order: the offset that was delivered before it."""
        self._last = _NONE

    def __len__(self) -> int:
        """Return how many records are in flight."""
        return len(self._before)

    def deliver(self, offset: int) -> bool:
        """Note that a record has come; return whether it is a new one. Offsets only grow: one
        that is delivered once more by the same partition stays as it is.
        """
        last = self._last
        if offset <= last:
            return False
        self._before[offset] = last
        self._last = offset
        return True

    def finish(self, offset: int) -> bool:
        """Note that a record is done; return whether it was in flight."""
        return self._before.pop(offset, None) is not None

    @property
    def smallest(self) -> int | None:
        """The smallest offset in flight; None: nothing is."""
        return next(iter(self._before), None)

    @property
    def position(self) -> int | None:
        """What to commit: 1 + the highest offset such that it and all before it are done; None:
        the first record that was delivered is not done, or none has come.
        """
        smallest = self.smallest
        done = self._last if smallest is None else self._before[smallest]
        return None if done == _NONE else done + 1

    @property
    def held_up(self) -> int:
        """How many offsets the smallest one in flight holds up: later ones done, or holes."""
        smallest = self.smallest
        return 0 if smallest is None else self._last - smallest + 1 - len(self._before)
