"""Where the jobs of a document stand in their update: an array takes a position for each job."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate


class Positions:
    """The positions of the entries of a document, the first of which is at `first`.

    `counts` says for each entry how many jobs it is; None: an ordinary job.
    """

    def __init__(self, counts: Sequence[int | None], *, first: int = 1) -> None:
        self.first = first
        self.has_arrays = counts.count(None) < len(counts)
        self._counts = [count or 1 for count in counts] if self.has_arrays else []
        self.firsts: Sequence[int] = range(first, first + len(counts))
        if self.has_arrays:
            self.firsts = list(accumulate(self._counts, initial=first))[:-1]

    @property
    def n_jobs(self) -> int:
        """Return how many positions there are."""
        return sum(self._counts) if self.has_arrays else len(self.firsts)

    def count_of(self, entry: int) -> int:
        """Return how many jobs an entry is."""
        return self._counts[entry] if self.has_arrays else 1

    def of(self, entry: int) -> range:
        """Return the positions of an entry."""
        first = self.firsts[entry]
        return range(first, first + self.count_of(entry))

    def entry_at(self, position: int) -> int:
        """Return the entry to which a position of this document belongs."""
        if not self.has_arrays:
            return position - self.first
        return bisect_right(self.firsts, position) - 1

    def numbers_in(self, order: Sequence[int]) -> Sequence[int]:
        """Return for each entry its first position if the entries stood in this order."""
        numbers = [0] * len(order)
        position = self.first
        for entry in order:
            numbers[entry] = position
            position += self.count_of(entry)
        return numbers

    def pieces(self, positions: range) -> Iterator[tuple[int, range]]:
        """Yield the entries that have some of these positions, each with those that it has."""
        position = positions.start
        while position < positions.stop:
            entry = self.entry_at(position)
            end = min(positions.stop, self.firsts[entry] + self.count_of(entry))
            yield entry, range(position, end)
            position = end
