"""What asyncpg raises, as the rest of weft sees it."""

import re
from collections import Counter
from pathlib import Path

import asyncpg
import pytest

import weft
from weft.core.errors import Internal, NulCharacter, StoreUnavailable, error_classes
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


@pytest.mark.parametrize("text", ["a\0b", '{"a\\u0000b": null}'])
async def test_nul_that_no_check_found_is_a_mistake_of_the_caller(
    database: dict[str, str], text: str
) -> None:
    connection = await asyncpg.connect(database["weft_api"])
    statement = "SELECT $1::text::jsonb" if "{" in text else "SELECT $1::text"
    with pytest.raises(asyncpg.PostgresError) as refused:
        await connection.fetchval(statement, text)
    await connection.close()

    assert isinstance(translated(refused.value), NulCharacter)


def test_mistake_of_ours_is_no_absence() -> None:
    assert isinstance(translated(asyncpg.UndefinedFunctionError("no such function")), Internal)


def test_every_sqlstate_that_a_function_raises_has_one_class() -> None:
    folder = Path(weft.__file__).parent
    raised = {
        code
        for file in folder.rglob("*.sql")
        for code in re.findall(r"'(WF\d{3})'", file.read_text())
    }
    counts = Counter(kind.sqlstate for kind in error_classes() if vars(kind).get("sqlstate"))

    assert dict.fromkeys(raised, 1) == counts
