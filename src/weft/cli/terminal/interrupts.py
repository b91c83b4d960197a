"""A person at the terminal: Ctrl-C in two steps, of which the first asks for an orderly end and
the second leaves at once; and questions before something is changed.
"""

import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Self

from weft.cli.terminal.report import note, print_error
from weft.client.http.blocking import asyncio
from weft.core.errors import Invalid, WeftError

INTERRUPTED = 130
LONGEST_S = 30
"""That the first waits for a server that does not answer."""
UNANSWERED = "the server has not answered; what it has goes on: see `weft ls`"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Let the first SIGINT, SIGTERM or SIGHUP call `on_first`; the next one ends this process."""

    def __init__(self, on_first: Callable[[], Coroutine[Any, Any, object]], message: str) -> None:
        self.count = self.number = 0
        """How many came, and the last one."""
        self._on_first = on_first
        self._message = message
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._received, number)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    def _received(self, number: int) -> None:
        self.number = number
        self.count += 1
        if self.count > 1:
            # Leave without cleaning up: the user asked twice. The server carries out the first
            # one told it.
            os._exit(INTERRUPTED)
        if self._message:
            note(self._message)
        self._task = asyncio.create_task(self._stop())

    async def _stop(self) -> None:
        try:
            await asyncio.wait_for(self._on_first(), LONGEST_S)
        except TimeoutError:
            note(UNANSWERED)
            os._exit(INTERRUPTED)
        except WeftError as error:
            # What waits for the end will find out by itself, or the person asks a second time.
            print_error(error)


REFUSED = 4


class NotConfirmed(Invalid, code="CLI.NOT_CONFIRMED"):
    """Nobody can confirm what cannot be undone."""

    advice = "Add --yes to do it without a question."


def need_person(what: str) -> None:
    """Raise `NotConfirmed` if nobody can be asked."""
    if not sys.stdin.isatty():
        raise NotConfirmed(what, detail="Standard input is not a terminal, so nobody can confirm.")


def ask(question: str, *, otherwise: str) -> int:
    """Ask a yes/no question; return 0 for yes, else the exit code, after saying `otherwise`.

    It blocks the event loop: what the loop makes of Ctrl-C does not end a read from a terminal.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        note(otherwise)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, before)
    if answer.strip().lower() in {"y", "yes"}:
        return 0
    if not answer:  # Ctrl-D leaves the cursor behind the question
        sys.stderr.write("\n")
    note(otherwise)
    return REFUSED
