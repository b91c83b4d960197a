"""Let a mistake in one of many things end that one alone: it is settled, and the others go on."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from weft.core.errors import (
    Conflict,
    EpochStale,
    Forbidden,
    NotFound,
    Unauthenticated,
    Unavailable,
)

Item = TypeVar("Item")
Result = TypeVar("Result")
Errors = tuple[type[Exception], ...]
OF_THE_TERM: Errors = (Unavailable, EpochStale)
"""Errors that say nothing about an item of the driver."""
REFUSALS: Errors = (Conflict, NotFound, Unauthenticated, Forbidden)
"""What the store says to a worker that it does not want."""


async def settled(
    doing: Awaitable[Result],
    settle: Callable[[Exception], Result],
    *,
    beyond: Errors = OF_THE_TERM,
) -> Result:
    """Return what comes of one item, or what `settle` makes of its mistake."""
    try:
        return await doing
    except beyond:
        raise
    except Exception as error:  # noqa: BLE001 (whatever an item may cause)
        return settle(error)


async def settle_each(
    items: Sequence[Item],
    do: Callable[[Sequence[Item]], Awaitable[Sequence[Result] | None]],
    settle: Callable[[Item, Exception], Awaitable[Result]],
    *,
    beyond: Errors = OF_THE_TERM,
) -> Sequence[Result]:
    """Do it with all items; if that fails, with each by itself, and settle those that fail. Return
    what came of each, if `do` says that.

    `do` may thus see an item twice. `beyond`: errors that say nothing about an item are raised.
    """
    try:
        return await do(items) or ()
    except beyond:
        raise
    except Exception as error:  # noqa: BLE001 (whatever an item may cause)
        if len(items) == 1:
            return [await settle(items[0], error)]
        each = [await settle_each([one], do, settle, beyond=beyond) for one in items]
        return [result for some in each for result in some]
