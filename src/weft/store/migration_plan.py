"""What an upgrade would do to a database, read from the text of its steps: nothing is run.

The kind of a statement says which lock it takes on the tables that it names, and whether it reads
or writes them as a whole. A step is one transaction: what it locks stays locked until its end.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from weft.sql import files_of, is_post, text_of, whole_schema
from weft.store.installed_functions import changed_functions, functions_current, obsolete_functions
from weft.store.migrate import FUNCTIONS, checked_migrations, missing_migrations

LOCKS: Final = (
    "ShareUpdateExclusive",
    "RowExclusive",
    "Share",
    "ShareRowExclusive",
    "AccessExclusive",
)
"""As in pg_locks without `Lock`. The first makes no program wait; the second those that write the
same rows, the next two all that write, the last all that read, too.
"""
BLOCKED_S_MAX: Final = 1.0
"""Roles may run while what they need is locked for so long."""
SCANNED, INDEXED, WRITTEN, UPDATED = 250e6, 100e6, 25e6, 8e6
"""How many bytes of a table and its indexes are done in a second."""
STATEMENT_S: Final = 0.002
_WEAK, _ROWS, _SHARE, _TRIGGER, _ALL = LOCKS
_NAME: Final = re.compile(r"weft\w*\.\w+")
_TABLES: Final = r"(weft\w*\.\w+(?:, weft\w*\.\w+)*)"
_ALTER: Final = rf"ALTER TABLE {_TABLES} "
_BUILT: Final = r"(?:GENERATED|UNIQUE|PRIMARY KEY|EXCLUDE|\w*serial\b|DEFAULT (?!now\()[\w.]+\()"
_KINDS: Final = (
    (rf"{_ALTER}ADD (?:CONSTRAINT \w+ )?FOREIGN KEY", _TRIGGER, SCANNED),
    (rf"{_ALTER}(?:ADD .*{_BUILT}|ALTER \w+ (?:SET DATA )?TYPE)", _ALL, WRITTEN),
    (rf"{_ALTER}(?:ADD .*(?:CHECK|REFERENCES)|ALTER \w+ SET NOT NULL)", _ALL, SCANNED),
    (rf"{_ALTER}VALIDATE", _WEAK, SCANNED),
    (rf"{_ALTER}(?:ALTER \w+ )?(?:SET \(|RESET \(|SET STATISTICS)", _WEAK, None),
    (rf"{_ALTER}(?:EN|DIS)ABLE TRIGGER", _TRIGGER, None),
    (rf"{_ALTER}(?:ADD|ALTER|DROP|ENABLE|DISABLE|FORCE|NO FORCE|RENAME|OWNER)", _ALL, None),
    (rf"(?:ALTER INDEX|COMMENT ON(?: TABLE)?) {_TABLES}", _WEAK, None),
    (rf"CREATE (?:UNIQUE )?INDEX .*?ON {_TABLES}", _SHARE, INDEXED),
    (rf"CREATE TRIGGER .*? ON {_TABLES}", _TRIGGER, None),
    (rf"(?:DROP TRIGGER|(?:CREATE|ALTER|DROP) POLICY) .*?ON {_TABLES}", _ALL, None),
    (rf"(?:CREATE OR REPLACE VIEW|ALTER VIEW|DROP (?:VIEW|TABLE|INDEX)) {_TABLES}", _ALL, None),
    (rf"INSERT INTO {_TABLES} .*VALUES", _ROWS, None),
    (r"(?:WITH|INSERT INTO|UPDATE|DELETE FROM) ", _ROWS, UPDATED),
    (r"CREATE (?:UNLOGGED )?(?:TABLE|VIEW)|GRANT|REVOKE|COMMENT", "", None),
    (r"[A-Z]+ (?:OR REPLACE )?(?:SCHEMA|SEQUENCE|TYPE|FUNCTION|DEFAULT)", "", None),
    (r"", None, None),
)
"""The first that fits: the lock on the tables in brackets, or on those that it writes (None: any
lock on any table), and how fast it goes through all that it names (None: at once).
"""
_TOKEN: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|(;)", re.DOTALL)
_NOISE: Final = re.compile(r"\b(?:ONLY|IF EXISTS|IF NOT EXISTS|COLUMN) ")
_ACTION: Final = re.compile(r", (?=(?:ADD|ALTER|DROP|VALIDATE|RESET|SET|ENABLE|DISABLE)\b)")
_WRITES: Final = re.compile(rf"(?:INSERT INTO|UPDATE|DELETE FROM) {_TABLES}")
_REFERENCES: Final = re.compile(rf"REFERENCES {_TABLES}")
_DROPS: Final = re.compile(rf"DROP TABLE|{_ALTER}DROP (?:CONSTRAINT )?(\w+)")


@dataclass(frozen=True)
class PlannedStep:
    """One transaction of an upgrade."""

    name: str
    command: str
    """`migrate` or `contract`."""
    statements: Mapping[str, int]
    """How many there are of each kind."""
    locks: Sequence[Mapping[str, Any]]
    """`table`, `lock`, `n_bytes`, and `n_rows`: about; None: not counted yet."""
    seconds: float
    """About; 0: at once."""
    safe: bool | None
    """Whether roles may run meanwhile; None: there are statements that may do anything."""


async def plan_migration(connection: asyncpg.Connection) -> list[PlannedStep]:
    """Return what `migrate` would do, and `contract` after it. Raises as `migrate`."""
    applied = await checked_migrations(connection)
    missing = missing_migrations(applied) if applied else [whole_schema()]
    texts = [(file.name, "migrate", file.text) for file in missing if not is_post(file)]
    if not (applied and await functions_current(connection)):
        changed = (*await changed_functions(connection), *files_of("views"))
        texts.append((FUNCTIONS, "migrate", "".join(file.text for file in changed)))
    texts += [(file.name, "contract", file.text) for file in missing if is_post(file)]
    if applied and (obsolete := await obsolete_functions(connection)):
        drops = "".join(f"DROP FUNCTION {signature};" for signature in obsolete)
        texts.append(("obsolete functions", "contract", drops))
    tables = {
        row["name"]: row for row in await connection.fetch(text_of("catalog", "table_sizes"))
    }
    return [planned_step(*text, tables) for text in texts]


def planned_step(name: str, command: str, text: str, tables: Mapping[str, Any]) -> PlannedStep:
    """Return what a text would do to these tables: rows of `catalog/table_sizes.sql` by name."""
    kinds, held, seconds, is_known = Counter[str](), dict[str, str](), 0.0, True
    for statement in statements_of(text):
        lock, bytes_s, match = next(
            (lock, bytes_s, match)
            for pattern, lock, bytes_s in _KINDS
            if (match := re.match(pattern, statement))
        )
        kinds[re.split(r",| (?![A-Z])", re.sub(_ALTER, "ALTER TABLE ", statement))[0]] += 1
        is_known = is_known and lock is not None
        for relation, taken in _locks_of(statement, lock, match, tables).items():
            table = tables[relation]["table_name"]
            held[table] = max(taken, held.get(table, taken), key=LOCKS.index)
        seconds += STATEMENT_S
        if bytes_s and not re.search(r"NOT VALID|USING INDEX", statement):
            named = tables.keys() & _NAME.findall(statement)
            seconds += sum(tables[table]["n_bytes"] for table in named) / bytes_s
    blocks = any(lock != _WEAK and table.startswith("weft.") for table, lock in held.items())
    seconds = round(seconds, 1)
    return PlannedStep(
        name,
        command,
        dict(kinds),
        [
            {
                "table": table,
                "lock": held[table],
                "n_rows": tables[table]["n_rows"],
                "n_bytes": tables[table]["n_bytes"],
            }
            for table in sorted(held)
        ],
        seconds,
        (seconds <= BLOCKED_S_MAX or not blocks) if is_known else None,
    )


def statements_of(text: str) -> list[str]:
    """Return the statements, one for each action of an ALTER TABLE, without comments and strings.

    >>> statements_of("ALTER TABLE weft.a ADD COLUMN b int, DROP COLUMN c; -- ;")
    ['ALTER TABLE weft.a ADD b int', 'ALTER TABLE weft.a DROP c']
    """
    ends = _TOKEN.sub(lambda m: "\0" if m[2] else "" if m[0].startswith("--") else "''", text)
    statements: list[str] = []
    for part in ends.split("\0"):
        statement = _NOISE.sub("", " ".join(part.split()))
        altered = re.match(_ALTER, statement)
        head = altered[0] if altered else ""
        actions = _ACTION.split(statement[len(head) :]) if altered else [statement]
        statements += [head + action for action in actions if action]
    return statements


def _locks_of(
    statement: str, lock: str | None, match: re.Match[str], tables: Mapping[str, Any]
) -> Mapping[str, str]:
    """Return the lock on each of the tables and indexes that are there."""
    named = match[1] if match.re.groups else " ".join(_WRITES.findall(statement))
    locks = dict.fromkeys(_REFERENCES.findall(statement), _TRIGGER)
    locks |= dict.fromkeys(_NAME.findall(named) if lock else (), lock)
    if drops := _DROPS.match(statement):
        for table in tables.keys() & _NAME.findall(statement):
            for key in tables[table]["foreign_keys"]:
                if drops[2] is None or re.search(rf"\b{drops[2]}\b.* REFERENCES", key):
                    locks |= dict.fromkeys(_REFERENCES.findall(key), _ALL)
    return {table: taken for table, taken in locks.items() if table in tables}
