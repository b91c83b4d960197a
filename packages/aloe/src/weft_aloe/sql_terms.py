"""Searches and orders in SQL: the terms of which the database needs no document.

`b` is the batch of a job, `j` its first job, which what was imported lacks. A term is the whole
answer, or a sieve: all jobs that meet it pass, and their documents decide.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from weft.core.query.tree import DoorTerm, Node, Not, Or
from weft.core.states import JobState
from weft.ports.store.offers import Span
from weft_aloe.searching import Term, day_after, day_of
from weft_aloe.words import ENDED, STATUSES, STORE

_DOCUMENT: Final = "(b.foreign_document ->> '{}')"
_HISTORY: Final = (
    "(SELECT h.one ->> 1 FROM jsonb_array_elements(b.foreign_document -> 'history')"
    " WITH ORDINALITY h (one, n) WHERE h.one ->> 0 = '{}' ORDER BY h.n DESC LIMIT 1)::timestamptz"
)
_ATTEMPT: Final = (
    "(SELECT a.{0} FROM weft.attempt a"
    " WHERE a.batch_id = b.batch_id AND a.job_id = 1 AND a.attempt = j.attempt)"
)
_LIVE: Final = (
    "(CASE WHEN j.job_id IS NULL THEN {history}"
    f" WHEN j.state = {JobState.RUNNING:d} THEN j.{{column}} ELSE {{attempt}} END)"
)
_CREATED: Final = "b.created_at"
_SUBMITTED: Final = _LIVE.format(
    history=_HISTORY.format("PROCESSING_INPUTS"),
    column="claimed_at",
    attempt=_ATTEMPT.format("claimed_at"),
)
_STARTED: Final = _LIVE.format(
    history=_HISTORY.format("RUNNING"), column="started_at", attempt=_ATTEMPT.format("started_at")
)
_COMPLETED: Final = (
    "(SELECT max(o.completed_at) FROM weft.group_completion o"
    " WHERE o.batch_id = b.batch_id AND o.group_id = 0)"
)
_ENDED_AT: Final = (
    "(CASE WHEN j.job_id IS NULL THEN (b.foreign_document -> 'history' -> -1 ->> 1)::timestamptz"
    f" WHEN j.state >= {JobState.SUCCESS:d} THEN"
    f" coalesce(greatest({_ATTEMPT.format('ended_at')}, j.cancelled_at), {_COMPLETED}) END)"
)
_END: Final = (
    "(CASE WHEN j.job_id IS NULL THEN b.foreign_document -> 'history' -> -1 ->> 0"
    f" WHEN j.state = {JobState.SUCCESS:d} THEN 'FINISHED'"
    f" WHEN j.state = {JobState.CANCELLED:d} THEN 'STOPPED'"
    f" WHEN j.state > {JobState.SUCCESS:d} THEN 'FAILED' END)"
)
"""The status of a job that has ended; of all others NULL."""
_RUNS: Final = f"j.state = {JobState.RUNNING:d}"
_WAITS: Final = frozenset({"ACCEPTED", "PENDING", "BLOCKED", "PAUSED"})
_SECONDS: Final = "extract(epoch FROM {} - {})"
_FIELDS: Final[Mapping[str, str]] = {
    "id": "b.foreign_id",
    "name": "b.name",
    "owner": "(SELECT u.name FROM weft.tenant_user u WHERE u.user_id = b.user_id)",
    "appid": _DOCUMENT.format("appId"),
    "systemid": _DOCUMENT.format("systemId"),
    "batchqueue": _DOCUMENT.format("batchQueue"),
    "archivepath": _DOCUMENT.format("archivePath"),
    "archivesystem": f"coalesce({_DOCUMENT.format('archiveSystem')}, '{STORE}')",
    "nodecount": f"{_DOCUMENT.format('nodeCount')}::numeric",
    "processorspernode": f"{_DOCUMENT.format('processorsPerNode')}::numeric",
    "memorypernode": f"{_DOCUMENT.format('memoryPerNode')}::numeric",
    "maxruntime": f"extract(epoch FROM {_DOCUMENT.format('maxRunTime')}::interval)",
    "archive": f"{_DOCUMENT.format('archive')}::boolean",
    "visible": "NOT b.hidden",
    "created": _CREATED,
    "submittime": _SUBMITTED,
    "starttime": _STARTED,
    "endtime": _ENDED_AT,
    "runtime": _SECONDS.format(_ENDED_AT, _STARTED),
    "walltime": _SECONDS.format(_ENDED_AT, _CREATED),
}
_TEXTS: Final = frozenset(
    {"id", "name", "owner", "appid", "systemid", "batchqueue", "archivepath", "archivesystem"}
)
_NOT_YET: Final = frozenset({"submittime", "starttime", "endtime", "runtime", "walltime"})
"""What jobs get by and by."""
_SAME: Final = {
    "executionsystem": "systemid",
    "remotequeue": "batchqueue",
    "started": "starttime",
    "processorsoneachnode": "processorspernode",
    "remotestarted": "starttime",
    "remotesubmitted": "submittime",
    "ended": "endtime",
}
_SIGNS: Final = {
    "eq": "=",
    "neq": "=",
    "in": "=",
    "nin": "=",
    "lt": "<",
    "before": "<",
    "lte": "<=",
    "gt": ">",
    "after": ">",
    "gte": ">=",
}
_EXACT: Final = {"name": "name", "appid": "kind"}
"""Fields whose values have an index, and what `DoorJobQuery` calls them."""
INDEXED: Final = (*_EXACT, "status", "endtime")
"""By these a search looks at few jobs; by all others at each, until its page is full."""
_ENDS: Final = {
    "FINISHED": [JobState.SUCCESS],
    "STOPPED": [JobState.CANCELLED],
    "FAILED": [JobState.FAILED, JobState.ERROR],
}
_WAITING: Final = [one for one in JobState if one < JobState.SUCCESS and one != JobState.RUNNING]
_BEFORE: Final = frozenset({"lt", "lte", "before"})
_AFTER: Final = frozenset({"gt", "gte", "after"})
_NEGATIVE: Final = frozenset({"neq", "nin", "nlike"})


class Sieve(NamedTuple):
    """What the database is asked, and what documents decide."""

    nodes: tuple[Node, ...]
    rest: Sequence[Term]
    exact: Mapping[str, Any]
    """What all of them have, as fields of `DoorJobQuery`: there is an index for each."""
    ended: Span | None
    """How and when all of them ended: there is an index for it."""


def sieve_of(terms: Sequence[Term]) -> Sieve:
    """Share out the terms of a search."""
    nodes: list[Node] = []
    rest = []
    for term in terms:
        if term.field == "status":
            node, is_whole = _status(term)
        else:
            node, is_whole = _node(term), True
        if node is not None:
            nodes.append(node)
        if node is None or not is_whole:
            rest.append(term)
    first = [one for one in reversed(terms) if one.field in _EXACT and one.operator == "eq"]
    exact = {_EXACT[one.field]: str(one.values[0]) for one in first}
    return Sieve(tuple(nodes), rest, exact, _ended_within(terms))


def order_in_sql(field: str) -> str | None:
    """Return what jobs are sorted by, texts by their code points; None: only documents tell."""
    field = _SAME.get(field, field)
    column = _FIELDS.get(field)
    return f'{column} COLLATE "C"' if column is not None and field in _TEXTS else column


def have_all(field: str) -> bool:
    """Say whether each job has a value of a field that is sorted by."""
    return _SAME.get(field, field) not in _NOT_YET


def archived_below(path: str) -> Node:
    """Return what finds the jobs whose archive in weft's own store has a path."""
    own = f"{_FIELDS['archive']} AND {_FIELDS['archivesystem']} = '{STORE}'"
    return DoorTerm(f"{own} AND starts_with({{0}}, {_FIELDS['archivepath']} || '/')", (path,))


