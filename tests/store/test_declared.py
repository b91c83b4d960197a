"""Calls of the database that are declared: what they send is what its functions take."""

from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from typing import Any

import pytest

from store.world import World
from weft.store import ApiStore, DriverStore

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
