"""The future of a call on a weft server."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from weft.client.api import ResultRow
from weft.client.functions.calls import Call
from weft.client.functions.pickles import Function
from weft.client.loop_thread import waits_for_itself

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Link:
    """How futures reach their executor. It does not keep the executor alive."""

    post: Callable[..., None]
    """Calls back in its event loop."""
    drop: Callable[[Call], None]
    """Cancels a call."""
    is_here: Callable[[], bool]
    """Says whether this is the thread of its event loop."""


class WeftFuture(Future[Result]):
    """What a call will return, as `concurrent.futures.Future`.

    It counts as running from the moment at which a worker has taken its job.
    """

    def __init__(self, read: Callable[[ResultRow], Result], link: Link) -> None:
        super().__init__()
        self._read = read
        self._link = link
        self._guard = threading.Lock()
        self._is_noted = False
        self._is_killed = False
        self._call: Call | None = None

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled() else self._state.lower().replace("_", " ")
        return f"<WeftFuture of {f'j{self.job_id}' if self.job_id else 'a new job'}: {state}>"

    @property
    def job_id(self) -> int | None:
        """Return the number of its job in the executor's batch; None: it was not sent yet."""
        return (self._call.job_id or None) if self._call else None

    def cancel(self, *, running: bool = False) -> bool:
        """Cancel the call: its job is cancelled on the server. Return whether it is cancelled.

        Args:
            running: Also if a worker has taken it: then its process is killed.
        """
        if self.cancelled():
            return True
        if super().cancel():
            self._note_once()
        elif running and not self.done():
            self._is_killed = True
            try:
                super().set_exception(CancelledError())
            except InvalidStateError:  # it has just ended
                self._is_killed = False
                return False
        else:
            return False
        if self._call is not None:
            self._link.drop(self._call)
        return True

    def cancelled(self) -> bool:
        """Return whether it was cancelled, also while it ran."""
        return self._is_killed or super().cancelled()

    def result(self, timeout: float | None = None) -> Result:
        """Return what the call returned. Raise what it raised."""
        self._refuse_to_wait_for_itself()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return what the call raised; None: it returned. Raise `CancelledError` if cancelled."""
        self._refuse_to_wait_for_itself()
        error = super().exception(timeout)
        if self._is_killed and error is not None:
            raise error
        return error

    def call_for(
        self, function: Function, arguments: bytes, *, calls: int = 1, each: bool = False
    ) -> Call:
        """Return the call whose future this is."""
        self._call = Call(
            function=function,
            arguments=arguments,
            calls=calls,
            each=each,
            on_claimed=self._note_once,
            on_end=self._end,
            on_failure=self._fail,
            cancel=self.cancel,
        )
        return self._call

    def _refuse_to_wait_for_itself(self) -> None:
        if not self.done() and self._link.is_here():
            raise waits_for_itself()

    def _end(self, row: ResultRow) -> None:
        """Record the end of its job."""
        if row.state == "cancelled" and row.traceback is None:
            self._fail(CancelledError())
            return
        try:
            value = self._read(row)
        except BaseException as error:  # noqa: BLE001 (what the function raised, whatever it is)
            # Where it was read here says nothing; where it was raised, its cause.
            self._fail(error.with_traceback(None) if error.__cause__ else error)
            return
        self._note_once()
        with suppress(InvalidStateError):  # it was cancelled in the last moment
            self.set_result(value)

    def _fail(self, error: BaseException) -> None:
        """Fail: there will be no result."""
        if isinstance(error, CancelledError) and super().cancel():
            self._note_once()
            return
        self._note_once()
        with suppress(InvalidStateError):
            self.set_exception(error)

    def _note_once(self) -> None:
        """Start it, or notify waiters that it was cancelled."""
        with self._guard:
            if self._is_noted:
                return
            self._is_noted = True
        self.set_running_or_notify_cancel()
