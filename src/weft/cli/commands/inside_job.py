"""`weft block` and `weft progress`: say from within a job what it waits for, and how far it is."""

import os
from pathlib import Path

from weft.cli.input.options import LOCAL, Local, Words, read_option
from weft.cli.terminal.screen import print_json
from weft.client.functions.progress import progress as tell
from weft.core.ends.conditions import (
    ALWAYS,
    BLOCK_FILE_VARIABLE,
    BLOCKS_EXIT_CODE,
    Kind,
    WrongAsk,
    checked_ask,
    write_ask,
)
from weft.core.errors import Invalid
from weft.core.progress_file import WrongProgress


class NotInJob(Invalid, code="CLI.NOT_IN_JOB"):
    """`weft block` outside of a job."""


def block(
    *, condition: Kind = "custom", tester: str = ALWAYS, param: Words = (), shared: Local = LOCAL
) -> int:
    """Inside a job: say what it waits for, and exit with 75. Weft runs the job again when the test
    passes.

        weft block --tester tcp --param host=db.internal --param port=5432

    Jobs that name the same tester and parameters wait together. Call it last, with
    `exec` in front: the job has to exit with 75.

    Args:
        condition: What is missing.
        tester: How to test that it is over: tcp, ssh, http, path, quota, pool, command or one of a
            package; always: try again by the clock alone.
        param: A parameter NAME=VALUE of the tester; may be repeated.
    """
    try:
        ask = checked_ask(
            condition,
            tester,
            dict(read_option("--param", text, parse_parameter) for text in param),
        )
    except WrongAsk as error:
        raise Invalid(
            "the job cannot wait for this",
            detail=f"What it asks for is wrong: {error}.",
            hint="`weft block --help` shows the form of each option.",
        ) from error
    file = os.environ.get(BLOCK_FILE_VARIABLE)
    if not file:
        raise NotInJob(
            "this is not a job of weft",
            detail=f"The variable {BLOCK_FILE_VARIABLE} is not set.",
            hint="Call `weft block` in the command of a job.",
        )
    try:
        Path(file).write_bytes(write_ask(ask))
    except OSError as error:
        raise Invalid(
            "the block file cannot be written",
            detail=f"{file}: {error.strerror}.",
            hint="Exit with 75: the job is tried again by the clock.",
        ) from error
    if shared.json:
        print_json({
            "condition": ask.condition, "tester": ask.tester, "parameters": ask.parameters,
        })  # fmt: skip
    return BLOCKS_EXIT_CODE


def parse_parameter(text: str) -> tuple[str, str]:
    """Read `NAME=VALUE`. Raise `ValueError` for anything else."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"{text[:40]!r} is not NAME=VALUE")
    return name, value


def progress(percent: float, text: str = "", /, *, shared: Local = LOCAL) -> None:
    """Inside a job: say how much of it is done. `weft status b12.j7` shows the newest word.

        weft progress 40 "epoch 4"

    A job that cannot say so where it runs goes on all the same.

    Args:
        percent: From 0 to 100.
        text: What the job is doing.
    """
    if "WEFT_JOB" not in os.environ:
        raise NotInJob(
            "this is not a job of weft",
            detail="The variable WEFT_JOB is not set.",
            hint="Call `weft progress` in the command of a job.",
        )
    try:
        tell(percent / 100, text)
    except WrongProgress as error:
        raise Invalid(
            "this is not a progress", detail=f"{error}.", hint="Give a number from 0 to 100."
        ) from error
    if shared.json:
        print_json({"percent": percent, "text": text})
