"""The statement for a query of products: p is the product."""

from types import MappingProxyType
from typing import Final, assert_never

from weft.core.query import tree
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
