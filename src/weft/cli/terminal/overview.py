"""The page of `weft --help`. It must import nothing that takes long."""

import sys
from collections.abc import Iterable, Mapping
from typing import Final

from weft.cli.terminal.plain import wrapped

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Run": (
        "run",
        "each",
        "submit",
        "wait",
        "resubmit",
        "schedule",
        "convert",
        "block",
        "app",
        "store",
        "progress",
        "note",
    ),
    "Look": (
        "ls",
        "jobs",
        "groups",
        "status",
        "why",
        "when",
        "logs",
        "failures",
        "usage",
        "files",
        "notes",
        "top",
        "open",
        "minutes",
        "dag",
        "timeline",
        "query",
        "check-order",
        "export",
    ),
    "Act": (
        "cancel",
        "hold",
        "release",
        "retry",
        "rename",
        "set",
        "signal",
        "message",
        "extend",
        "answer",
        "exec",
        "forward",
        "hide",
        "unhide",
        "delete",
        "operation",
        "condition",
        "callback",
    ),
    "Queues and pools": ("queue", "pool", "worker", "licence", "transport", "simulate"),
    "Production lines": ("line", "lifecycle", "source", "series", "param", "products"),
    "People and money": (
        "login",
        "logout",
        "whoami",
        "token",
        "session",
        "share",
        "unshare",
        "secret",
        "user",
        "tenant",
        "billing",
        "limit",
        "quota",
        "trail",
    ),
    "Operate": (
        "up",
        "down",
        "install",
        "doctor",
        "audit",
        "backup",
        "restore",
        "system",
        "config",
        "db",
        "import",
        "bench",
        "api",
        "driver",
        "siege",
        "completion",
    ),
}
"""Which commands stand together. Those of doors, which packages bring, come last."""
OTHERS: Final = "Other systems"

OPTIONS = (
    ("--help, -h", "Show this page; after a command its own."),
    ("--version, -V", "Show the version of weft."),
)


def print_overview(commands: Iterable[tuple[str, str]]) -> None:
    """Print each command with its sentence, in sections."""
    left = dict(commands)
    width = max(len(name) for name in (*left, *(name for name, _ in OPTIONS)))
    print("Usage: weft COMMAND\n")
    print(wrapped("Run jobs: millions of small ones or a few long ones.", sys.stdout, rest=""))
    for title, names in SECTIONS.items():
        _print_rows(title, [(name, left.pop(name)) for name in names if name in left], width)
    _print_rows(OTHERS, left.items(), width)
    _print_rows("Options", OPTIONS, width)


def _print_rows(title: str, rows: Iterable[tuple[str, str]], width: int) -> None:
    for number, (name, sentence) in enumerate(rows):
        if number == 0:
            print(f"\n{title}:")
        first = f"  {name:{width}}  "
        print(wrapped(sentence, sys.stdout, first=first, rest=" " * len(first)))
