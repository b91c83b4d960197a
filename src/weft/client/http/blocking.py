"""Run what only asks without an event loop: `asyncio` takes longer to import than a server to
answer. A coroutine that turns out to need a loop goes on in one.
"""

import sys
from collections.abc import Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from importlib import import_module
from types import coroutine
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

__all__ = ["NeedsLoop", "asyncio", "is_blocking", "need_loop", "run", "ssl"]

ResultT = TypeVar("ResultT")
_blocked: ContextVar[Context | None] = ContextVar("weft_blocked", default=None)

if TYPE_CHECKING:
    import asyncio
    import ssl
else:

    class _Later(NamedTuple):
        """A module that is imported when something of it is used."""

        module: str

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self.module), name)

    asyncio, ssl = _Later("asyncio"), _Later("ssl")


class NeedsLoop(Exception):
    """Without an event loop this cannot go on."""


def is_blocking() -> bool:
    """Say whether no event loop runs, so that whatever is waited for blocks."""
    return _blocked.get() is not None


def run(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return what a coroutine returns. Where `asyncio` is loaded, it is used from the start."""
    context = copy_context()
    if "asyncio" not in sys.modules:
        context.run(_blocked.set, context)
        try:
            context.run(work.send, None)
        except StopIteration as end:
            result: ResultT = end.value
            return result
        context.run(_blocked.set, None)
    with asyncio.Runner() as runner:
        return runner.run(work, context=context)


@coroutine
def need_loop() -> Generator[None, None, None]:
    """Go on in an event loop."""
    if is_blocking():
        yield
