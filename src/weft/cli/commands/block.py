"""`weft block`: end a job that cannot go on now, and say what it waits for."""

import os
from pathlib import Path

from weft.cli.input.options import LOCAL, Local, Words, read_option
from weft.cli.terminal.screen import print_json
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
