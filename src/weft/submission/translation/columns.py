"""What is known of the entries of a document, fact by fact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from weft.core.ends.retry_with import MoreRule
from weft.core.graph.parents import Parents
from weft.submission.translation.functions import Carriers


@dataclass(frozen=True, kw_only=True)
class Columns:
    """A column has an element for each entry. It is empty if no entry has anything there, and
    has one element if all entries agree.
    """

    shape_index: Sequence[int]
    """Of the shapes of the request."""
    group_id: Sequence[int]
    retry_on: Sequence[int]
    """Bits, see `retries.py`."""
    combo_index: Sequence[int]
    """Of the combinations of sets."""
    licences: Sequence[Mapping[str, int]]
    """How many of each are asked for."""
    more: Sequence[Sequence[MoreRule]]
    """By which rules retries ask for more."""
    parents: Sequence[Parents]
    on_end: Sequence[Parents]
    """Those of them whose end is enough."""
    carriers: Carriers

    def of_entries(self, entries: Sequence[int]) -> "Columns":
        """Return the columns for these entries, in this order; an entry may come several times."""
        last = max(entries)
        columns: dict[str, Sequence[Any]] = {}  # elements of several types
        for field in fields(self):
            column = getattr(self, field.name)
            is_full = len(column) > last
            columns[field.name] = [column[entry] for entry in entries] if is_full else column
        return Columns(**columns)
