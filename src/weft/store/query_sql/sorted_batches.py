"""The statement for batches in the order of an index.

For those who see the tenant it walks along an index of the tenant. Others would pass over the
batches that they do not see: for them it takes a page along the index of each source – their own
batches and those of each of their projects –, and reads all batches that were granted to them.
"""

from types import MappingProxyType
from typing import Final, NamedTuple

from weft.core.batch_order import BatchOrder, BatchPlace, BatchSort
from weft.core.query.tree import Node
from weft.store.query_sql.batches import batch_term, framed
from weft.store.query_sql.fragments import Parameters, Statement, condition_of

_PAGE: Final = """SELECT b.batch_id, {key} AS sort_key FROM weft.batch b{source}{joins}
WHERE {where} AND {holds}{shown} AND {condition}
  AND weft.may_see(b.batch_id, b.user_id, b.project_id)
ORDER BY {columns} LIMIT {limit}"""
_ONE: Final = """SELECT b.batch_id, {key} AS sort_key FROM weft.batch b{source}{joins}
WHERE b.batch_id = g.batch_id AND {where} AND {holds}{shown} AND {condition}
  AND weft.may_see(b.batch_id, b.user_id, b.project_id) OFFSET 0"""
_MERGED: Final = """SELECT x.batch_id, x.sort_key FROM (
({own})
UNION
(SELECT p.* FROM weft.member_projects() m (project_id) CROSS JOIN LATERAL (
{joint}) p)
UNION
(SELECT p.* FROM weft.granted_batches() g (batch_id) CROSS JOIN LATERAL (
{granted}) p
ORDER BY p.sort_key {way}, p.batch_id {way} LIMIT {limit})) x
ORDER BY x.sort_key {way}, x.batch_id {way} LIMIT {limit}"""
_COMPLETION: Final = """
JOIN weft.group_completion o ON o.batch_id = b.batch_id AND o.group_id = 0
JOIN weft.group_count k ON k.batch_id = o.batch_id AND k.group_id = 0
    AND k.complete AND k.n_completions = o.completion"""


class _Order(NamedTuple):
    """The columns of the indexes that give an order."""

    key: str
    number: str
    kind: str
    """The type of the key."""
    holds: str = "true"
    """What else must hold so that the indexes can be used."""
    owner: str = "b.user_id"
    """With what the index of own batches begins."""
    project: str = "b.project_id"
    """With what that of batches of a project begins."""
    source: str = ""
    """The tables that they need beside that of batches."""


_ORDERS: Final = MappingProxyType(
    {
        BatchSort.NUMBER: _Order("b.batch_id", "b.batch_id", "bigint"),
        BatchSort.NAME: _Order("b.name", "b.batch_id", "text", "b.name IS NOT NULL"),
        BatchSort.CREATED: _Order("b.created_at", "b.batch_id", "timestamptz"),
        BatchSort.COMPLETED: _Order(
            "o.completed_at",
            "o.batch_id",
            "timestamptz",
            "o.group_id = 0",
            "o.owner_id",
            "o.project_id",
            _COMPLETION,
        ),
    }
)


class _Walk:
    """The way along an index, from a place on."""

    def __init__(
        self, order: BatchOrder, after: BatchPlace | None, parameters: Parameters
    ) -> None:
        self.by = _ORDERS[order.sort]
        self.way = "DESC" if order.is_descending else "ASC"
        self._later, self._until = ("<", ">=") if order.is_descending else (">", "<=")
        self._last = after and (
            parameters.bind(after.key, self.by.kind),
            parameters.integer(after.batch_id),
        )

    def columns(self, scope: str | None = None) -> str:
        """Return what to order by; `scope`: the column with which the index begins."""
        names = (scope, self.by.key, self.by.number)
        return ", ".join(f"{name} {self.way}" for name in names if name)

    def where(self, scope: str | None = None, value: str = "") -> str:
        """Return the condition that is left of the index; `value`: of the scope.

        Comparing rows, and no equality, leaves the planner no other index to choose: along that of
        the tenant it would hope to find some of these batches soon.
        """
        row = [name for name in (scope, self.by.key, self.by.number) if name]
        if self._last is None:
            return f"{scope} >= {value} AND {scope} <= {value}" if scope else "true"
        last = [value, *self._last] if scope else self._last
        text = f"({', '.join(row)}) {self._later} ({', '.join(last)})"
        return f"{text} AND {scope} {self._until} {value}" if scope else text


def sort_batches(
    node: Node,
    *,
    order: BatchOrder,
    after: BatchPlace | None,
    limit: int,
    hidden: bool,
    of_user: int | None,
) -> Statement:
    """Return the statement for the batches that match in an order: their numbers, and what they
    are sorted by. `of_user`: only what this user sees: batches of their own, of their projects and
    granted ones; None: all of the tenant.
    """
    parameters = Parameters()
    walk = _Walk(order, after, parameters)
    by, condition = walk.by, condition_of(node, parameters, batch_term)
    values = {
        "key": by.key,
        "source": by.source,
        "holds": by.holds,
        "condition": condition,
        "limit": parameters.integer(limit),
        **framed(parameters, hidden=hidden),
    }
    if of_user is None:
        text = _PAGE.format(where=walk.where(), columns=walk.columns(), **values)
    else:
        user = parameters.integer(of_user)
        own, joint = (
            _PAGE.format(where=walk.where(scope, value), columns=walk.columns(scope), **values)
            for scope, value in ((by.owner, user), (by.project, "m.project_id"))
        )
        granted = _ONE.format(where=walk.where(), **values)
        text = _MERGED.format(
            own=own, joint=joint, granted=granted, way=walk.way, limit=values["limit"]
        )
    return Statement(values["prices"] + text, tuple(parameters.values))
