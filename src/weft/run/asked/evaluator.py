"""Evaluates what tenants wrote: `python -m weft.run.asked.evaluator MEMORY_BYTES`.

Each question is a pickle on standard input: a function, what its calls have in common, an item for
each call, the seconds of CPU for one of them and for all. Each answer is a message behind its
length, sent at once: the first that is missing when the process was killed is that of the item at
fault. A timer of the kernel kills it, because code of the libraries cannot be interrupted.
"""

import os
import pickle
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, Final, Literal

import msgspec

from weft.core.errors import FieldError, WeftError

LENGTH: Final = struct.Struct(">I")
_LIBRARIES: Final = ("cel", "jinja2", "jsonschema_rs", "weft.core.lines.setup")
How = Literal["value", "refused", "failed", "memory"]
Answer = tuple[float, How, bytes]
"""The seconds it took; what came of it; a message: the value, a `Refused` or a text."""
Refused = tuple[str, str, str, str, Sequence[FieldError]]
"""An error in what was asked: its code, message, detail, hint and fields."""


def serve(asked: IO[bytes], answers: int) -> None:
    """Answer until the input ends."""
    _send(answers, b"")
    while True:
        try:
            function, common, items, one_s, all_s = pickle.load(asked)  # noqa: S301 (of the api)
        except EOFError:
            return
        _answer_each(answers, function, common, items, one_s, all_s)


def _answer_each(
    answers: int,
    function: Callable[[Any, Any], Any],
    common: object,
    items: Sequence[object],
    one_s: float,
    all_s: float,
) -> None:
    """Answer about items until all of the time is spent; an answer without a byte says so."""
    for item in items:
        if all_s <= 0:
            _send(answers, b"")
            return
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, min(one_s, all_s))
        how, said = _said(function, common, item)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - begun
        all_s -= seconds
        _send(answers, msgspec.msgpack.encode((seconds, how, said)))


def _said(function: Callable[[Any, Any], Any], common: object, item: object) -> tuple[How, bytes]:
    encode = msgspec.msgpack.encode
    try:
        return "value", encode(function(common, item))
    except (MemoryError, RecursionError):
        return "memory", b""
    except WeftError as error:
        refused: Refused = error.code, error.message, error.detail, error.hint, error.errors
        return "refused", encode(refused)
    except Exception as error:  # noqa: BLE001 (whoever asks raises it)
        return "failed", encode(repr(error)[:1000])


def _send(answers: int, body: bytes) -> None:
    left = memoryview(LENGTH.pack(len(body)) + body)
    while left:
        left = left[os.write(answers, left) :]


def main() -> None:
    """Serve standard input, with what libraries print going nowhere."""
    answers, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    asked = os.fdopen(os.dup(0), "rb")
    os.dup2(null, 0)
    for library in _LIBRARIES:  # before the time of anybody runs
        __import__(library)
    most = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)  # the api goes first
    with suppress(BrokenPipeError):
        serve(asked, answers)


if __name__ == "__main__":
    main()
