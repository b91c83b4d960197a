"""Settings of the database."""

from dataclasses import dataclass

from weft.settings.declare import setting


@dataclass(frozen=True, kw_only=True)
class DatabaseSettings:
    """Which database a process uses."""

    database: str | None = setting(
        None, "DSN of an external PostgreSQL; none: the embedded one", is_secret=True
    )