def _ended_within(terms: Sequence[Term]) -> Span | None:
    """Return how and when all that meet the terms have ended; None: they say nothing."""
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    since, until, words = first, last, set(STATUSES)
    for term in terms:
        if term.field == "status" and term.operator in _SIGNS:
            named = set(term.values)
            words &= words - named if term.operator in _NEGATIVE else named
        if _SAME.get(term.field, term.field) != "endtime" or term.operator in _NEGATIVE:
            continue
        begin, end = min(term.values), max(term.values)
        if term.operator in {"eq", "in", "on"}:
            begin = day_of(begin) if term.operator == "on" else begin
            end = day_after(end)
        since = max(since, first if term.operator in _BEFORE else begin)
        until = min(until, last if term.operator in _AFTER else end)
    states = [state for word in words & ENDED for state in _ENDS[word]]
    if (since, until) == (first, last) and words - ENDED:
        if words >= ENDED:
            return None
        states += [JobState.RUNNING] if words - ENDED - _WAITS else []
        states += _WAITING if words & _WAITS else []
    return Span(None if since == first else since, None if until == last else until, states)


def _node(term: Term) -> Node | None:
    field = _SAME.get(term.field, term.field)
    column = _FIELDS.get(field)
    if column is None:
        return None
    match term.operator:
        case "like" | "nlike":
            node: Node = DoorTerm(f"{column} LIKE {{0}}", (_pattern(term.values[0]),))
        case "on":
            day = day_of(term.values[0])
            node = _between(column, ">=", day, "<", day_after(day))
        case "between":
            node = _between(column, ">=", term.values[0], "<=", term.values[1])
        case _:
            sign = _SIGNS[term.operator]
            node = Or(tuple(_compared(column, sign, value) for value in term.values))
    return Not(node) if term.operator in _NEGATIVE else node


def _compared(column: str, sign: str, value: Any) -> Node:  # noqa: ANN401 (of any kind)
    if isinstance(value, bool):
        return DoorTerm(column) if value else Not(DoorTerm(column))
    if isinstance(value, datetime):
        if sign == "=" and value.microsecond == 0:
            column = f"date_trunc('second', {column})"
        return DoorTerm(f"{column} {sign} {{0}}::timestamptz", (value.isoformat(),))
    return DoorTerm(f"{column} {sign} {{0}}", (value,))


def _between(column: str, low: str, first: datetime, high: str, last: datetime) -> Node:
    text = f"{column} {low} {{0}}::timestamptz AND {column} {high} {{1}}::timestamptz"
    return DoorTerm(text, (first.isoformat(), last.isoformat()))


def _status(term: Term) -> tuple[Node | None, bool]:
    """Return what the database can say of statuses, and whether that is all: of a job that has
    not ended it knows whether it runs, but not how far it is.
    """
    if term.operator in {"like", "nlike"}:
        return None, False
    words = set(term.values)
    ends, others = sorted(words & ENDED), words - ENDED
    has_ended = tuple(DoorTerm(f"{_END} = {{0}}", (end,)) for end in ends)
    if term.operator in {"neq", "nin"}:
        return (Not(Or(has_ended)) if ends else None), not others
    if not others:
        return Or(has_ended), True
    is_open = f"{_END} IS NULL" if others & _WAITS else _RUNS
    return Or((DoorTerm(is_open), *has_ended)), False


def _pattern(text: str) -> str:
    for sign in ("\\", "%", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("*", "%")
