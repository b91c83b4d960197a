"""Asks each command that only reads, for people and as JSON; all in this process."""

from collections.abc import Mapping
from typing import Final, Protocol

from weft.cli.app import run_command

_READING: Final = {
    "": """
        app ls, audit, billing, billing rates, billing report, callback secret, condition ls,
        config, db status, db views ls, doctor, failures ls, licence ls, limit ls, line ls, ls,
        minutes, operation ls, pool ls, products, query ls, queue ls, quota ls, schedule ls,
        secret ls, session ls, source ls, store ls, system, tenant ls, token ls, transport
        letters ls, transport ls, user ls, whoami, worker ls""",
    "snow-1.0": "app show",
    "default": """
        billing days, billing project show, pool cost, pool log, pool shares, pool show, queue
        show, tenant show""",
    "{batch}": "callback ls, check-order, dag, failures, groups, jobs, share, timeline",
    "{condition}": "condition show",
    "{job}": "files ls, logs, notes, status, usage, wait, when, why",
    "snow": "lifecycle graph, lifecycle show, line deliveries, line show, source items",
    "2027-01-01": "param diff",
    "cloud_max": "param get, param history",
    "{document}": "queue test",
    "{schedule}": "schedule show",
    "snow x": "series show",
    "--once": "top",
    "--limit 0": "trail",
    "{worker}": "worker show",
}
READING: Final[Mapping[str, str]] = {
    " ".join(words.split()): asked
    for asked, all_of in _READING.items()
    for words in all_of.split(",")
}
"""Commands that only read, and what they are asked for."""
OTHERS: Final = frozenset(
    """
    answer api backup bench block cancel completion delete down driver each exec extend forward
    hail-config hide hold import install login logout message note open progress release rename
    restore resubmit retry run set siege signal simulate submit unhide unshare up worker
    """.split()  # noqa: SIM905 (a word for each command)
) | {
    "billing correct-rates",
    "billing set-rates",
    "callback redeliver",
    "convert dax",
    "db contract",
    "db migrate",
    "export crate",
    "failures ack",
    "operation cancel",
    "pool apply",
    "queue apply",
    "queue drain",
    "queue reroute",
    "session rm",
    "app add",
    "app rm",
    "files cat",
    "files get",
    "transport show",
    "transport test",
    "param set",
    *(
        f"billing project {one}"
        for one in ("close", "create", "delete", "limit", "members", "reopen")
    ),
    *(f"condition {one}" for one in ("fail", "release", "test")),
    *(f"db views {one}" for one in ("add", "rm")),
    *(f"licence {one}" for one in ("rm", "set")),
    *(f"limit {one}" for one in ("set",)),
    *(f"line {one}" for one in ("apply", "decide", "drop", "redeliver", "rm", "set", "test")),
    *(f"transport letters {one}" for one in ("ack", "resend", "rm", "show")),
    *(f"store {one}" for one in ("add", "rm", "show", "test")),
    "series rerun",
    *(f"source {one}" for one in ("pause", "replay", "resume", "test", "why")),
    "products rm",
    *(f"query {one}" for one in ("rm", "save")),
    *(f"quota {one}" for one in ("set",)),
    *(f"schedule {one}" for one in ("add", "pause", "resume", "rm", "run-now")),
    *(f"secret {one}" for one in ("rm", "rotate", "set")),
    *(f"tenant {one}" for one in ("create", "set")),
    *(f"token {one}" for one in ("create", "revoke")),
    *(f"user {one}" for one in ("add", "rm", "role", "weight")),
    *(f"worker {one}" for one in ("cordon", "drain", "invite", "lose", "uncordon")),
}
"""Commands that change something, run something or ask no server."""


class Captured(Protocol):
    """What the fixture `capfdbinary` reads."""

    def readouterr(self) -> tuple[bytes, bytes]: ...


def told_by_commands(
    names: Mapping[str, object], captured: Captured
) -> tuple[dict[str, bytes], Mapping[str, int]]:
    """Return what each command prints, and exit codes of those that did not succeed. `names`:
    what they are asked for, by the word for it.
    """
    told, codes = {}, {}
    captured.readouterr()
    for command, asked in READING.items():
        words = [*command.split(), *asked.format_map(names).split()]
        for form in ([], ["--json"]):
            code = run_command([*words, *form])
            told[" ".join([*words, *form])] = b"".join(captured.readouterr())
            if code:
                codes[command] = code
    return told, codes
