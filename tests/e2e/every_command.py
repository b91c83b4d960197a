"""Asks each command that only reads, for people and as JSON; all in this process."""

from collections.abc import Mapping
from typing import Final, Protocol

from cli.anything import COMMANDS
from weft.cli.app import run_command

READING: Final[Mapping[str, str]] = {
    "app ls": "",
    "app show": "snow-1.0",
    "audit": "",
    "billing": "",
    "billing days": "default",
    "billing project show": "default",
    "billing rates": "",
    "billing report": "",
    "callback ls": "{batch}",
    "callback secret": "",
    "check-order": "{batch}",
    "condition ls": "",
    "condition show": "{condition}",
    "config": "",
    "dag": "{batch}",
    "db status": "",
    "db views ls": "",
    "doctor": "",
    "failures": "{batch}",
    "failures ls": "",
    "files ls": "{job}",
    "groups": "{batch}",
    "jobs": "{batch}",
    "licence ls": "",
    "lifecycle graph": "snow",
    "lifecycle show": "snow",
    "limit ls": "",
    "line deliveries": "snow",
    "line ls": "",
    "line show": "snow",
    "logs": "{job}",
    "ls": "",
    "minutes": "",
    "operation ls": "",
    "param diff": "2027-01-01",
    "param get": "cloud_max",
    "param history": "cloud_max",
    "pool cost": "default",
    "pool log": "default",
    "pool ls": "",
    "pool shares": "default",
    "pool show": "default",
    "products": "",
    "query ls": "",
    "queue ls": "",
    "queue show": "default",
    "queue test": "{document}",
    "quota ls": "",
    "schedule ls": "",
    "schedule show": "{schedule}",
    "secret ls": "",
    "series show": "snow x",
    "session ls": "",
    "share": "{batch}",
    "source items": "snow",
    "source ls": "",
    "status": "{job}",
    "store ls": "",
    "system": "",
    "tenant ls": "",
    "tenant show": "default",
    "timeline": "{batch}",
    "token ls": "",
    "top": "--once",
    "trail": "--limit 0",
    "transport letters ls": "",
    "transport ls": "",
    "usage": "{job}",
    "user ls": "",
    "wait": "{job}",
    "whoami": "",
    "why": "{job}",
    "worker ls": "",
    "worker show": "{worker}",
}
"""Commands that only read, and what they are asked for."""
OTHERS: Final = frozenset(
    """
    api bench block cancel completion delete down driver each extend hail-config hide hold import
    login logout message open release rename resubmit retry run set signal simulate submit unhide
    unshare up worker
    """.split()  # noqa: SIM905 (a word for each command)
) | {
    "billing correct-rates", "billing set-rates", "callback redeliver", "convert dax",
    "db contract", "db migrate", "export crate", "failures ack", "operation cancel",
    "pool apply", "queue apply", "queue drain", "queue reroute", "session rm", "app add",
    "app rm", "files cat", "files get",
    "transport show", "transport test", "param set",
    *(f"billing project {one}" for one in ("close", "create", "delete", "limit", "members",
                                           "reopen")),
    *(f"condition {one}" for one in ("fail", "release", "test")),
    *(f"db views {one}" for one in ("add", "rm")),
    *(f"licence {one}" for one in ("rm", "set")),
    *(f"limit {one}" for one in ("set",)),
    *(f"line {one}" for one in ("apply", "decide", "redeliver", "rm", "set")),
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
    *(f"user {one}" for one in ("add", "rm", "role")),
    *(f"worker {one}" for one in ("cordon", "drain", "lose", "uncordon")),
}  # fmt: skip
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
    assert READING.keys() | OTHERS == {" ".join(one) for one in COMMANDS}
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
