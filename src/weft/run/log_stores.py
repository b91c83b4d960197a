"""Which log store a role reads, writes or clears."""

from functools import cache
from pathlib import Path

from weft.ports.log_store import LOG_STORE_PLUGINS, LogStoreParts, LogStoreSite


@cache
def log_store_at(name: str, root: Path) -> LogStoreParts:
    """Return the parts of this log store for a directory. Raise `PluginNotInstalled`."""
    return LOG_STORE_PLUGINS.load(name)(LogStoreSite(root=root))
