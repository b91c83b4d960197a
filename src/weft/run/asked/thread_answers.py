"""Answers of a process that is asked, each in a thread: who asks bounds their number.

Each line of standard input is a question, each answer a line on standard output. What code prints
while it answers goes nowhere. The process ends when its input does.
"""

import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any, Final

_STACK_BYTES: Final = 512 << 10
Answer = Mapping[str, Any]


def run(serve_: Callable[[IO[str], IO[str]], None]) -> None:
    """Serve, and end with all that was started."""
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    asked = os.fdopen(os.dup(0))
    os.dup2(null, 0)
    serve_(asked, answers)
    if os.getpgrp() == os.getpid():  # else it was started by hand
        os.killpg(0, signal.SIGKILL)
    os._exit(0)  # threads that hang must not keep it


def serve(
    asked: IO[str],
    answers: IO[str],
    begin: Callable[[Any], tuple[Answer, Callable[[Any], Answer]]],
) -> None:
    """Answer until the input ends. `begin`: what the first line asks; returns what answers it, and
    what answers the others.
    """
    first = json.loads(asked.readline())
    said, answer = begin(first["asked"])
    one_at_a_time = threading.Lock()
    threading.stack_size(_STACK_BYTES)

    def say(number: int, found: Answer) -> None:
        line = json.dumps({**found, "id": number})
        with one_at_a_time:
            print(line, file=answers, flush=True)

    say(first["id"], said)
    for line in asked:
        one = json.loads(line)
        threading.Thread(
            target=lambda number, what: say(number, answer(what)),
            args=(one["id"], one["asked"]),
            daemon=True,
        ).start()
