"""`--dry-run`: print the commands of a run."""

import os
import shlex

import msgspec

from weft.cli.each.feed import PIECE_JOBS, shown_text
from weft.cli.each.lines import GivenItems, LineReader
from weft.cli.each.packing import Pack, Packer
from weft.cli.terminal.raw_output import STDOUT, write_all
from weft.cli.terminal.report import note
from weft.core.input_lines import CommandTemplate

FAILED = 1


async def print_commands(
    reader: LineReader | GivenItems, packer: Packer, template: CommandTemplate, *, as_json: bool
) -> int:
    """Print the command of each job, as a shell takes it; return the exit code."""
    exit_code = 0

    def show(pack: Pack) -> None:
        nonlocal exit_code
        if pack.wrong is not None:
            note(f"line {pack.number}: {shown_text(pack.line)}: {pack.wrong}")
            exit_code = FAILED
            return
        command = template.render(pack.values, pack.number)
        if as_json:
            words = [shown_text(word) for word in command]
            line = msgspec.json.encode({"line": shown_text(pack.line), "command": words})
        else:
            line = os.fsencode(shlex.join(command))
        write_all(STDOUT, line + b"\n")

    reader.start()
    while items := await reader.take(PIECE_JOBS):
        for pack in packer.feed(items):
            show(pack)
    for pack in packer.finish():
        show(pack)
    return exit_code
