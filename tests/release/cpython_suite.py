"""Run CPython's own tests of `concurrent.futures` against `weft.Executor`.

A program for a Python that has the package `test` and weft. It prints one JSON object: each test
with `ok`, or the last line of what it raised.
"""

import concurrent.futures
import importlib
import json
import sys
import unittest
from types import ModuleType

import weft

SUITE = "test.test_concurrent_futures"
MIXINS = {
    "ExecutorTest": "executor",
    "WaitTests": "test_wait",
    "AsCompletedTests": "test_as_completed",
    "ExecutorShutdownTest": "test_shutdown",
    "InitializerMixin": "test_init",
    "FailingInitializerMixin": "test_init",
}


class WeftExecutor(weft.Executor):
    """The executor, under a name that programs of the suite import from `concurrent.futures`."""


def install() -> None:
    """Let programs that the suite starts import it."""
    concurrent.futures.WeftExecutor = WeftExecutor  # type: ignore[attr-defined]


def _module(name: str) -> ModuleType:
    """Return a part of the suite, which is one module before Python 3.12."""
    try:
        return importlib.import_module(f"{SUITE}.{name}")
    except ModuleNotFoundError:
        return importlib.import_module(SUITE)


def _classes() -> list[type[unittest.TestCase]]:
    util = _module("util")
    bound = type("Bound", (util.ExecutorMixin,), {"executor_type": WeftExecutor})
    return [
        type(name, (getattr(_module(part), name), bound, util.BaseTestCase), {})
        for name, part in MIXINS.items()
    ]


def main() -> None:
    """Run all, and print how each ended."""
    install()
    setattr(importlib.import_module("test.support"), "verbose", 0)  # noqa: B010 (no type knows it)
    loader, result = unittest.TestLoader(), unittest.TestResult()
    suites = [loader.loadTestsFromTestCase(cls) for cls in _classes()]
    outcome = dict.fromkeys((_name_of(test) for suite in suites for test in suite), "ok")
    for suite in suites:
        suite.run(result)
    for test, text in [*result.failures, *result.errors]:
        outcome[_name_of(test)] = text.strip().splitlines()[-1]
    for test, why in result.skipped:
        outcome[_name_of(test)] = f"skipped: {why}"
    json.dump(outcome, sys.stdout)


def _name_of(test: unittest.TestCase | unittest.TestSuite) -> str:
    assert isinstance(test, unittest.TestCase)
    return ".".join(test.id().split(".")[-2:])


if __name__ == "__main__":
    main()
