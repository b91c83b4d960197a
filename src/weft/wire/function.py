"""Calls of Python functions: the messages between a spawner and its warm processes, and the
format of a stored result.

A *warm process* is a Python interpreter that the spawner keeps between jobs of one batch. Both
sides use one Unix stream socket. A message is a length of four bytes (big endian) and that many
bytes of msgpack: a `Call` to the process, a `Done` back, one at a time. Pickled
values travel as bytes: only the warm process unpickles functions and arguments, and only the
client unpickles results.

A result is a `ResultHead` (four bytes of length, msgpack), the value and the error.
"""

import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

HEADER = struct.Struct("!I")
CONTROL_FD = 3
"""The descriptor of a warm process's socket."""
RESULT_INLINE_BYTES_MAX = 32 * 1024
"""A longer result is a file of its own, which the warm process writes."""
DONE_BYTES_MAX = 256 * 1024
TRACEBACK_CHARS_MAX = 16 * 1024
PICKLE, JSON = "pickle", "json"
"""Formats of a value; a result has the format of its arguments."""


class Definition(msgspec.Struct, frozen=True, array_like=True):
    """A function that many jobs of a batch call, sent to each warm process once."""

    pickle: bytes
    python: str | None
    """Version that pickled it, as `3.12`: others cannot read its code."""
    path: tuple[str, ...]
    """Directories in which its modules were found, to be looked at last."""


class CallBody(msgspec.Struct, frozen=True, array_like=True):
    """What to call and with what; the spawner passes it on unread."""

    call: str | None = None
    """`package.module:name`; none: the definition."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    arguments: bytes | None = None
    """Pickled `(args, kwargs)`; with `each` a list of `args`. None: as the fields before."""
    each: bool = False
    """Call once for each of the arguments; the value is the list of what was returned."""
    arguments_file: str | None = None
    """A file with what would be in `arguments`, which are empty then. The process removes it when
    it has read it.
    """


class FunctionCall(msgspec.Struct, frozen=True, array_like=True):
    """Spawner to warm process: do this now."""

    definition_id: int
    """The definition to be called, 0 for none."""
    definition: bytes | None
    """An encoded `Definition`, when this process has not seen it yet."""
    body: bytes
    """An encoded `CallBody`."""
    env: dict[str, str]
    """Variables of this job; those of the batch the process has already."""
    cwd: str
    result_path: str
    """Where a long result goes."""


class CallDone(msgspec.Struct, frozen=True, array_like=True):
    """Warm process to spawner: the call has ended, and all that it wrote is in the pipes."""

    exit_code: int
    """0, or 1 if the function raised."""
    result: bytes = b""
    """Empty: it is in the file."""
    failure: int | None = None
    """`core.states.Reason` if it could not be called, or its result not be kept."""
    message: str = ""
    cpu_ms: int = 0
    memory_peak_bytes: int = 0
    memory_bytes: int = 0
    """What the process holds now."""
    has_children: bool = False
    """It has left processes behind."""


class ResultHead(msgspec.Struct, frozen=True, array_like=True):
    """What became of the call or calls of one job."""

    form: str
    """`pickle` or `json`: of the value; an error is always pickled."""
    value_bytes: int
    """Length of the value: with `each` the list of all values before the error."""
    error_bytes: int
    """Length of the pickled exception; 0: it returned, or its exception cannot be pickled."""
    traceback: str
    """As text; empty: it returned."""
    seconds: float
    """How long the calls took together."""


_ENCODER = msgspec.msgpack.Encoder()
_HEAD_DECODER = msgspec.msgpack.Decoder(ResultHead)
HEAD_BYTES_MAX = 8 * TRACEBACK_CHARS_MAX


def encode_head(head: ResultHead) -> bytes:
    """Return what stands before the value and the error."""
    body = _ENCODER.encode(head)
    return HEADER.pack(len(body)) + body


def decode_head(data: bytes) -> tuple[ResultHead, int]:
    """Return the head and where the value begins. Raise `ValueError` if it is not whole."""
    if len(data) < HEADER.size:
        raise ValueError("the result has no head")
    (length,) = HEADER.unpack_from(data)
    end = HEADER.size + length
    if length > HEAD_BYTES_MAX or len(data) < end:
        raise ValueError(f"the head of the result has {length} bytes")
    try:
        return _HEAD_DECODER.decode(data[HEADER.size : end]), end
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


def result_path(root: Path, batch_id: int, job_id: int, attempt: int) -> Path:
    """Return the file of a long result, beside the attempt's long output."""
    directory = root / "attempts" / f"b{batch_id}" / f"{job_id // 1000}"
    return directory / f"{job_id}.{attempt}.result"


_PREPARED: set[str] = set()
"""Keys of the initializers that have run in this process."""


class InitializerFailed(BrokenExecutor):
    """The initializer of an executor raised."""


@dataclass(eq=False, kw_only=True)
class Initialized:
    """Calls the initializer before the first call in a process, then the function."""

    key: str
    """That of the executor."""
    initializer: Callable[..., object]
    initargs: Sequence[Any]
    function: Callable[..., Any]
    _is_prepared: bool = field(default=False, init=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the function has it)
        if not (self._is_prepared or self.key in _PREPARED):
            self._prepare()
        return self.function(*args, **kwargs)

    def __getstate__(self) -> Mapping[str, Any]:
        return {**self.__dict__, "_is_prepared": False}

    def _prepare(self) -> None:
        try:
            self.initializer(*self.initargs)
        except BaseException as error:
            raise InitializerFailed(f"the initializer raised {error!r}") from error
        self._is_prepared = True
        if not _has_own_variables(self.initializer):
            _PREPARED.add(self.key)


def _has_own_variables(function: Any) -> bool:  # noqa: ANN401 (any callable)
    """Say whether it came by value: then each function comes with global variables of its own."""
    while isinstance(function, partial):
        function = function.func
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    variables = getattr(function, "__globals__", None)
    return variables is not None and variables is not getattr(module, "__dict__", None)
