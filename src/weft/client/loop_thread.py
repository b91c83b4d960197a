"""Asynchronous calls for programs without an event loop: one loop in a thread of its own.

Each public class that waits is the twin of an asynchronous one. Its methods are made from those
of the other by `waits` and `iterates`, so signatures and documentation are written once, and type
checkers and `help()` see them.
"""

import asyncio
import functools
import importlib
import inspect
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from weft.client.answer import is_date
from weft.client.http.calls import AnswerT_co, Listing
from weft.core.errors import Invalid
from weft.ports.patience import end_tasks

P = ParamSpec("P")
Result = TypeVar("Result")
Inner = TypeVar("Inner")
Outer = TypeVar("Outer")
AsyncT = TypeVar("AsyncT")
AsyncT_co = TypeVar("AsyncT_co", covariant=True)


class ClientClosed(Invalid, code="CLIENT.CLOSED"):
    """A client is used after it was closed, or in a forked process, which lacks its thread."""


class TimeLimit:
    """How long something may take in all, from now on."""

    def __init__(self, limit_s: float | None) -> None:
        self._end = None if limit_s is None else time.monotonic() + limit_s

    def left_s(self) -> float | None:
        """Return what is left of it; None: it never ends."""
        return None if self._end is None else self._end - time.monotonic()


NO_LIMIT: Final = TimeLimit(None)


class LoopThread:
    """One event loop in a thread of its own. Several threads may share it.

    It ends with `close`, when nobody has it any more, or with the program.
    """

    def __init__(self) -> None:
        loop = asyncio.new_event_loop()
        # A daemon: it does not keep alive a program that never closes its client.
        self._waited: set[Future[Any]] = set()
        thread = threading.Thread(
            target=_serve, args=(loop, self._waited), name="weft-client", daemon=True
        )
        thread.start()
        self._loop, self.thread = loop, thread
        self._end = weakref.finalize(self, _end, loop, thread)

    def close(self) -> None:
        """Cancel running calls, close connections, end the thread."""
        self._end()

    @property
    def is_here(self) -> bool:
        """Say whether this is the thread of the loop: a callback of it cannot wait for it."""
        return self.thread is threading.current_thread()

    @property
    def is_alive(self) -> bool:
        """Say whether the loop runs, in this process."""
        return self.thread.is_alive()

    def post(self, callback: Callable[..., object], *args: object) -> None:
        """Schedule a callback in the loop. After the loop has ended nothing happens."""
        if self.thread.is_alive():
            with suppress(RuntimeError):  # the loop was closed just now
                self._loop.call_soon_threadsafe(callback, *args)

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run it in the loop without waiting for it. After the loop has ended nothing happens."""
        try:
            asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # the loop was closed just now
            coroutine.close()

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run it in the loop and return its result; Ctrl-C in this thread cancels it there."""
        if self.is_here:
            coroutine.close()
            raise waits_for_itself()
        if not self.thread.is_alive():
            coroutine.close()
            raise ClientClosed(
                "the client is closed",
                detail="It was closed, or this process was forked from the one that made it.",
                hint="Make a client of its own with `weft.Client()`.",
            )
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError as error:  # the loop was closed just now
            coroutine.close()
            raise CancelledError from error
        self._waited.add(future)
        if self._loop.is_closed():  # before it could cancel this one
            future.cancel()
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
        finally:
            self._waited.discard(future)
            if (
                self._loop.is_closed()
                and inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED
            ):
                coroutine.close()

    def iterate(
        self, items: AsyncGenerator[Result, None], limit: TimeLimit = NO_LIMIT
    ) -> Iterator[Result]:
        """Yield what an asynchronous generator yields; it is closed when this is.

        Raise `TimeoutError` when the limit is over.
        """
        end = object()

        async def step() -> Result | object:
            async with asyncio.timeout(limit.left_s()):
                return await anext(items, end)

        try:
            while (item := self.wait(step())) is not end:
                yield item  # type: ignore[misc]
        finally:
            if self.thread.is_alive():
                self.wait(_close(items))


