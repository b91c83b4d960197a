"""Every command, and what is wrong with how it ended: for tests that give them anything."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from types import FrameType
from typing import TYPE_CHECKING, Any

from weft.cli.app import build_app, run_command

if TYPE_CHECKING:
    from cyclopts import App

CALL_S = 20
STEP = 1 if "WEFT_TEST_RANDOM" in os.environ else 9
VALUES = (
    "",
    "abc",
    "-1",
    "0",
    "1.5",
    "1e999",
    "nan",
    "9" * 400,
    "²",
    "\udcff",
    "\x1b[31m",
    "a=b",
    "=",
    "b0",
    "b1",
    "b1.j1",
    "b1.g1",
    "/",
    "2026-02-30",
    "0001-01-01T00:00+23:59",
    "(",
    "a = b =",
    "postgresql://",
    "postgresql://[",
    "postgresql://h:99999999/x",
    "http://[::1",
    "[1",
    "~nobody-",
)
"""What people, scripts and broken files write."""
FEW = ("abc", "\udcff", "9" * 400)
"""Of these, what is most often wrong."""


class TookTooLong(BaseException):
    """A command did not end."""


def commands(app: "App", path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "App"]]:
    """Yield every command that can be called, with its words."""
    for name in app:
        if not name.startswith("-"):
            yield from commands(app[name], (*path, name))
    if path and app.default_command is not None:
        yield path, app


COMMANDS = dict(commands(build_app()))


def some_values(number: int) -> tuple[str, ...]:
    """Return values for one of many options: a ninth of all, in turn; with random tests, each."""
    return (*FEW, *VALUES[number % STEP :: STEP])


def stop(_number: int, _frame: FrameType | None) -> None:
    """End a command that takes too long: the handler of SIGALRM."""
    raise TookTooLong


def problem_of(words: Sequence[str]) -> str:
    """Run a command; return what is wrong with how it ended."""
    environ = dict(os.environ)
    for stream in (sys.stdout, sys.stderr):  # as the program opens them
        assert isinstance(stream, TextIOWrapper)
        stream.reconfigure(errors="backslashreplace")
    signal.alarm(CALL_S)
    try:
        code: Any = run_command(list(words))
    except SystemExit as end:
        code = end.code
    except TookTooLong:
        return f"{words}: did not end"
    except BaseException as error:  # noqa: BLE001 (that is what is looked for)
        return f"{words}: {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        os.environ.clear()
        os.environ.update(environ)
    return "" if isinstance(code, int) and 0 <= code < 256 else f"{words}: exit code {code!r}"
