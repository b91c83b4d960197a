"""The setting of every process, clients among them."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings.declare import setting


@dataclass(frozen=True, kw_only=True)
class HomeSettings:
    """Where a process lives."""

    home: Path = setting(None, "directory of the database, the logs and the local token")
