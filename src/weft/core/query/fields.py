"""Which words a query of jobs, batches or products knows, and what may stand beside them."""

from enum import Enum
from types import MappingProxyType
from typing import Final

from weft.core.query.tree import Field, Operator, Subject
from weft.core.states import JobState, Reason


class Kind(Enum):
    """What a field is compared with."""

    STATE = "state"
    REASON = "reason or NULL"
    SIGNAL = "signal (9 or KILL) or NULL"
    INTEGER = "int"
    INTEGER_OR_NULL = "int or NULL"
    AMOUNT = "float"
    TIME = "date with a time zone"
    TEXT = "text"


_O = Operator
_EQUALITY: Final = (_O.EQ, _O.NE)
_ORDER: Final = (*_EQUALITY, _O.LT, _O.LE, _O.GT, _O.GE)
MATCHES: Final = (*_EQUALITY, _O.CONTAINS, _O.LACKS)
OPERATORS: Final = MappingProxyType(
    {
        Kind.STATE: _EQUALITY,
        Kind.REASON: _EQUALITY,
        Kind.SIGNAL: _EQUALITY,
        Kind.INTEGER: _ORDER,
        Kind.INTEGER_OR_NULL: _ORDER,
        Kind.AMOUNT: _ORDER,
        Kind.TIME: _ORDER,
        Kind.TEXT: MATCHES,
    }
)
_BOTH: Final = {
    Field.STATE: Kind.STATE,
    Field.COST: Kind.AMOUNT,
    Field.DURATION: Kind.AMOUNT,
    Field.BATCH_ID: Kind.INTEGER,
    Field.START_TIME: Kind.TIME,
    Field.END_TIME: Kind.TIME,
    Field.NAME: Kind.TEXT,
}
FIELDS: Final = MappingProxyType(
    {
        Subject.JOBS: {
            **_BOTH,
            Field.JOB_ID: Kind.INTEGER,
            Field.EXIT_CODE: Kind.INTEGER_OR_NULL,
            Field.REASON: Kind.REASON,
            Field.SIGNAL: Kind.SIGNAL,
            Field.INSTANCE: Kind.TEXT,
            Field.INSTANCE_COLLECTION: Kind.TEXT,
        },
        Subject.BATCHES: {
            **_BOTH,
            Field.USER: Kind.TEXT,
            Field.BILLING_PROJECT: Kind.TEXT,
            Field.FOREIGN_ID: Kind.TEXT,
            Field.FOREIGN_TRACE: Kind.TEXT,
        },
        # Few words, because products have keys of their own.
        Subject.PRODUCTS: {
            Field.BATCH_ID: Kind.INTEGER,
            Field.JOB_ID: Kind.INTEGER,
            Field.USER: Kind.TEXT,
            Field.BILLING_PROJECT: Kind.TEXT,
            Field.KEPT_AT: Kind.TIME,
        },
    }
)
REASONS: Final = MappingProxyType({reason.word: reason for reason in Reason})
SYNONYMS: Final = MappingProxyType({"status": Field.STATE})
"""Other words for a field."""
_S = JobState
JOB_STATES: Final = MappingProxyType(
    {
        **{state.word: frozenset({state}) for state in JobState},
        "live": frozenset({_S.READY, _S.QUEUED, _S.CREATING, _S.RUNNING, _S.BLOCKED}),
        "bad": frozenset({_S.ERROR, _S.FAILED}),
        "done": frozenset(state for state in JobState if state.is_terminal),
    }
)
"""The states that each word stands for."""
BATCH_STATES: Final = ("running", "complete", "success", "failure", "cancelled", "open", "closed")
"""Not exclusive: a batch that runs on after a failure is `running` and `failure`."""
STATES: Final = MappingProxyType({Subject.JOBS: tuple(JOB_STATES), Subject.BATCHES: BATCH_STATES})
