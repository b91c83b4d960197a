"""Log lines: structlog, as JSON for machines or in colour for people.

`configure` once per process, `log` everywhere. A line that cannot be written (the disk is
full, the reader has gone) is counted and dropped: logging never fails its caller.
"""

import logging
import os
import re
import select
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final, cast

import msgspec
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from weft.core.text.escapes import escaped_in_json
from weft.ports.plugins import PluginGroup
from weft.telemetry import metrics

LogReader = Callable[[Mapping[str, Any]], None]
LOG_READER_PLUGINS: Final = PluginGroup[Callable[[str], LogReader | None]](
    "weft.log_readers", "log reader"
)
"""Each is called with the name of a role when that starts. What it returns is called with each
line, of all levels, and neither waits nor fails; None: it reads none.
"""
_SENTENCES = ("error", "detail", "hint")
"""What an event says to a person: a line each on the console."""
_STEERING: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""What would begin another line, or steer the terminal of who reads it."""
log: Final = cast("FilteringBoundLogger", structlog.get_logger())


class LineWriter:
    """Write whole lines to a file descriptor; threads may share one."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.RLock()
        self._held: list[bytes] | None = None

    def msg(self, line: bytes) -> None:
        """Write one line; count it as lost if that fails."""
        with self._lock:
            if self._held is not None:
                if sum(map(len, self._held)) + len(line) > select.PIPE_BUF:
                    self._write_held()
                self._held.append(line + b"\n")
                return
            self._write([line + b"\n"])

    debug = info = warning = error = critical = msg

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write what comes meanwhile in few pieces, which a shared pipe keeps whole."""
        with self._lock:
            self._held = []
            try:
                yield
            finally:
                self._write_held()
                self._held = None

    def _write_held(self) -> None:
        assert self._held is not None
        self._write(self._held)
        self._held.clear()

    def _write(self, lines: Sequence[bytes]) -> None:
        rest = memoryview(b"".join(lines))
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError:
            metrics.LOG_LINES_LOST.inc(len(lines))


_readers: Final[list[LogReader]] = []
_writers: Final[list[LineWriter]] = []
"""That of this process, when it is configured."""


class _LibraryHandler(logging.Handler):
    """Turn what libraries say through `logging` into our own lines."""

    def emit(self, record: logging.LogRecord) -> None:
        log.log(
            record.levelno,
            "library.logged",
            logger=record.name,
            message=record.getMessage(),
            exc_info=record.exc_info,
        )


def lines_together() -> AbstractContextManager[None]:
    """Write the lines of this block, which does not wait for anything, in few pieces."""
    return _writers[0].together() if _writers else nullcontext()


def read_lines(role: str) -> None:
    """Let installed log readers read the lines of this process; `configure` comes next."""
    made = (make(role) for make in LOG_READER_PLUGINS.load_all().values())
    _readers[:] = [reader for reader in made if reader is not None]


def configure(*, level: str, format: str, role: str, fd: int = 2) -> None:  # noqa: A002 (the setting's name)
    """Set up logging of this process. `format`: `json`, `console`, or `auto`, which is `console`
    on a terminal.

    May be called again, which replaces what was before, also in loggers that exist already.
    """
    console = format == "console" or (format == "auto" and os.isatty(fd))
    number = logging.getLevelNamesMapping()[level.upper()]
    _writers[:] = [writer := LineWriter(fd)]
    facts = {"role": role, "pid": os.getpid()}
    structlog.configure(
        processors=_processors(facts, number, console=console, colors=os.isatty(fd)),
        wrapper_class=structlog.make_filtering_bound_logger(0 if _readers else number),
        logger_factory=lambda *_: writer,
        cache_logger_on_first_use=False,
    )
    # Log warnings of libraries, not their single steps.
    logging.basicConfig(handlers=[_LibraryHandler()], level=logging.WARNING, force=True)


def _processors(
    facts: dict[str, Any],  # facts have several types
    level: int,
    *,
    console: bool,
    colors: bool,
) -> list[Processor]:
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _adder(facts),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    if _readers:
        shared.append(_shown_to_readers(level))
    if console:
        return [*shared, _Console(colors=colors)]
    return [
        *shared,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_to_json),
    ]


def _adder(facts: dict[str, Any]) -> Processor:
    def add_facts(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {**facts, **event}

    return add_facts


def _shown_to_readers(level: int) -> Processor:
    def show(_logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        for reader in _readers:
            reader(event)
        if structlog.processors.NAME_TO_LEVEL[method] < level:
            raise structlog.DropEvent
        return event

    return show


class _Console:
    """Lines for people, as bytes."""

    def __init__(self, *, colors: bool) -> None:
        # Rich's traceback would print local variables, and so the secrets in them.
        self._render = structlog.dev.ConsoleRenderer(
            colors=colors, timestamp_key="at", exception_formatter=structlog.dev.plain_traceback
        )

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> bytes:
        sentences = [event.pop(key, "") for key in _SENTENCES] if "hint" in event else []
        for key, value in event.items():
            if isinstance(value, str):
                event[key] = _STEERING.sub(_escaped, value)
        lines = [self._render(logger, method, event)]
        lines += [
            f"    {_STEERING.sub(_escaped, line)}"
            for sentence in sentences
            for line in str(sentence).split("\n")
            if line
        ]
        return "\n".join(lines).encode("utf-8", "backslashreplace")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _to_json(event: EventDict, default: Callable[[Any], Any]) -> bytes:
    try:
        line = msgspec.json.encode(event, enc_hook=default)
    except (ValueError, TypeError):
        # A fact with a lone surrogate, such as a file name that is not UTF-8.
        line = msgspec.json.encode({key: ascii(value) for key, value in event.items()})
    if line.isascii() and b"\x7f" not in line:
        return line
    return escaped_in_json(line.decode(), _STEERING).encode()
