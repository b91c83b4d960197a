"""How many jobs of a batch must be read to answer a query, and whether an index answers it.

A page of a large batch is quick if its jobs follow from job numbers or from an index; a term that
every job must be asked for is allowed as long as there are not too many of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from weft.core.errors import QueryTooWide
from weft.core.query.fields import JOB_STATES
from weft.core.query.tree import (
    And,
    Field,
    IntegerTerm,
    MissingTerm,
    Node,
    Operator,
    Or,
    ReasonTerm,
    StateTerm,
    TextTerm,
)
from weft.core.states import JobState

JOB_ID_MAX: Final = 2_147_483_647
SMALL_GROUP: Final = 10_000
"""Jobs of a group that are looked at rather than what an index over the batch gives."""


@dataclass(frozen=True)
class Named:
    """Jobs of this name, by the index over names."""

    name: str


@dataclass(frozen=True)
class Failures:
    """Jobs with an attempt that did not succeed, by the index over those."""


@dataclass(frozen=True)
class OfWorkers:
    """Jobs that workers have claimed; each job that runs is among them."""


@dataclass(frozen=True)
class Ready:
    """Jobs where claims look for work; each job that is ready is among them."""


@dataclass(frozen=True)
class Union:
    """Jobs from any of these."""

    accesses: tuple["Access", ...]


@dataclass(frozen=True)
class OfGroup:
    """Jobs of a group, by the bunches they came in and the spans in which they were added."""

    group_id: int
    numbers: tuple[int, ...] | None
    """What stands in the rows of its jobs: itself, groups below, memberships. None: many."""
    n_jobs: int


Access = Named | Failures | OfWorkers | Ready | Union | OfGroup


@dataclass(frozen=True)
class Reach:
    """What of a batch a query reads: job numbers `first..last`, of these what `access` gives."""

    first: int
    last: int
    access: Access | None
    group: OfGroup | None
    is_narrow: bool
    """An index gives the jobs, or nothing but numbers is asked."""

    def width(self, n_jobs: int) -> int:
        """Return how many of the first `n_jobs` numbers are within reach."""
        width = max(0, min(self.last, n_jobs) - self.first + 1)
        return min(width, self.group.n_jobs) if self.group else width


_BY_STATES: Final[Mapping[frozenset[JobState], Access]] = {
    frozenset({JobState.FAILED}): Failures(),
    frozenset({JobState.ERROR}): Failures(),
    frozenset({JobState.FAILED, JobState.ERROR}): Failures(),
    frozenset({JobState.RUNNING}): OfWorkers(),
    frozenset({JobState.READY}): Ready(),
}


def reach_of(node: Node, group: OfGroup | None = None) -> Reach:
    """Return what a query must read; `group`: only of this group."""
    terms = node.terms if isinstance(node, And) else (node,)
    bounds = [_bounds(term) for term in terms]
    first = max((bound[0] for bound in bounds), default=1)
    last = min((bound[1] for bound in bounds), default=JOB_ID_MAX)
    access = access_of(node)
    is_small = group is not None and group.n_jobs <= SMALL_GROUP
    return Reach(
        max(1, first),
        min(JOB_ID_MAX, last),
        group if is_small or not access else access,
        group,
        access is not None or all(_is_range(term) for term in terms),
    )


def access_of(node: Node) -> Access | None:
    """Return an index that gives all that can match; None: there is none."""
    match node:
        case TextTerm(Field.NAME, Operator.EQ, name):
            return Named(name)
        case StateTerm(Operator.EQ, word):
            return _BY_STATES.get(JOB_STATES[word])
        case IntegerTerm(Field.EXIT_CODE, operator, value) if _is_failure(operator, value):
            return Failures()
        case ReasonTerm(Operator.EQ, _) | MissingTerm(Field.REASON | Field.SIGNAL, Operator.NE):
            return Failures()
        case IntegerTerm(Field.SIGNAL, Operator.EQ, _):
            return Failures()
        case And(terms):
            found = [access for term in terms if (access := access_of(term))]
            return min(found, key=_rank, default=None)
        case Or(terms):
            accesses = [access_of(term) for term in terms]
            whole = tuple(access for access in accesses if access)
            return Union(whole) if len(whole) == len(accesses) else None
    return None


def check_width(reach: Reach, n_jobs: int, *, scan_jobs_max: int) -> None:
    """Raise `QueryTooWide` if too many jobs would be read for a query that no index answers."""
    width = reach.width(n_jobs)
    if reach.is_narrow or width <= scan_jobs_max:
        return
    raise QueryTooWide(
        "the query would read too many jobs",
        detail=f"No index answers it, and it is about {width:,} jobs; "
        f"the limit is {scan_jobs_max:,} (setting query_scan_jobs_max).",
        hint=f"Add a range (`job_id >= 1 and job_id <= {scan_jobs_max}`), an exact name "
        "(`name = x`), `state = failed`, or a smaller group.",
    )


def _rank(access: Access) -> int:
    """Order accesses by how few jobs they give, as a rule."""
    return (Named, OfWorkers, Failures, Ready, Union, OfGroup).index(type(access))


def _is_failure(operator: Operator, value: int) -> bool:
    """Say whether only an attempt that failed has such an exit code."""
    match operator:
        case Operator.EQ:
            return value != 0
        case Operator.GT:
            return value >= 0
        case Operator.GE:
            return value > 0
        case Operator.LT:
            return value <= 0
        case Operator.LE:
            return value < 0
    return False


def _is_range(node: Node) -> bool:
    return isinstance(node, IntegerTerm) and node.field in {Field.JOB_ID, Field.BATCH_ID}


def _bounds(node: Node) -> tuple[int, int]:
    """Return the first and the last job number that can match."""
    if isinstance(node, IntegerTerm) and node.field is Field.JOB_ID:
        value = node.value
        match node.operator:
            case Operator.EQ:
                return value, value
            case Operator.GE:
                return value, JOB_ID_MAX
            case Operator.GT:
                return value + 1, JOB_ID_MAX
            case Operator.LE:
                return 1, value
            case Operator.LT:
                return 1, value - 1
    return 1, JOB_ID_MAX
