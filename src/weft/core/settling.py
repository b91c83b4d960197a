"""Let a mistake in one of many things end that one alone: it is settled, and the others go on."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from weft.core.errors import (
    Conflict,
    EpochStale,
    Forbidden,
    NotFound,
    ServerReplaced,
    Unauthenticated,
    Unavailable,
)

Item = TypeVar("Item")
Result = TypeVar("Result")
Errors = tuple[type[Exception], ...]
OF_THE_TERM: Errors = (Unavailable, EpochStale)
"""Errors that say nothing about an item of the driver."""
REFUSALS: Errors = (Conflict, NotFound, Unauthenticated, Forbidden, ServerReplaced)
"""What the store says to a worker that it does not want, or does not know any more."""


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
    do: Callable[[Sequence[Item]], Awaitable[object]],
    settle: Callable[[Item, Exception], Awaitable[object]],
    *,
    beyond: Errors = OF_THE_TERM,
) -> None:
    """Do it with all items; if that fails, with each by itself, and settle those that fail.

    `do` thus sees an item twice before it is settled, also one that is alone: the first mistake
    may have been of the moment. `beyond`: errors that say nothing about an item are raised.
    """
    try:
        await do(items)
    except beyond:
        raise
    except Exception:  # noqa: BLE001 (whatever an item may cause)
        for one in items:
            try:
                await do([one])
            except beyond:
                raise
            except Exception as error:  # noqa: BLE001 (as above)
                await settle(one, error)
