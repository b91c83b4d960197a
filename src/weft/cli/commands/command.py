"""`weft signal`, `weft message` and `weft extend`: tell a job something."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from weft.cli.input.declared import read_file
from weft.cli.input.options import SHARED, NotUtf8, Shared, read_option
from weft.client.api import Api
from weft.core.ids import parse_job_ref
from weft.core.text.durations import parse_seconds

Answer = Mapping[str, Any]


def signal(target: str, signal: str, /, *, shared: Shared = SHARED) -> int:
    """Send a signal to the first process of a running job.

        weft signal b12.j7 USR1

    Args:
        target: `b12.j7`.
        signal: A name or a number. Not KILL: `weft cancel` ends a job.
    """
    return _tell(
        target,
        shared,
        lambda client, batch_id, job_id: client.signal_job(batch_id, job_id, signal),
        lambda answer: f"{answer['signal']} is on its way",
    )


def message(target: str, text: str, /, *, shared: Shared = SHARED) -> int:
    """Send a text to a running job, which finds it in a new file in `$WEFT_MESSAGES`.

        weft message b12.j7 "stop after this epoch"
        weft message b12.j7 @parameters.json

    Args:
        target: `b12.j7`.
        text: The text; `@FILE`: what the file holds; `@-`: the standard input.
    """
    body = _read_text(text[1:]) if text.startswith("@") else text
    return _tell(
        target,
        shared,
        lambda client, batch_id, job_id: client.message_job(batch_id, job_id, body),
        lambda answer: f"{answer['size_bytes']} bytes are on their way",
    )


def extend(target: str, /, *, by: str, shared: Shared = SHARED) -> int:
    """Give a job more time than its time limit, whether it runs or waits.

        weft extend b12.j7 --by 10m

    Args:
        target: `b12.j7`.
        by: How much more time, as 90, 10m or 1h30m.
    """
    by_s = read_option("--by", by, parse_seconds)
    return _tell(
        target,
        shared,
        lambda client, batch_id, job_id: client.extend_job(batch_id, job_id, by_s=by_s),
        lambda answer: f"each attempt may run for {answer['timeout_s']:g} s",
    )


def _read_text(name: str) -> str:
    body = sys.stdin.buffer.read() if name == "-" else read_file(Path(name))
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8(
            f"{name!r} is not valid UTF-8",
            detail=f"Byte {error.start + 1} is invalid; a message must be text.",
            hint="Send the path of a file that the job can read.",
        ) from error


def _tell(
    text: str,
    shared: Shared,
    ask: Callable[[Api, int, int], Awaitable[Answer]],
    say: Callable[[Answer], str],
) -> int:
    batch_id, job_id = parse_job_ref(text)
    answer = shared.ask(lambda client: ask(client, batch_id, job_id))
    return shared.tell(answer, f"{text}: {say(answer)}")
