"""What asyncpg raises, as the rest of weft sees it."""

import asyncpg
import pytest

from weft.core.errors import Internal, StoreUnavailable
from weft.store.errors import translated


@pytest.mark.parametrize(
    "error",
    [
        OSError("no route"),
        TimeoutError(),
        asyncpg.InternalClientError("cannot switch to state 12; another operation is in progress"),
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.AdminShutdownError("terminating connection"),
        asyncpg.TooManyConnectionsError("too many clients"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_database_that_is_away_may_be_asked_again(error: Exception) -> None:
    assert isinstance(translated(error), StoreUnavailable)


def test_mistake_of_ours_is_no_absence() -> None:
    assert isinstance(translated(asyncpg.UndefinedFunctionError("no such function")), Internal)
