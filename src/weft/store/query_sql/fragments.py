"""Fragments that statements about jobs and about batches share.

A term about something that has no value is NULL, which `and` and `or` treat as false; `not` says
so (IS NOT TRUE). So a term and its `not` share out all there is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from weft.core.query import tree

COMPARED: Final = MappingProxyType(
    {
        tree.Operator.EQ: "=",
        tree.Operator.NE: "<>",
        tree.Operator.LT: "<",
        tree.Operator.LE: "<=",
        tree.Operator.GT: ">",
        tree.Operator.GE: ">=",
    }
)
_MATCHED: Final = MappingProxyType(
    {
        tree.Operator.EQ: "{0} = {1}",
        tree.Operator.NE: "{0} <> {1}",
        tree.Operator.CONTAINS: "strpos({0}, {1}) > 0",  # no pattern, so nothing to escape
        tree.Operator.LACKS: "strpos({0}, {1}) = 0",
    }
)
_SOME_ATTRIBUTE: Final = "EXISTS (SELECT FROM jsonb_each_text({0}) e WHERE {1} OR {2})"
PRICE: Final = """WITH price AS MATERIALIZED (
    SELECT r.rate_card_id,
        coalesce(max(r.price_per_unit_hour) FILTER (WHERE r.resource_id = 1), 0) AS cpu,
        coalesce(max(r.price_per_unit_hour) FILTER (WHERE r.resource_id = 2), 0) AS memory,
        coalesce(max(r.price_per_unit_hour) FILTER (WHERE r.resource_id = 3), 0) AS storage,
        coalesce(max(r.price_per_unit_hour) FILTER (WHERE r.resource_id = 4), 0) AS gpu
    FROM weft.rate r GROUP BY r.rate_card_id)
"""
PRICED: Final = """(h.cpu_m * p.cpu + h.memory_mib * p.memory + h.storage_mib * p.storage
        + h.gpu * p.gpu)"""
"""The cost of a millisecond of shape h at the prices p, times 3,600,000."""


@dataclass(frozen=True)
class Statement:
    """A statement and its parameters."""

    text: str
    values: tuple[Any, ...]  # what asyncpg can encode


@dataclass
class Parameters:
    """The values bound so far, and the joins that the fragments need."""

    values: list[Any] = field(default_factory=list)
    _wanted: set[str] = field(default_factory=set)

    def bind(self, value: object, kind: str) -> str:
        """Return the placeholder of a value."""
        self.values.append(value)
        return f"${len(self.values)}::{kind}"

    def integer(self, value: int) -> str:
        """Bind a whole number; comparisons with smaller types use their indexes all the same."""
        return self.bind(value, "bigint")

    def integers(self, values: Sequence[int]) -> str:
        """Bind whole numbers."""
        return self.bind(values, "bigint[]")

    def text(self, value: str) -> str:
        """Bind a text."""
        return self.bind(value, "text")

    def moment(self, value: datetime) -> str:
        """Bind a time."""
        return self.bind(value, "timestamptz")

    def number(self, value: float) -> str:
        """Bind a number as written: a float cannot hold 0.1 exactly."""
        return self.bind(Decimal(repr(value)), "numeric")

    def value(self, value: float | str) -> str:
        """Bind a value by its type: a text, a whole number or another one."""
        if isinstance(value, str):
            return self.text(value)
        return self.integer(value) if isinstance(value, int) else self.number(value)

    def want(self, *joins: str) -> None:
        """Note a join that a fragment needs."""
        self._wanted.update(joins)

    def joins(self, *known: str) -> str:
        """Return those of these that are wanted, in this order."""
        return "".join(join for join in known if join in self._wanted)


def condition_of(
    node: tree.Node, parameters: Parameters, term: Callable[[tree.Term, Parameters], str]
) -> str:
    """Return the condition for a tree whose terms become conditions by `term`."""
    match node:
        case tree.And(terms) | tree.Or(terms):
            word, of_none = (" AND ", "true") if isinstance(node, tree.And) else (" OR ", "false")
            inner = [condition_of(one, parameters, term) for one in terms]
            return f"({word.join(inner)})" if inner else of_none
        case tree.Not(inside):
            return f"({condition_of(inside, parameters, term)}) IS NOT TRUE"
        case tree.DoorTerm(condition, values):
            return condition.format(*map(parameters.value, values))
        case _:
            return term(node, parameters)


def matched(column: str, operator: tree.Operator, bound: str) -> str:
    """Return the condition that a text equals or holds another, or does not."""
    return _MATCHED[operator].format(column, bound)


def attribute(column: str, term: tree.AttributeTerm, parameters: Parameters) -> str:
    """Return the condition for one attribute; without the key it is NULL."""
    value = f"({column} ->> {parameters.text(term.key)})"
    return matched(value, term.operator, parameters.text(term.text))


def any_label(name: str, attributes: str, term: tree.AnyTerm, bound: str) -> str:
    """Return the condition for a name, or some key or value."""
    key, value = (matched(part, term.operator, bound) for part in ("e.key", "e.value"))
    some = _SOME_ATTRIBUTE.format(attributes, key, value)
    return f"({matched(name, term.operator, bound)} OR {some})"


def milliseconds(start: str, end: str) -> str:
    """Return whole milliseconds between two moments, as `weft._ms_between` does."""
    return f"(date_part('epoch', {end} - {start}) * 1000)::bigint"
