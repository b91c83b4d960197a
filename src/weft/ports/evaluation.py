"""The port `evaluation`: text that somebody wrote to be evaluated, such as guards, expressions,
patterns and schemas.

Their libraries cannot be interrupted, and while one works, nothing else of its process does. So
they are used in processes that may be killed, and within a budget.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from weft.core.errors import NothingEvaluates

C = TypeVar("C")
I = TypeVar("I")  # noqa: E741 (an item)
R = TypeVar("R")


class TooCostly(NamedTuple):
    """There is no answer: an item took more than it may. `alone`: others took nothing of it."""

    why: str
    alone: bool


class Evaluates(Protocol):
    """Evaluates elsewhere, for each tenant one thing at a time."""

    async def each(
        self, tenant_id: int, function: Callable[[C, I], R], common: C, items: Sequence[I]
    ) -> Sequence[R | TooCostly]:
        """Return `function(common, item)` of each item, in their order; raise what it raises. The
        function stands in a module; it and the items are sent, and its answers come back as
        messages of the type that it is annotated with. Raise `NothingEvaluates` if its
        turn does not come in time.
        """

    async def close(self) -> None:
        """End all processes."""


class EvaluatesNothing:
    """Stands where nothing is evaluated."""

    async def each(
        self,
        tenant_id: int,  # noqa: ARG002
        function: Callable[[C, I], R],  # noqa: ARG002
        common: C,  # noqa: ARG002
        items: Sequence[I],
    ) -> Sequence[R | TooCostly]:
        """Raise `NothingEvaluates` unless there is nothing to do."""
        if not items:
            return []
        raise NothingEvaluates("this process evaluates no expressions")

    async def close(self) -> None:
        """Do nothing."""


async def evaluate(
    evaluation: Evaluates, tenant_id: int, function: Callable[[C, I], R], common: C, item: I
) -> R | TooCostly:
    """Return the answer about one item, which has the whole budget."""
    (found,) = await evaluation.each(tenant_id, function, common, [item])
    return found
