"""The page of `weft --help`. It must import nothing that takes long."""

import sys
from collections.abc import Iterable

from weft.cli.terminal.wrapped import wrapped

OPTIONS = (
    ("--help, -h", "Show this page; after a command its own."),
    ("--version, -V", "Show the version of weft."),
)


def print_overview(commands: Iterable[tuple[str, str]]) -> None:
    """Print each command with its sentence."""
    rows = [*commands, *OPTIONS]
    width = max(len(name) for name, _ in rows)
    print("Usage: weft COMMAND\n")
    print(wrapped("Run jobs: millions of small ones or a few long ones.\n", sys.stdout, rest=""))
    for name, sentence in rows:
        if name == OPTIONS[0][0]:
            print()
        first = f"  {name:{width}}  "
        print(wrapped(sentence, sys.stdout, first=first, rest=" " * len(first)))
