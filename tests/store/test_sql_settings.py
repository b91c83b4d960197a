"""Settings in SQL arrive as they were declared, or as the leading driver handed them over."""

import json
from dataclasses import make_dataclass

import pytest

from store.world import World
from weft.settings import declared_in, setting
from weft.sql.settings import reading_of

TEXTS = ["it's", "a\\b", "\\'; SELECT 1; --", "$$; SELECT 1; $$", "%s {x} $1", ""]


def function_for(default: str | None) -> str:
    """Return a function that reads a setting with this default."""
    section = make_dataclass("Section", [("word", str | None, setting(default, "A word."))])
    (one,) = declared_in(section)
    return (
        "CREATE FUNCTION pg_temp.read_word() RETURNS text LANGUAGE sql "
        f"AS $$ SELECT {reading_of(one)} $$"
    )


@pytest.mark.parametrize("text", [*TEXTS, None])
async def test_default_of_a_text_arrives_as_it_is(world: World, text: str | None) -> None:
    connection = await world.connect()
    await connection.execute(function_for(text))

    assert await connection.fetchval("SELECT pg_temp.read_word()") == text


@pytest.mark.parametrize("text", TEXTS)
async def test_text_that_the_leader_hands_over_arrives_as_it_is(world: World, text: str) -> None:
    connection = await world.connect()
    await connection.execute(function_for("another"))
    change = connection.transaction()
    await change.start()
    await connection.execute(
        "UPDATE weft.driver_state SET settings = settings || $1::text::jsonb",
        json.dumps({"word": text}),
    )
    read = await connection.fetchval("SELECT pg_temp.read_word()")
    await change.rollback()

    assert read == text
