"""The statement for a query of products: p is the product.

The statement for jobs of a door that are a user's own or were granted to them: `b` is the batch
of each, `j` its first job, if it has one.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, assert_never

from weft.core.query import tree
from weft.core.query.tree import Term
from weft.ports.store.offers import DoorJobQuery
from weft.store.query_sql.fragments import (
    COMPARED,
    Parameters,
    Statement,
    any_label,
    attribute,
    condition_of,
    matched,
)

OF_JOB: Final = "job."
"""Before the key of an attribute of the job that has made it."""
_OWNER: Final = """
JOIN weft.tenant_user n ON n.user_id = p.user_id"""
_PROJECT: Final = """
JOIN weft.billing_project j ON j.project_id = p.project_id"""
_TEXTS: Final = MappingProxyType(
    {tree.Field.USER: ("n.name", _OWNER), tree.Field.BILLING_PROJECT: ("j.name", _PROJECT)}
)
_INTEGERS: Final = MappingProxyType(
    {tree.Field.BATCH_ID: "p.batch_id", tree.Field.JOB_ID: "p.job_id"}
)
_PRODUCTS: Final = """SELECT p.product_id FROM weft.product p{joins}
WHERE p.product_id < {before} AND p.kept_at IS NOT NULL AND {condition}
  AND weft.may_see(p.batch_id, p.user_id, p.project_id)
ORDER BY p.product_id DESC LIMIT {limit}"""


def select_products(node: tree.Node, *, before: int, limit: int) -> Statement:
    """Return the statement for numbers of matching products that the caller sees, newest first."""
    parameters = Parameters()
    bound = {"before": parameters.integer(before), "limit": parameters.integer(limit)}
    condition = condition_of(node, parameters, _term)
    joins = parameters.joins(_OWNER, _PROJECT)
    text = _PRODUCTS.format(**bound, condition=condition, joins=joins)
    return Statement(text, tuple(parameters.values))


def _term(term: tree.Term, parameters: Parameters) -> str:
    match term:
        case tree.IntegerTerm(field, operator, value):
            return f"{_INTEGERS[field]} {COMPARED[operator]} {parameters.integer(value)}"
        case tree.TimeTerm(_, operator, at):
            return f"p.kept_at {COMPARED[operator]} {parameters.moment(at)}"
        case tree.TextTerm(name, operator, text):
            column, join = _TEXTS[name]
            parameters.want(join)
            return matched(column, operator, parameters.text(text))
        case tree.AttributeTerm(key, operator, text):
            of_job = tree.AttributeTerm(key.removeprefix(OF_JOB), operator, text)
            if of_job.key != key:
                return attribute("p.attributes", of_job, parameters)
            return attribute("p.document", term, parameters)
        case tree.AnyTerm(_, text):
            return any_label("p.name", "p.document", term, parameters.text(text))
        case tree.StateTerm() | tree.ReasonTerm() | tree.AmountTerm() | tree.MissingTerm():
            raise AssertionError(term)  # the parser knows none of a product
        case _:
            assert_never(term)


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
