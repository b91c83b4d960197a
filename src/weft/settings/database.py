"""Settings of the database."""

from weft.settings.declare import section, setting


@section
class DatabaseSettings:
    """Which database a process uses."""

    database: str | None = setting(
        None, "DSN of an external PostgreSQL; none: the embedded one", is_secret=True
    )
