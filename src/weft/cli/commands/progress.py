"""`weft progress`: say from within a job how far it is."""

import os

from weft.cli.commands.block import NotInJob
from weft.cli.input.options import LOCAL, Local
from weft.cli.terminal.screen import print_json
from weft.client.functions.progress import progress as tell
from weft.core.errors import Invalid
from weft.core.progress_file import WrongProgress


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
