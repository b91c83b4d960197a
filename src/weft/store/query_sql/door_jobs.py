"""The statement for jobs of a door that are a user's own or were granted to them: `b` is the batch
of each, `j` its first job, if it has one.
"""

from collections.abc import Sequence
from typing import Final

from weft.core.query.tree import Term
from weft.ports.store.offers import DoorJobQuery
from weft.store.query_sql.fragments import Parameters, Statement, condition_of

_SOME: Final = """SELECT b.batch_id, {key} AS sort_key FROM weft.batch b
LEFT JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = 1
WHERE {which} AND b.foreign_id IS NOT NULL AND b.foreign_document IS NOT NULL
  AND b.batch_id < {before}{shown} AND {condition}"""
_BOTH: Final = """SELECT x.batch_id FROM (
({own} ORDER BY {own_order} LIMIT {last})
UNION ALL
(SELECT p.* FROM weft.granted_batches() g (batch_id) CROSS JOIN LATERAL ({granted} OFFSET 0) p
 ORDER BY {order} LIMIT {last})) x
ORDER BY {order} OFFSET {offset} LIMIT {limit}"""


def select_door_jobs(
    query: DoorJobQuery, *, of_user: int, among: Sequence[int] | None = None
) -> Statement:
    """Return the statement for the numbers of their batches in the order that is wanted; of those
    that are alike the newest comes first. `among`: own ones are of these batches.
    """
    parameters = Parameters()
    way = "DESC" if query.is_descending else "ASC"
    if not query.has_all:
        way += " NULLS LAST" if query.is_descending else " NULLS FIRST"
    user = parameters.integer(of_user)
    before = parameters.integer(query.before)
    exact = {"b.foreign_kind": query.kind, "b.name": query.name, "b.door": query.door}
    equal = {column: parameters.text(one) for column, one in exact.items() if one is not None}
    all_equal = [f"{column} = {value}" for column, value in equal.items()]
    own = [f"b.user_id = {user}", *all_equal]
    own_order = f"sort_key {way}, batch_id DESC"
    if among is not None:
        own.append(f"b.batch_id = ANY ({parameters.integers(among)})")
    elif query.sort_key is None:
        # Comparing rows leaves the planner no other index to choose: along another one it would
        # pass over the jobs of others. Said to be equal, the column would order nothing.
        (column, value), *_ = equal.items()
        row = f"(b.user_id, {column}, b.batch_id)"
        own = [
            f"{row} >= ({user}, {value}, 0) AND {row} < ({user}, {value}, {before})",
            f"{column} IS NOT NULL",
            *all_equal[1:],
        ]
        own_order = f"b.user_id DESC, {column} DESC, b.batch_id DESC"
    granted = ["b.batch_id = g.batch_id", f"b.user_id <> {user}", *all_equal]
    condition = condition_of(query.query, parameters, _no_term)
    values = {
        "key": query.sort_key or "b.batch_id",
        "before": before,
        "shown": "" if query.hidden else " AND NOT b.hidden",
        "condition": condition,
    }
    text = _BOTH.format(
        own=_SOME.format(which=" AND ".join(own), **values),
        granted=_SOME.format(which=" AND ".join(granted), **values),
        own_order=own_order,
        order=f"sort_key {way}, batch_id DESC",
        last=parameters.integer(query.offset + query.limit),
        offset=parameters.integer(query.offset),
        limit=parameters.integer(query.limit),
    )
    return Statement(text, tuple(parameters.values))


def _no_term(term: Term, _: Parameters) -> str:
    raise AssertionError(term)  # doors ask by conditions of their own
