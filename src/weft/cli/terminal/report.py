"""Errors on standard error: message, detail, hint, in this order."""

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from weft.cli.terminal.plain import plain, wrapped
from weft.core.errors import WeftError

if TYPE_CHECKING:
    from cyclopts import CycloptsError

ERRORS_SHOWN = 20


def print_error(error: WeftError, *, as_json: bool = False) -> None:
    """Print an error. `as_json`: as one object, with the names of a problem document."""
    if as_json:
        import json  # noqa: PLC0415 (only errors need it)

        print(json.dumps(_document(error)), file=sys.stderr)
        return
    note(error.message)
    if error.detail and len(error.errors) <= 1:
        _go_on(error.detail)
    if len(error.errors) > 1:
        for one in error.errors[:ERRORS_SHOWN]:
            _go_on(f"{one.pointer or '/'}: {one.message}")
        if len(error.errors) > ERRORS_SHOWN:
            _go_on(f"… and {len(error.errors) - ERRORS_SHOWN} more")
    if error.hint:
        _go_on(error.hint)
    for text in getattr(error, "__notes__", ()) if error.status >= 500 else ():  # noqa: PLR2004 (server errors)
        _go_on(text)


def print_usage_error(
    error: "CycloptsError", arguments: Sequence[str], commands: Collection[str]
) -> None:
    """Print the mistake in a command line."""
    from weft.cli.terminal.usage import explain_usage  # noqa: PLC0415 (imports cyclopts)

    told = explain_usage(error, commands)
    note(told)
    command = " ".join(("weft", *(error.command_chain or ())))
    if told in {"TARGET is missing", "BATCH is missing"}:
        system = "; `weft system` shows how weft itself is" if command == "weft status" else ""
        _go_on(f"`weft ls` lists batches{system}.")
    listed = "lists the commands" if command == "weft" else "lists its options"
    _go_on(f"`{command} --help` {listed}.")
    if command in {"weft run", "weft each"} and "--" not in arguments:
        _go_on(f"Put two hyphens before the job's command: `{command} -- CMD`.")


def note(text: str) -> None:
    """Print one sentence for the user on standard error."""
    print(wrapped(plain(text), sys.stderr, first="weft: "), file=sys.stderr, flush=True)


def _go_on(text: str) -> None:
    """Print what belongs to the sentence before."""
    print(wrapped(plain(text), sys.stderr, first="  "), file=sys.stderr, flush=True)


def _document(error: WeftError) -> dict[str, object]:
    return {
        "code": error.code,
        "status": error.status,
        "title": error.message,
        "detail": error.detail,
        "hint": error.hint,
        "errors": [{"pointer": one.pointer, "message": one.message} for one in error.errors],
    }
