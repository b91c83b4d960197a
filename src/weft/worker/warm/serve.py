"""The life of a warm process: one call after another until the spawner closes the socket."""

import contextlib
import io
import os
import socket
import sys
import types
from collections.abc import Iterator

import msgspec

from weft.core.states import Reason
from weft.wire import function
from weft.worker.private_files import make_private, write_all
from weft.worker.warm.functions import AnyFunction, CannotCall, Functions
from weft.worker.warm.outcome import CallOutcome, Usage, make_call

_READ_BYTES = 1 << 16
_CALL = msgspec.msgpack.Decoder(function.FunctionCall)
_BODY = msgspec.msgpack.Decoder(function.CallBody)
_DONE = msgspec.msgpack.Encoder()
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
_Entered = dict[str, tuple[str, str | None]]
"""Variables of a call, each with what it was before the call; None: it was not there."""


def serve(*, result_bytes_max: int) -> int:
    """Make calls until the spawner closes the socket; return the exit code."""
    control = socket.socket(fileno=function.CONTROL_FD)
    control.set_inheritable(False)  # programs that a call starts must not hold it
    _become_a_plain_program()
    functions, usage, pid = Functions(), Usage(), os.getpid()
    entered: _Entered = {}
    for message in _messages(control):
        call = _CALL.decode(message)
        done = _make(call, functions, usage, entered, result_bytes_max)
        if os.getpid() != pid:
            os._exit(0)  # a fork of the function that did not end itself
        body = _DONE.encode(done)
        try:
            control.sendall(function.HEADER.pack(len(body)) + body)
        except OSError:
            break
    return 0


def _become_a_plain_program() -> None:
    """Give functions a `__main__` that is not ours, and make their output line-buffered."""
    sys.argv[:] = [""]
    sys.modules["__main__"] = types.ModuleType("__main__")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")


def _messages(control: socket.socket) -> Iterator[bytes]:
    """Yield messages until the other side closes."""
    buffer = bytearray()
    while True:
        while len(buffer) >= function.HEADER.size:
            (length,) = function.HEADER.unpack_from(buffer)
            end = function.HEADER.size + length
            if len(buffer) < end:
                break
            message = bytes(buffer[function.HEADER.size : end])
            del buffer[:end]
            yield message
        try:
            data = control.recv(_READ_BYTES)
        except OSError:
            return
        if not data:
            return
        buffer += data


def _make(
    call: function.FunctionCall,
    functions: Functions,
    usage: Usage,
    entered: _Entered,
    result_bytes_max: int,
) -> function.CallDone:
    """Make one call; return an answer whatever it does."""
    usage.begin()
    body = _BODY.decode(call.body)

    def find() -> AnyFunction:
        functions.add(call)
        _enter(call, entered)
        return functions.find(call.definition_id, body)

    outcome = make_call(find, body, result_bytes_max)
    if outcome.traceback:
        with contextlib.suppress(Exception):
            sys.stderr.write(outcome.traceback)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the function may have closed or replaced it
            stream.flush()
    with contextlib.suppress(OSError):
        os.chdir("/")
    return _done(outcome, call.result_path, usage)


def _enter(call: function.FunctionCall, entered: _Entered) -> None:
    """`entered`: what the last call had; most jobs of a batch have the same, but for secrets."""
    for name, value in call.env.items():
        last, before = entered.get(name) or (None, os.environ.get(name))
        if last != value:
            os.environ[name] = value
            entered[name] = value, before
    if len(entered) > len(call.env):
        for name in entered.keys() - call.env.keys():
            _, before = entered.pop(name)
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before
    try:
        os.chdir(call.cwd)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        message = f"cannot enter the directory {call.cwd}: {why}"
        raise CannotCall(Reason.BAD_SPEC, message) from error


def _done(outcome: CallOutcome, path: str, usage: Usage) -> function.CallDone:
    parts = outcome.parts()
    failure: int | None = outcome.failure
    message, result = outcome.message, b""
    if sum(map(len, parts)) <= function.RESULT_INLINE_BYTES_MAX:
        result = b"".join(parts)
    else:
        try:
            _write(path, parts)
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            message = f"the result could not be kept: {error.strerror}{where}"
            failure = Reason.DISK
    return function.CallDone(outcome.exit_code, result, failure, message, *usage.end())


def _write(path: str, parts: list[bytes]) -> None:
    """Write a file atomically."""
    make_private(os.path.dirname(path))
    temporary = f"{path}~"
    fd = os.open(temporary, _FLAGS, 0o600)
    try:
        for part in parts:
            write_all(fd, part)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(fd)
    os.rename(temporary, path)
