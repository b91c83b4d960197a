"""A process with limits that answers questions of one kind: `limited_process KIND`.

A role starts it with an environment without settings or secrets. What code prints while it answers
goes nowhere. Seconds of CPU are counted by a timer of the kernel, which kills the process, because
code of libraries cannot be interrupted: the first answer that is missing is that of the question
at fault. The process ends when its input does, with all that it started.
"""

import os
import pickle
import resource
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final

import msgspec

from weft.core.errors import WeftError
from weft.run import collect_garbage
from weft.run.isolated.kinds import KINDS, LENGTH, Asked, Failure, Kind, Said

_STACK_BYTES: Final = 512 << 10
_TEXT_CHARS_MAX: Final = 1000
_TURN: Final = threading.Lock()


class NotLoadedError(Exception):
    """Nothing answers: what should cannot be loaded."""


def main() -> None:
    """Serve standard input."""
    answers, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    asked = os.fdopen(os.dup(0), "rb")
    os.dup2(null, 0)
    with suppress(BrokenPipeError, EOFError):
        serve(KINDS[sys.argv[1]], asked, answers)
    if os.getpgrp() == os.getpid():  # else it was started by hand
        os.killpg(0, signal.SIGKILL)
    os._exit(0)  # threads that hang must not keep it


def serve(kind: Kind, asked: IO[bytes], answers: int) -> None:
    """Answer until the input ends: then raise `EOFError`."""
    number, ((site, memory_bytes), *_) = pickle.load(asked)  # noqa: S301 (of api or driver)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    begun = _begun(kind, site)
    encode = (msgspec.json if kind.is_json else msgspec.msgpack).encode
    _say(answers, Said(number))
    collect_garbage()
    threading.stack_size(_STACK_BYTES)
    while True:
        number, asking = pickle.load(asked)  # noqa: S301 (same)
        what = answers, lambda question: encode(begun(question)), number, Asked(*asking)
        if kind.is_serial:
            _answer_each(*what)
        else:
            threading.Thread(target=_answer_each, args=what, daemon=True).start()


def _begun(kind: Kind, site: object) -> Callable[[Any], Any]:
    try:
        return kind.load()(site)
    except Exception as error:  # noqa: BLE001 (a plug-in may raise anything)
        why = str(error) or type(error).__name__

    def answer(_: object) -> None:
        raise NotLoadedError(why)

    return answer


def _answer_each(answers: int, answer: Callable[[Any], bytes], number: int, asked: Asked) -> None:
    """Answer questions until all of the time is spent."""
    left_s = asked.all_s
    for question in asked.questions:
        if asked.all_s and left_s <= 0:
            _say(answers, Said(number))
            return
        begun = _cpu_s()
        if asked.all_s:
            signal.setitimer(signal.ITIMER_PROF, min(asked.one_s, left_s))
        said = _answered(answer, question)
        if asked.all_s:
            signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = _cpu_s() - begun
        left_s -= seconds
        _say(answers, Said(number, seconds, *said))


def _cpu_s() -> float:
    """Return the seconds of CPU so far; a clock lags behind them while a timer runs."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _answered(
    answer: Callable[[Any], bytes], question: object
) -> tuple[bytes | None, Failure | None]:
    """Return the answer, or why there is none."""
    try:
        return answer(question), None
    except NotLoadedError as error:
        failure = Failure(str(error), is_loaded=False)
    except Exception as error:  # noqa: BLE001 (same)
        failure = Failure(f"{type(error).__name__}: {error}"[:_TEXT_CHARS_MAX])
        failure.is_memory = isinstance(error, MemoryError)
        if isinstance(error, WeftError):
            failure.refused = error.code, error.message, error.detail, error.hint, error.errors
    failure.text = failure.text.encode(errors="backslashreplace").decode()
    return None, failure


def _say(answers: int, said: Said) -> None:
    """Send an answer at once."""
    body = msgspec.msgpack.encode(said)
    left = memoryview(LENGTH.pack(len(body)) + body)
    with _TURN:
        while left:
            left = left[os.write(answers, left) :]


if __name__ == "__main__":
    main()
