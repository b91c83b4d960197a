"""The client for programs without an event loop: the same names, but each call waits."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from weft.client import aio
from weft.client._session import PATIENCE_S

Result = TypeVar("Result")


class Client:
    """The client of a weft server, as `weft.aio.Client`, but every method waits, and iterators
    are plain ones.

    One event loop in a thread of its own serves it, so it works in a notebook, too, and several
    threads may share it.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        home: Path | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._client = aio.Client(url, token, home=home, patience_s=patience_s)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="weft-client", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread."""
        if self._loop.is_closed():
            return
        self._wait(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (methods have any signature)
        attribute = getattr(self._client, name)
        if name.startswith("_") or not callable(attribute):
            return attribute
        return self._wrap(attribute)

    def _wrap(self, method: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(method)
        def call(*args: object, **kwargs: object) -> object:
            outcome = method(*args, **kwargs)
            if asyncio.iscoroutine(outcome):
                return self._wait(cast("Coroutine[Any, Any, object]", outcome))
            return self._iterate(cast("AsyncIterator[object]", outcome))

        return call

    def _wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run it in the loop; Ctrl-C in this thread cancels it there."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _iterate(self, items: AsyncIterator[Result]) -> Iterator[Result]:
        try:
            while True:
                try:
                    item = self._wait(_next(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            close = getattr(items, "aclose", None)
            if close is not None:
                self._wait(close())


async def _next(items: AsyncIterator[Result]) -> Result:
    return await anext(items)
