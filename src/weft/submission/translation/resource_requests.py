"""What the jobs of a request ask for: shapes, licences, and more of it in later attempts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from weft.core.ends.retry_with import MoreRule
from weft.core.problems import Problems
from weft.ports.store import Row, Shape
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.retry_with import rules_of_more
from weft.submission.translation.shapes import ShapeBook
from weft.wire.documents.batches import JobDocument


class Asks(NamedTuple):
    """The distinct shapes, and columns (`Columns`)."""

    shapes: list[Shape]
    shape_index: Sequence[int]
    licences: Sequence[Mapping[str, int]]
    more: Sequence[Sequence[MoreRule]]


def asks_of(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    workers: Sequence[Row],
    problems: Problems,
) -> Asks:
    """Return what these jobs ask for, and note what no worker can give."""
    book = ShapeBook(workers, context.licences)
    shape_index = book.index_of(jobs, problems, context.router)
    more = rules_of_more(context.rare(jobs), book, shape_index, problems)
    return Asks(book.shapes, shape_index, book.licences_of(jobs), more)
