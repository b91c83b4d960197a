"""`weft transport letters`: messages of transports that nobody wants."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from weft.cli.input.options import SHARED, App, Flag, Shared
from weft.cli.terminal.screen import at, moment, one_line, print_facts, text

app = App(
    name="letters",
    help="Show, send again, acknowledge and remove messages that nobody wanted.\n\n"
    "    weft transport letters ls",
)


@app.command(name="ls")
def list_letters(*, acknowledged: Flag = False, shared: Shared = SHARED) -> None:
    """List the messages of transports that nobody wanted, the newest first. Only for
    operators.

        weft transport letters ls

    Args:
        acknowledged: Those that are acknowledged, instead of the others.
    """
    found = shared.ask_all(lambda client: client.list_dead_messages(acknowledged=acknowledged))
    shared.table(found, {
        "Letter": "dead_id", "Transport": "transport", "Source": text("source", 60),
        "Reason": _reason, "Bytes": "n_bytes", "Kept at": at("kept_at"),
        "Error": lambda row: one_line(_said(row), width=80),
    },
        empty="no dead letters; a message of a transport that nobody can read becomes one",
        right=("Letter", "Bytes"), spare=("Error",))  # fmt: skip


@app.command
def show(letter: int, /, *, shared: Shared = SHARED) -> None:
    """Show a message that nobody wanted, with what is kept of it. Only for operators.

        weft transport letters show 3

    Args:
        letter: Its number.
    """
    found = shared.ask(lambda client: client.get_dead_message(letter))
    if shared.as_json(found):
        return
    facts = {
        "letter": str(letter),
        "transport": found["transport"],
        "source": one_line(found["source"], width=500),
        "reason": _reason(found),
    }
    if found["error"]:
        facts["error"] = one_line(found["error"], width=4000)
    if seen := found["acknowledged"]:
        facts["acknowledged"] = one_line(f"by {seen['by']}: {seen['note']}", width=2000)
    facts |= {"kept at": moment(found["kept_at"]), "bytes": f"{found['n_bytes']:,}"}
    body = b64decode(found["body"])
    facts["body"] = one_line(body.decode(errors="backslashreplace"), width=4000)
    print_facts(facts)


@app.command
def resend(letter: int, /, *, shared: Shared = SHARED) -> None:
    """Put a message into its queue again; it is no letter any more when the broker has it. Only
    for operators.

        weft transport letters resend 3

    Args:
        letter: Its number.
    """
    found = shared.ask(lambda client: client.resend_dead_message(letter))
    goes = f"goes to {one_line(found['source'], width=200)} again"
    shared.tell(found, f"letter {letter} {goes}", print)


@app.command(name="rm")
def remove(letter: int, /, *, shared: Shared = SHARED) -> None:
    """Forget a message that nobody wanted. Only for operators.

        weft transport letters rm 3

    Args:
        letter: Its number.
    """
    found = shared.ask(lambda client: client.remove_dead_message(letter))
    shared.tell(found, f"letter {letter} is forgotten", print)


@app.command(name="ack")
def acknowledge(letter: int, /, *, note: str, shared: Shared = SHARED) -> None:
    """Acknowledge a message that nobody wanted: it leaves the list, with a note. Only for
    operators.

        weft transport letters ack 3 --note "its program was too old"

    Args:
        letter: Its number.
        note: What to say of it.
    """
    found = shared.ask(lambda client: client.acknowledge_dead_message(letter, note))
    shared.tell(found, f"letter {letter} acknowledged", print)


def _said(one: Mapping[str, Any]) -> str:
    """Return what a person has said of it, else weft."""
    return str(one["acknowledged"]["note"] if one["acknowledged"] else one["error"] or "")


def _reason(one: Mapping[str, Any]) -> str:
    return f"{one['reason']}, sent again" if one["resend_at"] else str(one["reason"])
