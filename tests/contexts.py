"""Fixtures of what a context manager opens."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal

import pytest

Scope = Literal["function", "module", "session"]
Fixture = Any
"""pytest's own type is private."""


def fixture_of(
    opened: Callable[..., AbstractContextManager[Any]], scope: Scope = "function"
) -> Fixture:
    """Return a fixture that opens something for a test, or for those of a module or a session.

    Parameters of `opened` without a default are names of fixtures.
    """

    def found(**fixtures: Fixture) -> Iterator[Any]:
        with opened(**fixtures) as one:
            yield one

    return pytest.fixture(scope=scope)(_asking_for(opened, found))


def async_fixture_of(opened: Callable[..., AbstractAsyncContextManager[Any]]) -> Fixture:
    """Return a fixture that opens something asynchronously for a test."""

    async def found(**fixtures: Fixture) -> AsyncIterator[Any]:
        async with opened(**fixtures) as one:
            yield one

    return pytest.fixture(_asking_for(opened, found))


def _asking_for(opened: Callable[..., object], found: Callable[..., Any]) -> Callable[..., Any]:
    asked = inspect.signature(opened).parameters.values()
    needed = [one for one in asked if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    vars(found).update(__signature__=inspect.Signature(needed))
    return found
