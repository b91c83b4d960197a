"""The search of a page: rows that match a query, or what is wrong with it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.api.http.parameters import Query
from weft.core.errors import BadQuery, QueryTooSlow, QueryTooWide, WeftError
from weft.core.query.fields import FIELDS, OPERATORS, STATES
from weft.core.query.tree import Field, Subject
from weft.ports.store import Row


def _words_of(subject: Subject) -> Sequence[str]:
    compared = [
        f"{field.value} {operator.value} "
        for field, kind in FIELDS[subject].items()
        if field is not Field.STATE
        for operator in OPERATORS[kind]
    ]
    return *(f"state = {state}" for state in STATES[subject]), *compared


BATCH_WORDS: Final = _words_of(Subject.BATCHES)
"""What a term of a query for batches may begin with."""
JOB_WORDS: Final = _words_of(Subject.JOBS)
"""The same for jobs."""


@dataclass(frozen=True)
class Found:
    """What a search found."""

    rows: Sequence[Row] = ()
    warnings: Sequence[str] = ()
    """Why it may have found nothing."""
    problem: WeftError | None = None
    """Why there is no answer."""

    @property
    def status(self) -> int:
        """The status of the page."""
        return 200 if self.problem is None else self.problem.status


async def find(
    rows_of: Awaitable[Sequence[Row]],
    doubt: Callable[[], Awaitable[Sequence[str]]],
    *,
    is_first: bool,
) -> Found:
    """Read the rows, and doubt the query if not even the first page has any."""
    try:
        rows = await rows_of
        warnings = await doubt() if is_first and not rows else ()
    except (BadQuery, QueryTooSlow, QueryTooWide) as error:
        return Found(problem=error)
    return Found(rows, warnings)


def query_of(query: Query) -> str | None:
    """Return the query; an empty field of the form is none."""
    return (query.text("q") or "").strip() or None
