"""The setting of every process, clients among them."""

from pathlib import Path

from weft.settings.declare import section, setting


@section
class HomeSettings:
    """Where a process lives."""

    home: Path = setting(None, "directory of the database, the logs and the local token")
