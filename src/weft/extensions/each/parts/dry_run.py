"""`--dry-run`: print the commands of a run."""

import os
import shlex

from weft.cli.terminal.raw_output import STDOUT, write_all
from weft.cli.terminal.screen import line_of, note
from weft.extensions.each.parts.feed import PIECE_JOBS, shown_text
from weft.extensions.each.parts.lines import GivenItems, LineReader
from weft.extensions.each.parts.packing import Pack, Packer
from weft.extensions.each.rules.input_lines import CommandTemplate
from weft.extensions.each.rules.input_words import WordTemplate

FAILED = 1


async def print_commands(
    reader: LineReader | GivenItems,
    packer: Packer,
    template: CommandTemplate | WordTemplate,
    *,
    as_json: bool,
) -> int:
    """Print the command of each job, as a shell takes it; return the exit code."""
    exit_code = 0

    def show(pack: Pack) -> bool:
        """Print one; return whether nothing follows."""
        nonlocal exit_code
        if pack.wrong is not None:
            note(f"line {pack.number}: {shown_text(pack.line)}: {pack.wrong}")
            exit_code = FAILED
            return pack.stops
        command = template.render(pack.values, pack.number)
        if as_json:
            words = [shown_text(word) for word in command]
            line = line_of({"line": shown_text(pack.line), "command": words}).encode()
        else:
            line = os.fsencode(shlex.join(command))
        write_all(STDOUT, line + b"\n")
        return False

    reader.start()
    while items := await reader.take(PIECE_JOBS):
        if any(map(show, packer.feed(items))):
            return exit_code
    any(map(show, packer.finish(is_cut=reader.wrong is not None)))
    if reader.wrong is not None:
        note(f"the input ends early: {reader.wrong}")
        exit_code = FAILED
    return exit_code
