"""`weft block`, `weft progress`, `weft note`: say from within a job what it waits for, how far it
is and what it has found; and `weft notes`, which shows that.
"""

import os
from pathlib import Path
from textwrap import indent

from weft.cli.input.documents import able_to
from weft.cli.input.options import LOCAL, SHARED, Local, Shared, Words, read_option
from weft.cli.terminal.plain import moment, one_line, plain
from weft.cli.terminal.screen import note as say
from weft.cli.terminal.screen import print_json
from weft.client.functions.progress import note as show
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
from weft.core.ids import parse_job_ref
from weft.core.notes import NOTES_VARIABLE, WrongNote
from weft.core.progress_file import WrongProgress
from weft.core.text.amounts import size


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
        raise _outside(BLOCK_FILE_VARIABLE, "block")
    try:
        Path(file).write_bytes(write_ask(ask))
    except OSError as error:
        raise Invalid(
            "the block file cannot be written",
            detail=f"{file}: {error.strerror}.",
            hint="Exit with 75: the job is tried again by the clock.",
        ) from error
    if shared.json:
        print_json(
            {
                "condition": ask.condition,
                "tester": ask.tester,
                "parameters": ask.parameters,
            }
        )
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
        raise _outside("WEFT_JOB", "progress")
    try:
        tell(percent / 100, text)
    except WrongProgress as error:
        raise Invalid(
            "this is not a progress", detail=f"{error}.", hint="Give a number from 0 to 100."
        ) from error
    if shared.json:
        print_json({"percent": percent, "text": text})


def note(file: str = "", /, *, title: str = "", link: str = "", shared: Local = LOCAL) -> None:
    """Inside a job: show a file beside it, or a link: on its page, and to whoever asks for notes.

        weft note report.md
        weft note loss.png --title "Loss by epoch"
        weft note --link https://example.org/run/7 --title "dashboard"

    A note replaces that of the same title; the newest 16 of a job are kept.

    Args:
        file: .md, .txt, .csv (a table) or .png.
        title: Default: the name of the file, or the link.
        link: An address to show instead of a file: http, https or mailto.
    """
    if "WEFT_JOB" not in os.environ:
        raise _outside("WEFT_JOB", "note")
    if bool(file) == bool(link):
        raise Invalid(
            "a note is a file or a link", hint="Name a file, or a link with --link, and not both."
        )
    try:
        with able_to(f"read {file}", "Name a file that you can read."):
            result = show(link, title or link, kind="link") if link else show(file, title)
    except WrongNote as error:
        raise Invalid(
            "this cannot be a note",
            detail=f"{link or file}: {error}.",
            hint="`weft note --help` says what can be.",
        ) from error
    if NOTES_VARIABLE not in os.environ:
        say("jobs like this one cannot show notes: nobody sees it")
    if shared.json:
        print_json({"title": result.title, "kind": result.kind})


async def notes(target: str, /, *, shared: Shared = SHARED) -> int:
    """Show what a job says about itself by `weft note`. Pictures are on its page.

        weft notes b12.j7

    Args:
        target: `b12.j7`.
    """
    batch_id, job_id = parse_job_ref(target)
    async with shared.client() as client:
        rows = await client.list_notes(batch_id, job_id)
    if not shared.as_json(rows):
        for row in rows:
            head = f"{row['title']} ({row['kind']}, {size(row['n_bytes'])})"
            print(f"{one_line(head, width=200)}, {moment(row['told_at'])}")
            print(indent(plain(row["body"] or ""), "  "))
    return 0


def _outside(variable: str, command: str) -> NotInJob:
    return NotInJob(
        "this is not a job of weft",
        detail=f"The variable {variable} is not set.",
        hint=f"Call `weft {command}` in the command of a job.",
    )
