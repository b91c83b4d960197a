"""Settings of the database."""

from typing import Annotated

from weft.core.database_name import check_pooler
from weft.settings.declare import Checked, section, setting


@section
class DatabaseSettings:
    """Which database a process uses."""

    database: str | None = setting(
        None, "DSN of an external PostgreSQL; none: the embedded one", is_secret=True
    )
    pooler: Annotated[str, Checked(check_pooler)] | None = setting(
        None,
        "host:port of a pooler in transaction mode through which the roles call the database; "
        "what they must hold, such as the driver's lead and LISTEN, goes to the database itself",
    )
