"""`weft transport`: the connections over which queues travel."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from weft.cli.commands import transport_letters
from weft.cli.input.options import LOCAL, SHARED, App, Local, Shared
from weft.cli.input.settings import settings_of
from weft.cli.terminal.incidents import print_findings
from weft.cli.terminal.screen import moment, note, one_line, print_columns, print_facts, print_json
from weft.core.errors import TransportNotFound
from weft.core.text.amounts import duration

app = App(
    name="transport",
    help="Show and test the connections over which queues travel.\n\n    weft transport ls",
)
app.command(transport_letters.app)


@app.command(name="ls")
def list_transports(*, shared: Shared = SHARED) -> None:
    """List the connections of the tenant, and what is under way over each.

    weft transport ls
    """
    found = shared.ask(lambda client: client.list_transports())
    shared.table(found, {
        "Transport": "transport", "Kind": "kind", "State": _state,
        "Offered": lambda row: sum(queue["offered"] for queue in row["queues"]),
        "In flight": lambda row: sum(queue["in_flight"] for queue in row["queues"]),
        "Messages": lambda row: sum(queue["messages"] or 0 for queue in row["queues"]),
        "Letters": "dead_messages",
        "Oldest": lambda row: _age(
            min(filter(None, (queue["oldest_at"] for queue in row["queues"])), default=None)
        ),
        "Queues": lambda row: ", ".join(queue["queue"] for queue in row["queues"]),
    }, right=("Offered", "In flight", "Messages", "Letters", "Oldest"),
        spare=("Queues",),
        empty="there is no transport; the setting transports_file names some")  # fmt: skip


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
        print_columns({
            "Queue": "queue", "Offered": "offered", "Unconfirmed": "unconfirmed",
            "Sent again": "sent_again", "In flight": "in_flight", "Slots": "slots",
            "Messages": lambda row: _count(row["messages"]),
            "Consumers": lambda row: _count(row["consumers"]),
            "Oldest": lambda row: _age(row["oldest_at"]),
        }, found["queues"],
            right=("Offered", "Unconfirmed", "Sent again", "In flight", "Slots", "Messages",
                   "Consumers", "Oldest"))  # fmt: skip


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
