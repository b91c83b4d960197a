"""The statement for a query of batches: b is the batch, c its folded counts, f the others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, assert_never

from weft.core.query import tree
from weft.store.query_sql import fragments

_N_OPEN: Final = (
    "(coalesce(c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_running + c.n_blocked, 0)"
    " + coalesce(f.n_open, 0))"
)
_N_BAD: Final = "(coalesce(c.n_failed + c.n_errored, 0) + coalesce(f.n_bad, 0))"
_N_CANCELLED: Final = "(coalesce(c.n_cancelled, 0) + coalesce(f.n_cancelled, 0))"
_N_GOOD: Final = "(coalesce(c.n_succeeded, 0) + coalesce(f.n_good, 0))"
_STATES: Final = MappingProxyType(
    {
        "open": "false",
        "closed": "true",
        "running": f"{_N_OPEN} > 0",
        "complete": f"{_N_OPEN} = 0",
        "success": f"{_N_OPEN} + {_N_BAD} + {_N_CANCELLED} = 0",
        "failure": f"{_N_BAD} > 0",
        "cancelled": f"""({_N_CANCELLED} > 0 OR EXISTS (
    SELECT FROM weft.group_cancel g WHERE g.batch_id = b.batch_id AND g.group_id = 0
      AND ({_N_OPEN} = 0
           AND greatest(c.last_ended_at, f.last_ended_at) <= g.cancelled_at) IS NOT TRUE))""",
    }
)
_COMPLETED_AT: Final = f"""(CASE WHEN {_N_OPEN} > 0 THEN NULL
    WHEN {_N_GOOD} + {_N_BAD} + {_N_CANCELLED} = 0 THEN b.created_at
    WHEN coalesce(c.last_ended_at, f.last_ended_at) IS NULL THEN (
        SELECT max(g.completed_at) FROM weft.group_completion g
        WHERE g.batch_id = b.batch_id AND g.group_id = 0)
    ELSE greatest(b.created_at, c.last_ended_at, f.last_ended_at) END)"""
"""As documents say it, also before the completion is recorded. An empty batch is complete from its
creation on.
"""
_DURATION: Final = fragments.milliseconds(
    "b.created_at", f"coalesce({_COMPLETED_AT}, clock_timestamp())"
)
_USAGE_COST: Final = f"coalesce(sum(u.usage_ms * {fragments.PRICED}), 0) / 3600000"
_COST: Final = f"""(coalesce(s.cost, 0) + (
    SELECT {_USAGE_COST}
    FROM weft.group_usage u JOIN price p ON p.rate_card_id = u.rate_card_id
    JOIN weft.shape h ON h.shape_id = u.shape_id
    WHERE u.batch_id = b.batch_id AND u.group_id = 0))"""
_COUNTS: Final = """
LEFT JOIN weft.group_count c ON c.batch_id = b.batch_id AND c.group_id = 0
LEFT JOIN (
    SELECT d.batch_id, sum(d.n_failed + d.n_errored) AS n_bad, sum(d.n_cancelled) AS n_cancelled,
        sum(d.n_succeeded) AS n_good,
        sum(d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_running + d.n_blocked)
            AS n_open,
        max(d.last_ended_at) AS last_ended_at
    FROM weft.fold o JOIN weft.job_delta d
      ON d.xid >= pg_snapshot_xmin(o.upto) AND NOT pg_visible_in_snapshot(d.xid, o.upto)
    GROUP BY d.batch_id) f ON f.batch_id = b.batch_id"""
_COSTS: Final = f"""
LEFT JOIN (
    SELECT u.batch_id, {_USAGE_COST} AS cost
    FROM weft.fold o JOIN weft.job_delta u
      ON u.xid >= pg_snapshot_xmin(o.upto) AND NOT pg_visible_in_snapshot(u.xid, o.upto)
    JOIN price p ON p.rate_card_id = u.rate_card_id
    JOIN weft.shape h ON h.shape_id = u.shape_id
    GROUP BY u.batch_id) s ON s.batch_id = b.batch_id"""
_OWNER: Final = """
JOIN weft.tenant_user n ON n.user_id = b.user_id"""
_PROJECT: Final = """
JOIN weft.billing_project j ON j.project_id = b.project_id"""
_TEXTS: Final = MappingProxyType(
    {
        tree.Field.NAME: ("b.name", ""),
        tree.Field.USER: ("n.name", _OWNER),
        tree.Field.BILLING_PROJECT: ("j.name", _PROJECT),
        tree.Field.FOREIGN_ID: ("b.foreign_id", ""),
        tree.Field.FOREIGN_TRACE: ("b.foreign_trace", ""),
    }
)
_BATCHES: Final = """{prices}SELECT b.batch_id FROM weft.batch b{joins}
WHERE b.batch_id < {before}{shown} AND {condition}
  AND weft.may_see(b.batch_id, b.user_id, b.project_id)
ORDER BY b.batch_id DESC LIMIT {limit}"""


def framed(parameters: fragments.Parameters, *, hidden: bool) -> Mapping[str, str]:
    """Return what statements need around the condition."""
    return {
        "shown": "" if hidden else " AND NOT b.hidden",
        "joins": parameters.joins(_OWNER, _PROJECT, _COUNTS, _COSTS),
        "prices": parameters.joins(fragments.PRICE),
    }


def select_batches(
    node: tree.Node, *, before: int, limit: int, hidden: bool
) -> fragments.Statement:
    """Return the statement for the numbers of the batches that match and that the caller sees,
    newest first; `hidden`: also of hidden ones.
    """
    parameters = fragments.Parameters()
    bound = {"before": parameters.integer(before), "limit": parameters.integer(limit)}
    condition = fragments.condition_of(node, parameters, batch_term)
    text = _BATCHES.format(**bound, condition=condition, **framed(parameters, hidden=hidden))
    return fragments.Statement(text, tuple(parameters.values))


def batch_term(term: tree.Term, parameters: fragments.Parameters) -> str:
    """Return the condition of one term."""
    match term:
        case tree.StateTerm(operator, word):
            parameters.want(_COUNTS)
            return _STATES[word] if operator is tree.Operator.EQ else f"NOT {_STATES[word]}"
        case tree.IntegerTerm(_, operator, value):
            return f"b.batch_id {fragments.COMPARED[operator]} {parameters.integer(value)}"
        case tree.AmountTerm(tree.Field.COST, operator, value):
            parameters.want(fragments.PRICE)
            parameters.want(_COSTS)
            return f"{_COST} {fragments.COMPARED[operator]} {parameters.number(value)}"
        case tree.AmountTerm(_, operator, value):
            parameters.want(_COUNTS)
            return f"{_DURATION} {fragments.COMPARED[operator]} {parameters.number(value)} * 1000"
        case tree.TimeTerm(tree.Field.START_TIME, operator, at):
            return f"b.created_at {fragments.COMPARED[operator]} {parameters.moment(at)}"
        case tree.TimeTerm(_, operator, at):
            parameters.want(_COUNTS)
            return f"{_COMPLETED_AT} {fragments.COMPARED[operator]} {parameters.moment(at)}"
        case tree.TextTerm(name, operator, text):
            column, join = _TEXTS[name]
            parameters.want(join)
            return fragments.matched(column, operator, parameters.text(text))
        case tree.AttributeTerm():
            return fragments.attribute("b.attributes", term, parameters)
        case tree.AnyTerm(_, text):
            return fragments.any_label("b.name", "b.attributes", term, parameters.text(text))
        case tree.MissingTerm() | tree.ReasonTerm():
            raise AssertionError(term)  # the parser knows no attempts of a batch
        case _:
            assert_never(term)
