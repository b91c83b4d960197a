"""Commands that only a shell understands."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

_SHELL: Final = re.compile(r"[|&;<>]|\$\(|`")
"""A pipe, a redirection, a second command, a substitution."""


def shell_hint(command: Sequence[str], how: str) -> str | None:
    """Return what to write instead of a command line in one word; None: it is something else.

    `how`: what stands before the command, as `weft run --`.
    """
    if len(command) != 1:
        return None
    line = command[0]
    if _SHELL.search(line):
        return f"a pipe or `>` needs a shell: `{how} sh -c {shlex.quote(line)}`"
    if len(line.split()) > 1:
        return f"the quotes make it one word; leave them out: `{how} {line}`"
    return None
