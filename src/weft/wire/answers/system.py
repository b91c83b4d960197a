"""The answers about the whole site."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count

_HIDDEN = "null: the database hides it from weft"
_UNNAMED = "null: a session that does not name its program"
Role = Literal["api", "driver", "worker"]


class Process(Struct, kw_only=True):
    """A process of weft that is connected to the database."""

    role: Role
    version: Annotated[str | None, Meta(description=_UNNAMED)]
    schema: Annotated[int | None, Meta(description="number of the schema that it was made for")]
    host: Annotated[str | None, Meta(description=_UNNAMED)]
    pid: Annotated[int | None, Meta(description=_UNNAMED)]
    n_connections: Count
    leads: Annotated[bool, Meta(description="it is the driver that decides")]
    since: Annotated[datetime | None, Meta(description=f"its oldest connection; {_HIDDEN}")]
    heard_at: Annotated[
        datetime | None,
        Meta(description=f"its last statement: of drivers and workers a heartbeat; {_HIDDEN}"),
    ]


class ProgramCount(Struct, kw_only=True):
    """How many processes of a role and version are connected."""

    role: Role
    version: Annotated[str | None, Meta(description=_UNNAMED)]
    n: Count


class Transaction(Struct, kw_only=True):
    """A transaction that is open."""

    pid: Annotated[int, Meta(description="of the server's process")]
    login: str
    program: Annotated[str, Meta(description="as it names itself")]
    state: str | None
    began_at: datetime


class Table(Struct, kw_only=True):
    """A table of the database, by the statistics of the server."""

    name: str
    bytes: Annotated[int, Meta(ge=0, description="with its indexes")]
    n_rows: Count
    n_dead: Annotated[int, Meta(ge=0, description="rows that nobody sees any more")]
    vacuumed_at: datetime | None


class DatabaseFacts(Struct, kw_only=True):
    """The database."""

    name: str
    server_version: str
    started_at: datetime
    bytes: Count
    n_connections: Annotated[int, Meta(ge=0, description="to the whole server")]
    connections_max: Count
    sees_times: Annotated[bool, Meta(description="weft sees since when sessions do something")]
    longest_transaction: Annotated[
        Transaction | None, Meta(description="null: none is open, or times are hidden")
    ]
    n_tables: Count
    n_dead: Annotated[int, Meta(ge=0, description="dead rows in all tables")]
    tables: Annotated[list[Table], Meta(description="the largest first")]


class BrokenCheck(Struct, kw_only=True):
    """A check of the audit that did not hold."""

    check: str
    sentence: Annotated[str, Meta(description="what should be true")]
    n_rows: Annotated[int, Meta(ge=0, description="that contradict it; at most 100 are counted")]


class LastAudit(Struct, kw_only=True):
    """What the last `weft audit` has found."""

    ended_at: datetime
    took_ms: Count
    version: Annotated[str, Meta(description="of the program that looked")]
    n_checks: Count
    wrong: list[BrokenCheck]


class Parameter(Struct, kw_only=True):
    """A setting in force, as the api that replies has it."""

    name: str
    value: Annotated[str | None, Meta(description="secrets are hidden; null: not set")]
    is_default: bool
    driver_value: Annotated[
        str | None, Meta(description="what the leading driver follows instead; null: the same")
    ]
    help: str


class SystemFinding(Struct, kw_only=True):
    """The result of one check of the site's health."""

    check: str
    verdict: Literal["ok", "warning", "wrong"]
    found: str
    advice: Annotated[str, Meta(description="what to do; empty if there is nothing to do")]


class System(Struct, kw_only=True):
    """What runs for all tenants, and on what."""

    at: Annotated[datetime, Meta(description="when it was looked at")]
    version: Annotated[str, Meta(description="of the api that replies")]
    health: list[SystemFinding]
    processes: Annotated[
        list[Process], Meta(description="at most 50: drivers and apis first, then workers")
    ]
    programs: list[ProgramCount]
    database: DatabaseFacts
    audit: Annotated[LastAudit | None, Meta(description="null: none is recorded")]
    settings: list[Parameter]
