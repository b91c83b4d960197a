"""Errors on standard error: message, detail, hint, in this order."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.cli.terminal.plain import plain
from weft.core.errors import WeftError

if TYPE_CHECKING:
    from cyclopts import CycloptsError

ERRORS_SHOWN = 20


def print_error(error: WeftError, *, as_json: bool = False) -> None:
    """Print an error. `as_json`: as one object, with the names of a problem document."""
    if as_json:
        print(json.dumps(_document(error)), file=sys.stderr)
        return
    print(f"weft: {plain(error.message)}", file=sys.stderr)
    if error.detail and len(error.errors) <= 1:
        print(f"  {plain(error.detail)}", file=sys.stderr)
    if len(error.errors) > 1:
        for one in error.errors[:ERRORS_SHOWN]:
            print(f"  {plain(one.pointer) or '/'}: {plain(one.message)}", file=sys.stderr)
        if len(error.errors) > ERRORS_SHOWN:
            print(f"  … and {len(error.errors) - ERRORS_SHOWN} more", file=sys.stderr)
    if error.hint:
        print("  " + plain(error.hint).replace("\n", "\n  "), file=sys.stderr)
    for note in getattr(error, "__notes__", ()) if error.status >= 500 else ():  # noqa: PLR2004 (server errors)
        print(f"  {plain(note)}", file=sys.stderr)


def print_usage_error(error: "CycloptsError", arguments: Sequence[str]) -> None:
    """Print the mistake in a command line."""
    from weft.cli.terminal.usage import explain_usage  # noqa: PLC0415 (imports cyclopts)

    print(f"weft: {plain(explain_usage(error))}", file=sys.stderr)
    command = " ".join(("weft", *(error.command_chain or ())))
    print(f"  `{command} --help` lists its options.", file=sys.stderr)
    if command in {"weft run", "weft each"} and "--" not in arguments:
        print(
            f"  Put two hyphens before the job's command: `{command} -- CMD`.",
            file=sys.stderr,
        )


def note(text: str) -> None:
    """Print one line for the user on standard error."""
    print(f"weft: {plain(text)}", file=sys.stderr, flush=True)


def _document(error: WeftError) -> dict[str, object]:
    return {
        "code": error.code,
        "status": error.status,
        "title": error.message,
        "detail": error.detail,
        "hint": error.hint,
        "errors": [{"pointer": one.pointer, "message": one.message} for one in error.errors],
    }
