"""Cases of one test that share its fixtures: a server and a database cost more than a case."""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar

import pytest

Test = Callable[..., Any]
Value = TypeVar("Value")


def part(values: Sequence[Value], n: int, of: int) -> Sequence[Value]:
    """Return the n-th part, for walks of many values over many things: each thing meets one of
    the values. With new examples (`make test-full`) it meets all.
    """
    return values if "WEFT_TEST_RANDOM" in os.environ else values[n::of]


def cases(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test for each case as `pytest.mark.parametrize` does, but set it up only once.

    A case that fails is named, and those after it are tried: a case must leave nothing behind
    that another would see.
    """
    keys = (names,) if isinstance(names, str) else names
    arguments = [
        dict(zip(keys, value if keys is names else [value], strict=True)) for value in values
    ]

    def decorate(test: Test) -> Test:
        def in_turn(subtests: pytest.Subtests) -> Iterator[tuple[Any, dict[str, Any]]]:
            return ((subtests.test(**case), case) for case in arguments)

        async def run_async(subtests: pytest.Subtests, **fixtures: Any) -> None:  # noqa: ANN401
            for subtest, case in in_turn(subtests):
                with subtest:
                    await test(**case, **fixtures)

        def run(subtests: pytest.Subtests, **fixtures: Any) -> None:  # noqa: ANN401
            for subtest, case in in_turn(subtests):
                with subtest:
                    test(**case, **fixtures)

        result: Test = wraps(test)(run_async if inspect.iscoroutinefunction(test) else run)
        own = inspect.signature(test).parameters.values()
        shared = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        parameters = [each for each in own if each.name not in keys]
        vars(result).update(__signature__=inspect.Signature([*parameters, shared]))
        return result

    return decorate
