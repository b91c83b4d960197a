"""What somebody has found who looked whether all is well, and whether a site is, judged by its own
document: `GET /v1/system`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from weft.core.text.amounts import duration

Verdict = Literal["ok", "off", "warning", "wrong"]
"""off: nothing is wrong, and something that protects or serves jobs is not there."""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""
    """The suggested repair; empty if all is well."""


Document = Mapping[str, Any]
SKEW_MAX_S: Final = 5.0
CONNECTIONS_HIGH: Final = 0.9
TRANSACTION_LONG: Final = timedelta(minutes=10)
HEARTBEAT_S: Final = 10.0
"""Of a leader that has not handed its settings over."""
SILENT_BEATS: Final = 6
"""A leader is taken for well while it was heard within this number of heartbeats."""
DEAD_ROWS_MANY: Final = 1_000_000
"""Fewer dead rows than that in a table are of no account, whatever part of it they are."""


def compare_clocks(ours: float, theirs: float) -> Finding:
    """Compare this machine's clock with that of the server."""
    skew_s = abs(ours - theirs)
    if skew_s > SKEW_MAX_S:
        text = f"this machine's clock differs by {skew_s:.0f} s from the server's"
        advice = "weft decides nothing by it, but displayed times are off: start an NTP client."
        return Finding("clock", "warning", text, advice)
    return Finding("clock", "ok", "agrees with the server's")


def judge(found: Document) -> list[Finding]:
    """Return one finding of each check."""
    database = found["database"]
    return [
        _driver(found),
        _workers(found["programs"]),
        _versions(found["programs"]),
        _connections(database),
        _transaction(database, datetime.fromisoformat(found["at"])),
        _dead_rows(database["tables"]),
        _audit(found["audit"]),
    ]


def _driver(found: Document) -> Finding:
    drivers = [process for process in found["processes"] if process["role"] == "driver"]
    leading = next((driver for driver in drivers if driver["leads"]), None)
    if leading is None:
        advice = "Start `weft up` or `weft driver`; its log says why it does not lead."
        return Finding("driver", "wrong", "none leads: nothing is added up or settled", advice)
    silent = datetime.fromisoformat(found["at"]) - datetime.fromisoformat(leading["heard_at"])
    most_s = SILENT_BEATS * found["driver_settings"].get("heartbeat_s", HEARTBEAT_S)
    if silent > timedelta(seconds=most_s):
        since = duration(silent / timedelta(milliseconds=1))
        text = f"{_named(leading)} has the lead, and was last heard {since} ago"
        advice = (
            "It hangs, or what it sends is lost on the way. Another driver takes the lead over; "
            "start one, or end this one if it goes on."
        )
        return Finding("driver", "wrong", text, advice)
    n_others = len(drivers) - 1
    others = f", {n_others} more stand{'s' * (n_others == 1)} by" if n_others else ""
    return Finding("driver", "ok", f"{_named(leading)} leads{others}")


def _named(process: Document) -> str:
    if process["pid"] is None:
        return "one that does not say its name"
    return f"process {process['pid']} on {process['host']}"


def _workers(programs: Sequence[Document]) -> Finding:
    count = sum(program["n"] for program in programs if program["role"] == "worker")
    if not count:
        return Finding("workers", "warning", "none is connected", "`weft worker` starts one.")
    return Finding("workers", "ok", f"{count:,} {'is' if count == 1 else 'are'} connected")


def _versions(programs: Sequence[Document]) -> Finding:
    versions = {program["version"] for program in programs}
    known = sorted(version for version in versions if version is not None)
    words = [*known, *(["an unknown one"] if None in versions else [])]
    if len(words) > 1:
        advice = "Replace the older programs; `weft db status` lists them."
        found = f"programs of several versions are connected: {', '.join(words)}"
        return Finding("versions", "warning", found, advice)
    return Finding("versions", "ok", f"all programs have one version: {', '.join(words)}")


def _connections(database: Document) -> Finding:
    count, most = database["n_connections"], database["connections_max"]
    found = f"{count:,} of {most:,} are in use"
    if count >= CONNECTIONS_HIGH * most:
        advice = "Raise `max_connections` of the server, or run fewer programs on it."
        return Finding("connections", "warning", found, advice)
    return Finding("connections", "ok", found)


def _transaction(database: Document, now: datetime) -> Finding:
    longest = database["longest_transaction"]
    if not database["sees_times"]:
        advice = "As a superuser of the database: GRANT pg_read_all_stats TO weft_system;"
        return Finding("transaction", "ok", "since when any is open is hidden from weft", advice)
    if longest is None:
        return Finding("transaction", "ok", "none is open")
    age = now - datetime.fromisoformat(longest["began_at"])
    found = (
        f"the longest is open for {duration(max(age.total_seconds(), 0) * 1000)}, "
        f"by {longest['login']} in process {longest['pid']} of the server"
    )
    if age < TRANSACTION_LONG:
        return Finding("transaction", "ok", found)
    advice = (
        "The server keeps all that was changed since. "
        f"To end it: SELECT pg_terminate_backend({longest['pid']});"
    )
    return Finding("transaction", "warning", found, advice)


def _dead_rows(tables: Sequence[Document]) -> Finding:
    bloated = [table for table in tables if table["n_dead"] > max(table["n_rows"], DEAD_ROWS_MANY)]
    if bloated:
        named = ", ".join(f"{one['name']} ({one['n_dead']:,})" for one in bloated)
        advice = "End what holds them (the longest transaction), or let autovacuum run more often."
        return Finding("dead rows", "warning", f"more are dead than live in {named}", advice)
    return Finding("dead rows", "ok", "in no large table more than live ones")


def _audit(audit: Document | None) -> Finding:
    if audit is None:
        advice = "`weft audit` recomputes all derived data, and keeps its result."
        return Finding("audit", "ok", "none is recorded", advice)
    wrong = audit["wrong"]
    if not wrong:
        return Finding("audit", "ok", f"all {audit['n_checks']} checks held")
    named = ", ".join(one["check"] for one in wrong)
    found = f"{len(wrong)} of {audit['n_checks']} checks did not hold: {named}"
    return Finding("audit", "wrong", found, "`weft audit` shows the rows; please report them.")
