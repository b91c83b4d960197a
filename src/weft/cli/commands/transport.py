"""`weft transport`: the connections over which queues travel."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from weft.cli.input.options import LOCAL, SHARED, App, Flag, Local, Shared
from weft.cli.input.settings import settings_of
from weft.cli.terminal.incidents import print_findings
from weft.cli.terminal.screen import (
    at,
    moment,
    note,
    one_line,
    print_columns,
    print_facts,
    print_json,
    text,
)
from weft.core.errors import TransportNotFound
from weft.core.text.amounts import duration

letters_app = App(
    name="letters",
    help="Show, send again, acknowledge and remove messages that nobody wanted.\n\n"
    "    weft transport letters ls",
)


@letters_app.command(name="ls")
def list_letters(*, acknowledged: Flag = False, shared: Shared = SHARED) -> None:
    """List the messages of transports that nobody wanted, the newest first. Only for
    operators.

        weft transport letters ls

    Args:
        acknowledged: Those that are acknowledged, instead of the others.
    """
    found = shared.ask_all(lambda client: client.list_dead_messages(acknowledged=acknowledged))
    shared.table(
        found,
        {
            "Letter": "dead_id",
            "Transport": "transport",
            "Source": text("source", 60),
            "Reason": _reason,
            "Bytes": "n_bytes",
            "Kept at": at("kept_at"),
            "Error": lambda row: one_line(_said(row), width=80),
        },
        empty="no dead letters; a message of a transport that nobody can read becomes one",
        right=("Letter", "Bytes"),
        spare=("Error",),
    )


@letters_app.command(name="show")
def show_letter(letter: int, /, *, shared: Shared = SHARED) -> None:
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


@letters_app.command
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


@letters_app.command(name="rm")
def remove(letter: int, /, *, shared: Shared = SHARED) -> None:
    """Forget a message that nobody wanted. Only for operators.

        weft transport letters rm 3

    Args:
        letter: Its number.
    """
    shared.ask(lambda client: client.remove_dead_message(letter))
    shared.tell({"dead_id": letter}, f"letter {letter} is forgotten", print)


@letters_app.command(name="ack")
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


app = App(
    name="transport",
    help="Show and test the connections over which queues travel.\n\n    weft transport ls",
)
app.command(letters_app)


@app.command(name="ls")
def list_transports(*, shared: Shared = SHARED) -> None:
    """List the connections of the tenant, and what is under way over each.

    weft transport ls
    """
    found = shared.ask(lambda client: client.list_transports())
    shared.table(
        found,
        {
            "Transport": "transport",
            "Kind": "kind",
            "State": _state,
            "Offered": lambda row: sum(queue["offered"] for queue in row["queues"]),
            "In flight": lambda row: sum(queue["in_flight"] for queue in row["queues"]),
            "Messages": lambda row: sum(queue["messages"] or 0 for queue in row["queues"]),
            "Letters": "dead_messages",
            "Oldest": lambda row: _age(
                min(filter(None, (queue["oldest_at"] for queue in row["queues"])), default=None)
            ),
            "Queues": lambda row: ", ".join(queue["queue"] for queue in row["queues"]),
        },
        right=("Offered", "In flight", "Messages", "Letters", "Oldest"),
        spare=("Queues",),
        empty="there is no transport; the setting transports_file names some",
    )


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show whether a transport answers, and the queues that travel over it.

        weft transport show rabbit

    Args:
        name: Name of the transport.
    """
    rows = shared.ask(lambda client: client.list_transports())
    found = next((row for row in rows if row["transport"] == name), None)
    if found is None:
        raise TransportNotFound(
            f"transport {name!r} does not exist",
            detail=f"There are: {', '.join(row['transport'] for row in rows) or 'none'}.",
            hint="List them with `weft transport ls`.",
        )
    if shared.as_json(found):
        return
    facts = {"transport": name, "kind": found["kind"], "state": _state(found)}
    if found["error"]:
        facts["error"] = one_line(found["error"], width=500)
    if found["dead_messages"]:
        facts["letters"] = f"{found['dead_messages']:,} (`weft transport letters ls`)"
    if found["looked_at"]:
        facts["looked at"] = moment(found["looked_at"])
    print_facts(facts)
    if found["queues"]:
        print_columns(
            {
                "Queue": "queue",
                "Offered": "offered",
                "Unconfirmed": "unconfirmed",
                "Sent again": "sent_again",
                "In flight": "in_flight",
                "Slots": "slots",
                "Messages": lambda row: _count(row["messages"]),
                "Consumers": lambda row: _count(row["consumers"]),
                "Oldest": lambda row: _age(row["oldest_at"]),
            },
            found["queues"],
            right=(
                "Offered",
                "Unconfirmed",
                "Sent again",
                "In flight",
                "Slots",
                "Messages",
                "Consumers",
                "Oldest",
            ),
        )


@app.command(name="test")
def try_connection(name: str | None = None, /, *, shared: Local = LOCAL) -> int:
    """Try a connection from this machine: reach, password, version and rights; exit code 1 if
    something is wrong.

        weft transport test rabbit

    It reads `transports_file` here, and sends one message over a queue of its own.

    Args:
        name: Name of the transport; without it all are tried.
    """
    from weft.run.transports import check_transports  # noqa: PLC0415 (heavy: the server's side)

    findings = check_transports(settings_of(shared), name)
    if shared.json:
        print_json([asdict(finding) for finding in findings])
    elif findings:
        print_findings(findings)
    else:
        note("there is no transport; the setting transports_file names some")
    return 1 if any(finding.verdict == "wrong" for finding in findings) else 0


def _state(one: Mapping[str, Any]) -> str:
    if one["looked_at"] is None:
        return "not seen yet"
    return "answers" if one["away_since"] is None else f"away since {_age(one['away_since'])}"


def _age(at: str | None) -> str:
    if at is None:
        return ""
    passed = datetime.now(UTC) - datetime.fromisoformat(at)
    return duration(max(0.0, passed.total_seconds()) * 1000)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
