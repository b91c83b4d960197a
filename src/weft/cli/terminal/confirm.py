"""Ask a person at the terminal before something is changed."""

import signal
import sys

from weft.cli.terminal.interrupts import INTERRUPTED
from weft.cli.terminal.report import note
from weft.core.errors import Invalid

REFUSED = 4


class NotConfirmed(Invalid, code="CLI.NOT_CONFIRMED"):
    """Nobody can confirm what cannot be undone."""

    advice = "Add --yes to do it without a question."


def need_person(what: str) -> None:
    """Raise `NotConfirmed` if nobody can be asked."""
    if not sys.stdin.isatty():
        raise NotConfirmed(what, detail="Standard input is not a terminal, so nobody can confirm.")


def ask(question: str, *, otherwise: str) -> int:
    """Ask a yes/no question; return 0 for yes, else the exit code, after saying `otherwise`.

    It blocks the event loop: what the loop makes of Ctrl-C does not end a read from a terminal.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        note(otherwise)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, before)
    if answer.strip().lower() in {"y", "yes"}:
        return 0
    if not answer:  # Ctrl-D leaves the cursor behind the question
        sys.stderr.write("\n")
    note(otherwise)
    return REFUSED
