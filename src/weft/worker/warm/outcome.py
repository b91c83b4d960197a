"""Make a call, and encode its result or exception."""

import os
import pickle
import resource
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from weft.core.errors import ResultTooLarge
from weft.core.states import Reason
from weft.wire.function import JSON, PICKLE, TRACEBACK_CHARS_MAX, CallBody, ResultHead, encode_head
from weft.worker.warm.functions import AnyFunction, CannotCall

_PROTOCOL = 5


@dataclass(frozen=True, kw_only=True)
class CallOutcome:
    """The outcome of a call."""

    form: str = PICKLE
    value: bytes = b""
    error: bytes = b""
    traceback: str = ""
    seconds: float = 0.0
    failure: Reason | None = None
    message: str = ""
    exit_code: int = 0
    """0 if the function returned, 75 if it raised `Blocked`."""

    def parts(self) -> list[bytes]:
        """Return the result in its stored form; nothing if nothing was called."""
        if self.failure is not None:
            return []
        head = ResultHead(
            self.form, len(self.value), len(self.error), self.traceback, self.seconds
        )
        return [encode_head(head), self.value, self.error]


def make_call(find: Callable[[], AnyFunction], body: CallBody, bytes_max: int) -> CallOutcome:
    """Find the function and call it; with `each`, once per argument until a call raises.

    Any exception is part of the outcome, including `SystemExit`.
    """
    form = JSON if body.call is not None and body.arguments is None else PICKLE
    values: list[Any] = []
    begun = time.perf_counter()
    try:
        function = find()
        begun = time.perf_counter()
        if body.each:
            for args in _arguments(body):
                values.append(function(*args))  # noqa: PERF401 (those before an error are kept)
            value: Any = values
        elif body.arguments is not None:
            args, kwargs = _arguments(body)
            value = function(*args, **kwargs)
        else:
            value = function(*body.args, **body.kwargs)
        seconds = time.perf_counter() - begun
        return CallOutcome(form=form, value=_encode(value, form, bytes_max), seconds=seconds)
    except CannotCall as error:
        return CallOutcome(failure=error.reason, message=error.message)
    except BaseException as error:  # noqa: BLE001 (the outermost handler of a call)
        seconds = time.perf_counter() - begun
        kept = _kept(values, bytes_max) if body.each else b""
        return _raised(error, kept, seconds, bytes_max)


def _raised(error: BaseException, value: bytes, seconds: float, bytes_max: int) -> CallOutcome:
    # Without our own frame at the top.
    below = error.__traceback__.tb_next if error.__traceback__ else None
    lines = traceback.format_exception(type(error), error, below)
    text = "".join(lines).encode("utf-8", "backslashreplace").decode()
    try:
        pickled = _dumps(error, bytes_max)
    except Exception:  # noqa: BLE001 (any class can refuse to be pickled, in any way)
        pickled = b""
    return CallOutcome(
        value=value,
        error=pickled,
        traceback=text[-TRACEBACK_CHARS_MAX:],
        seconds=seconds,
        exit_code=_exit_code_of(error),
    )


def _exit_code_of(error: BaseException) -> int:
    """Return the exit code of a call; one that is blocked says what it waits for."""
    conditions = sys.modules.get("weft.core.ends.conditions")  # or nobody can have raised it
    if conditions is None or not isinstance(error, conditions.Blocked):
        return 1
    with (
        suppress(OSError, KeyError),  # then it waits by the clock alone
        open(os.environ[conditions.BLOCK_FILE_VARIABLE], "wb") as file,
    ):
        file.write(conditions.write_ask(error.ask))
    return int(conditions.BLOCKS_EXIT_CODE)


def _kept(values: list[Any], bytes_max: int) -> bytes:
    """Return the values up to the first that cannot be kept."""
    try:
        return _dumps(values, bytes_max)
    except Exception:  # noqa: BLE001 (any class can refuse to be pickled, in any way)
        count = 0
        for value in values:
            try:
                _dumps(value, bytes_max)
            except Exception:  # noqa: BLE001
                break
            count += 1
        return _dumps(values[:count], bytes_max) if count < len(values) else b""


def _encode(value: Any, form: str, bytes_max: int) -> bytes:  # noqa: ANN401 (what a function returns)
    if form == PICKLE:
        return _dumps(value, bytes_max)
    return _within(msgspec.json.encode(value), bytes_max)


def _dumps(value: Any, bytes_max: int) -> bytes:  # noqa: ANN401
    """Pickle the fast way; use cloudpickle for lambdas and classes of a notebook."""
    try:
        data = pickle.dumps(value, protocol=_PROTOCOL)
    except Exception:  # noqa: BLE001 (any class can refuse to be pickled, in any way)
        import cloudpickle  # noqa: PLC0415 (half of the time in which a warm process starts)

        data = cloudpickle.dumps(value, protocol=_PROTOCOL)
    return _within(data, bytes_max)


def _within(data: bytes, bytes_max: int) -> bytes:
    if len(data) > bytes_max:
        raise ResultTooLarge(
            f"the result has {len(data)} bytes",
            detail=f"At most {bytes_max} bytes are kept (`result_bytes_max`).",
            hint="Write it to a file and return the file's name, or raise the setting.",
        )
    return data


def _arguments(body: CallBody) -> Any:  # noqa: ANN401 (what the caller pickled)
    if body.arguments_file is None:
        return pickle.loads(body.arguments or b"")  # noqa: S301 (its owner's, in a process of its owner's batch)
    try:
        file = open(body.arguments_file, "rb")  # noqa: SIM115 (pathlib is not loaded here)
    except OSError as error:
        message = f"the arguments cannot be read: {error.strerror} ({body.arguments_file})"
        raise CannotCall(Reason.DISK, message) from error
    with file:
        os.unlink(body.arguments_file)
        return pickle.load(file)  # noqa: S301 (as above)


_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PEAK_FALLS_BY = 1.1


class Usage:
    """CPU time of one call, memory of the process, and whether it has children."""

    def __init__(self) -> None:
        self._cpu_s = 0.0
        self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._peak_bytes = 0
        self._held_bytes = 0
        self._children_peak_bytes = 0
        self._floor_bytes = 0
        """The lower bound of the peak: that of the process from which this one was started."""

    def begin(self) -> None:
        """Forget an older peak, if the process has shrunk since."""
        if self._peak_bytes > _PEAK_FALLS_BY * max(self._held_bytes, self._floor_bytes) > 0:
            with suppress(OSError):
                fd = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
                try:
                    os.write(fd, b"5")
                finally:
                    os.close(fd)
            own = resource.getrusage(resource.RUSAGE_SELF)
            self._floor_bytes = own.ru_maxrss * 1024

    def end(self) -> tuple[int, int, int, bool]:
        """Return CPU milliseconds since the last end, peak and present memory in bytes, and
        whether there are children.
        """
        own = resource.getrusage(resource.RUSAGE_SELF)
        waited_for = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = own.ru_utime + own.ru_stime + waited_for.ru_utime + waited_for.ru_stime
        cpu_ms = int((cpu_s - self._cpu_s) * 1000 + 0.5)
        self._cpu_s = cpu_s
        self._held_bytes = int(os.pread(self._statm, 128, 0).split()[1]) * _PAGE_BYTES
        self._peak_bytes = max(own.ru_maxrss * 1024, self._held_bytes)
        children = waited_for.ru_maxrss * 1024  # of all calls: it tells of this one if it rose
        of_children = children if children > self._children_peak_bytes else 0
        self._children_peak_bytes = children
        return cpu_ms, max(self._peak_bytes, of_children), self._held_bytes, _has_children()


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
