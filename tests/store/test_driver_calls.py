"""Calls of the driver and calls that are declared: what is sent, and which settings arrive."""

import json
from collections.abc import Callable, Iterator
from dataclasses import make_dataclass
from inspect import iscoroutinefunction
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from store.site import Site
from store.world import World
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.ports.store import Row
from weft.settings import declared_in, setting
from weft.sql.names import reading_of
from weft.store import ApiStore, DriverStore

CALLS_OF_A_TERM = """
    SELECT p.proname, (p.proargnames)[1:p.pronargs], p.proargtypes::regtype[]::text[]
    FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace AND 'epoch' = ANY (p.proargnames)
      AND has_function_privilege('weft_driver', p.oid, 'EXECUTE')
"""


def empty(parameter: str, of_type: str, epoch: int) -> str:
    """Return what is sent for a parameter: a term, empty lists, and otherwise nothing."""
    if parameter == "epoch":
        return str(epoch)
    return f"'{{}}'::{of_type}" if of_type.endswith("[]") else f"NULL::{of_type}"


async def test_calls_of_an_older_term_are_refused(world: World) -> None:
    """Each that carries an epoch; a driver may have slept through the end of its term."""
    older = await world.lead() - 1
    calls = await world.admin.fetch(CALLS_OF_A_TERM)
    driver = await asyncpg.connect(world.backend.dsns["weft_driver"])
    accepted = []
    for name, names, types in calls:
        values = [
            f"{parameter} => {empty(parameter, of_type, older)}"
            for parameter, of_type in zip(names, types, strict=False)
        ]
        try:
            await driver.execute(f"SELECT weft.{name}({', '.join(values)})")
        except asyncpg.PostgresError as error:
            if error.sqlstate != "WF401":
                accepted.append((name, str(error)))
        else:
            accepted.append((name, "it was called"))
    await driver.close()

    assert len(calls) > 50
    assert accepted == []


async def test_fold_names_the_loops_that_have_work(site: Site) -> None:
    """No notice is sent while the fold is awake."""
    driver, epoch = site.driver, await site.lead()
    await site.drive()
    assert list((await driver.fold_deltas(epoch)).loops) == []
    batch = await site.submit(2)
    await site.api.cancel_group(site.caller, batch, 0, force=False)
    assert list((await driver.fold_deltas(epoch)).loops) == ["cancel"]


async def block(site: Site, n_jobs: int, ask: Ask) -> int:
    """Let jobs of a new batch wait for something; return the batch."""
    batch_id = await site.submit(n_jobs)
    store, worker = await site.worker()
    claimed = await site.claim(n_jobs)
    for one in claimed:
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        assert await store.ask_block(worker, key, ask)
    await site.end(*claimed, reason=Reason.BLOCKED)
    return batch_id


def new_ask() -> Ask:
    """Return what no other test asks for."""
    return Ask("connection_failed", "tcp", {"host": uuid4().hex, "port": "80"})


async def condition_of(site: Site, ask: Ask) -> Row:
    """Return the condition that tests this."""
    pages = await site.api.list_conditions(site.caller, after_id=0, limit=100)
    (found,) = [one for one in pages if one["parameters"] == ask.parameters]
    return found


async def test_gateway_that_is_not_there_holds_nobody_up(site: Site) -> None:
    """Others may take its jobs."""
    driver, epoch, ask = site.driver, await site.lead(), new_ask()
    batch_id = await block(site, 1, ask)
    one = (await condition_of(site, ask))["condition_id"]
    tested = await driver.test_gateway(epoch, one, uuid4().hex)
    assert tested.passed
    assert "is not there" in tested.message
    await site.api.cancel_group(site.caller, batch_id, 0, force=False)
    await site.drive()


PARAMETERS = """
    SELECT p.proname, array_agg(DISTINCT name) FROM pg_proc p, unnest(p.proargnames) name
    WHERE p.pronamespace = 'weft'::regnamespace GROUP BY p.proname
"""


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    for store in (ApiStore, DriverStore):
        for part in store.__mro__:
            for name, method in vars(part).items():
                if iscoroutinefunction(method):
                    yield f"{part.__name__}.{name}", method


async def test_functions_have_the_parameters_that_are_sent(world: World) -> None:
    known = {name: {*names} for name, names in await world.admin.fetch(PARAMETERS)}
    found = {name: vars(method)["declared"] for name, method in methods() if vars(method)}
    wrong = [
        (name, function, sent)
        for name, (function, sent) in found.items()
        if {"tenant_id" if one == "caller" else one for one in sent} - known.get(function, set())
        or len({*sent}) < len(sent)
    ]

    assert len(found) > 150
    assert wrong == []


def test_methods_without_a_body_are_declared() -> None:
    codes = {name: method.__code__ for name, method in methods()}

    assert [name for name, one in codes.items() if not one.co_names + one.co_freevars] == []


async def test_arguments_are_those_of_the_signature(world: World) -> None:
    wrong: Any = world.api
    with pytest.raises(TypeError, match="name"):
        await wrong.remove_licence()
    with pytest.raises(TypeError, match="n_max"):
        await wrong.remove_licence("a", n_max=1)


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