class WaitingListing(Generic[AnswerT_co]):
    """The documents of a listing, for programs that wait: one change of threads for each page."""

    def __init__(self, loop_thread: LoopThread, listing: Listing[AnswerT_co]) -> None:
        self._loop_thread = loop_thread
        self._listing = listing
        self._page: Iterator[AnswerT_co] = iter(())

    @property
    def warnings(self) -> Sequence[str]:
        """Return what the server says of a query that found nothing: keys that nothing has. It is
        known when the first document was asked for.
        """
        return self._listing.warnings

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AnswerT_co:
        for document in self._page:
            return document
        self._page = iter(self._loop_thread.wait(self._listing.next_page()))
        return next(self._page)

    def to_frame(self) -> Any:  # noqa: ANN401 (of a library that may be missing)
        """Return the rest of the documents as a `pandas.DataFrame`, with dates as such."""
        try:
            pandas: Any = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError("to_frame needs pandas: `pip install pandas`") from error
        frame = pandas.DataFrame(list(self))
        for name in frame.columns:
            if is_date(str(name)):
                frame[name] = pandas.to_datetime(frame[name], format="ISO8601", utc=True)
        return frame


def waits_for_itself() -> RuntimeError:
    """Return the error of a callback that would wait for ever."""
    return RuntimeError(
        "a callback cannot wait for what its own thread has to do: it would wait for ever; "
        "wait in another thread"
    )


class Twin(Generic[AsyncT_co]):
    """The waiting side of an asynchronous object."""

    def __init__(self, loop_thread: LoopThread, twin: AsyncT_co) -> None:
        self._loop_thread = loop_thread
        self._async = twin

    def __repr__(self) -> str:
        return repr(self._async)


def _bound(
    twin: Twin[AsyncT], method: Callable[Concatenate[AsyncT, P], Result]
) -> Callable[P, Result]:
    """Return the bound method of the asynchronous object: a subclass may override it."""
    found: Callable[P, Result] = getattr(twin._async, method.__name__)  # noqa: SLF001 (as a method of Twin)
    return found


def waits(
    method: Callable[Concatenate[AsyncT, P], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Twin[AsyncT], P], Result]:
    """Make the method of a twin that waits for this one."""

    @functools.wraps(method)
    def call(self: Twin[AsyncT], /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return self._loop_thread.wait(_bound(self, method)(*args, **kwargs))

    return call


def waits_as(
    cls: Callable[[LoopThread, Inner], Outer],
    method: Callable[Concatenate[AsyncT, P], Coroutine[Any, Any, Inner]],
) -> Callable[Concatenate[Twin[AsyncT], P], Outer]:
    """Make the method of a twin that waits for this one and returns the twin of its result."""

    @functools.wraps(method)
    def call(self: Twin[AsyncT], /, *args: P.args, **kwargs: P.kwargs) -> Outer:
        return cls(
            self._loop_thread, self._loop_thread.wait(_bound(self, method)(*args, **kwargs))
        )

    return call


def iterates(
    method: Callable[Concatenate[AsyncT, P], AsyncGenerator[Result, None]],
) -> Callable[Concatenate[Twin[AsyncT], P], Iterator[Result]]:
    """Make the method of a twin that yields what this one yields."""

    @functools.wraps(method)
    def call(self: Twin[AsyncT], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Result]:
        return self._loop_thread.iterate(_bound(self, method)(*args, **kwargs))

    return call


def lists(
    method: Callable[Concatenate[AsyncT, P], Listing[AnswerT_co]],
) -> Callable[Concatenate[Twin[AsyncT], P], WaitingListing[AnswerT_co]]:
    """Make the method of a twin that yields the documents of this one's listing."""

    @functools.wraps(method)
    def call(
        self: Twin[AsyncT], /, *args: P.args, **kwargs: P.kwargs
    ) -> WaitingListing[AnswerT_co]:
        return WaitingListing(self._loop_thread, _bound(self, method)(*args, **kwargs))

    return call


def _serve(loop: asyncio.AbstractEventLoop, waited: set[Future[Any]]) -> None:
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_cancel_tasks())
        loop.run_until_complete(loop.shutdown_asyncgens())
        while asyncio.all_tasks(loop):  # calls that came with the turns above
            loop.run_until_complete(_cancel_tasks())
        loop.close()
        # Calls that were scheduled after the last turn of the loop never run.
        for future in list(waited):
            future.cancel()


async def _cancel_tasks() -> None:
    await end_tasks(asyncio.all_tasks() - {asyncio.current_task()})


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    if not thread.is_alive():
        return  # in a forked process
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():  # the collector may run in any thread
        thread.join()


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
