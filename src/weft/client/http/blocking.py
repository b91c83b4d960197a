"""Run what only asks without an event loop: `asyncio` takes longer to import than a server to
answer. A coroutine that turns out to need a loop goes on in one.
"""

import signal
import sys
from collections.abc import Coroutine, Generator
from contextvars import ContextVar, copy_context
from importlib import import_module
from types import coroutine
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

__all__ = ["NeedsLoop", "asyncio", "interrupt", "need_loop", "run", "ssl"]

ResultT = TypeVar("ResultT")

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


class _Interrupt:
    """Ctrl-C as in a loop: the first cancels what is waited for, now or next; the second ends all.
    What blocks is a `with` block of it.
    """

    has_come = is_due = is_waiting = False

    def __enter__(self) -> None:
        self.is_waiting = True
        self.cancel_if_due()

    def __exit__(self, *_: object) -> None:
        self.is_waiting = False

    def come(self, *_: object) -> None:
        if self.has_come:
            raise KeyboardInterrupt
        self.has_come = self.is_due = True
        if self.is_waiting:
            self.cancel_if_due()

    def cancel_if_due(self) -> None:
        if self.is_due:
            self.is_due = self.is_waiting = False
            raise asyncio.CancelledError


interrupt: ContextVar[_Interrupt | None] = ContextVar("weft_interrupt", default=None)
"""Of the coroutine that runs without a loop. None: nothing may block."""


def run(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return what it returns. A loop is used from the start if `asyncio` is loaded."""
    if "asyncio" in sys.modules:
        return asyncio.run(work)
    context, ours, before = copy_context(), _Interrupt(), signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, ours.come)
    try:
        context.run(interrupt.set, ours)
        context.run(work.send, None)
        context.run(interrupt.set, None)
        with asyncio.Runner() as runner:
            signal.signal(signal.SIGINT, before)
            return runner.run(work, context=context)
    except StopIteration as end:
        result: ResultT = end.value
        if not ours.is_due:
            return result
        raise KeyboardInterrupt from None
    except BaseException as error:
        if ours.has_come and isinstance(error, asyncio.CancelledError):
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)


@coroutine
def need_loop() -> Generator[None, None, None]:
    """Go on in an event loop."""
    if (ours := interrupt.get()) is not None:
        import_module("asyncio")  # while Ctrl-C is held back
        yield
        ours.cancel_if_due()
