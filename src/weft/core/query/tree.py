"""The tree of a query.

`not` is the complement: a term about something that has no value does not hold, so its `not`
does.
"""

from datetime import datetime
from enum import Enum, StrEnum
from typing import TypeAlias

from msgspec import Struct


class Subject(Enum):
    """What a query chooses from; it decides which words are known."""

    JOBS = "jobs"
    BATCHES = "batches"
    PRODUCTS = "products"


class Operator(StrEnum):
    """How two values are compared; `==` is read as `=`."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    CONTAINS = "=~"
    LACKS = "!~"


class Field(StrEnum):
    """A word with a meaning of its own; every other word is the key of an attribute."""

    STATE = "state"
    COST = "cost"
    DURATION = "duration"
    EXIT_CODE = "exit_code"
    REASON = "reason"
    SIGNAL = "signal"
    JOB_ID = "job_id"
    BATCH_ID = "batch_id"
    START_TIME = "start_time"
    END_TIME = "end_time"
    NAME = "name"
    INSTANCE = "instance"
    INSTANCE_COLLECTION = "instance_collection"
    USER = "user"
    BILLING_PROJECT = "billing_project"
    FOREIGN_ID = "foreign_id"
    FOREIGN_TRACE = "foreign_trace"
    KEPT_AT = "kept_at"


class StateTerm(Struct, frozen=True):
    """`state = failed`: `=` or `!=`, and a word of `fields.STATES`."""

    operator: Operator
    word: str


class ReasonTerm(Struct, frozen=True):
    """`reason = oom`: `=` or `!=`, and a word of `fields.REASONS`."""

    operator: Operator
    word: str


class IntegerTerm(Struct, frozen=True):
    """`job_id >= 10`, `exit_code = 3`."""

    field: Field
    operator: Operator
    value: int


class MissingTerm(Struct, frozen=True):
    """`exit_code = NULL`, `reason != NULL`."""

    field: Field
    operator: Operator


class AmountTerm(Struct, frozen=True):
    """`cost > 5`, `duration >= 10`: money, or seconds."""

    field: Field
    operator: Operator
    value: float


class TimeTerm(Struct, frozen=True):
    """`start_time > 2026-01-01T00:00:00Z`; aware."""

    field: Field
    operator: Operator
    at: datetime


class TextTerm(Struct, frozen=True):
    """`name =~ stage`, `user = ada`: one of the four that match texts."""

    field: Field
    operator: Operator
    text: str


class AttributeTerm(Struct, frozen=True):
    """`cohort = scz1`: holds only where there is such a key."""

    key: str
    operator: Operator
    text: str


class AnyTerm(Struct, frozen=True):
    """`"pca"`: a name, or the key or value of an attribute equals it; `pca`: contains it.

    Of jobs, the name of an instance counts, too.
    """

    operator: Operator
    text: str


class DoorTerm(Struct, frozen=True):
    """What a door asks, and no query can say: a condition in SQL about the job `j` or the batch
    `b`. It is fixed text of the door; in it `{0}`, `{1}`, … stand for values, which are bound.
    """

    condition: str
    values: tuple[int | float | str, ...] = ()


class And(Struct, frozen=True):
    """All of these hold. Of none: everything."""

    terms: tuple["Node", ...]


class Or(Struct, frozen=True):
    """One of these holds, at least."""

    terms: tuple["Node", ...]


class Not(Struct, frozen=True):
    """This does not hold."""

    term: "Node"


Term: TypeAlias = (
    StateTerm
    | ReasonTerm
    | IntegerTerm
    | MissingTerm
    | AmountTerm
    | TimeTerm
    | TextTerm
    | AttributeTerm
    | AnyTerm
)
Node: TypeAlias = And | Or | Not | Term | DoorTerm
EVERYTHING = And(())


def all_of(nodes: "tuple[Node, ...]") -> Node:
    """Join nodes so that all must hold; those within them are lifted, one stands for itself."""
    terms = tuple(
        inner for node in nodes for inner in (node.terms if isinstance(node, And) else (node,))
    )
    return terms[0] if len(terms) == 1 else And(terms)


def any_of(nodes: "tuple[Node, ...]") -> Node:
    """Join nodes so that one must hold."""
    terms = tuple(
        inner for node in nodes for inner in (node.terms if isinstance(node, Or) else (node,))
    )
    return terms[0] if len(terms) == 1 else Or(terms)


def negated(node: Node) -> Node:
    """Return what holds where this does not."""
    return node.term if isinstance(node, Not) else Not(node)
